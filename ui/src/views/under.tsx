import { useEffect, useState } from "preact/hooks";
import { fetched } from "../model/load";
import type { Under, UnderSet } from "../model/page.gen";
import { RequestLink } from "./verdict";
import { colorOf, Count, Name, step, Swatch, Time, type Context } from "./parts";

/** All that is known of the time under one function: as dwell why --under tells it. */
export function Beneath({ c, endpoint, name }: { c: Context; endpoint: string; name: string }) {
  const [u, setU] = useState<Under | null>(null);
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    setU(null);
    setWrong("");
    if (c.page.live) fetched<Under>(`under.json?function=${encodeURIComponent(name)}&endpoint=${encodeURIComponent(endpoint)}`).then(setU, (e: Error) => setWrong(e.message));
  }, [name, endpoint]);
  if (!c.page.live) return <p class="key">How often it was entered, and in which requests: <code>dwell why REC --under '{name}'</code>, or dwell view REC.</p>;
  if (wrong) return <p class="key">{wrong}</p>;
  const e = u?.endpoints[0];
  const path = `under.${step(name)}.${step(endpoint)}`;
  if (!u || !e) return <p class="key">One moment.</p>;
  return (
    <div class="piece">
      <h3>Wherever <Name code text={name} /> was called from</h3>
      <table class="causes"><thead><tr><th scope="col">requests</th><th scope="col" class="num">how many</th><th scope="col" class="num">under it</th><th scope="col" class="num">a request</th><th scope="col" class="num">between</th><th scope="col">causes</th></tr></thead>
        <tbody>{(["all", "ordinary", "slow"] as const).map((which) => <Row key={which} c={c} name={which} s={e[which]} path={`${path}.endpoints.0.${which}`} />)}</tbody></table>
      <ul class="list">{(u.requests ?? []).map((r, i) => (
        <li key={r.id}><RequestLink c={c} id={r.id} /> <Time v={r.under_ns} of={`${path}.requests.${i}.under_ns`} /> of <Time v={r.total_ns} of={`${path}.requests.${i}.total_ns`} />, entered {r.entries.length > 1 ? "at least " : ""}<Count v={r.entries.length} noun="time" of={`${path}.requests.${i}.entries.length`} />
          {r.entries.length > 1 && <small>: {r.entries.slice(0, 12).map((x, k) => <>{k > 0 && ", "}<Time v={x.to_ns - x.from_ns} of={`${path}.requests.${i}.entries.${k}.to_ns - ${path}.requests.${i}.entries.${k}.from_ns`} /></>)}{r.entries.length > 12 ? ", ..." : ""}</small>}</li>
      ))}</ul>
    </div>
  );
}

const Row = ({ c, name, s, path }: { c: Context; name: string; s: UnderSet; path: string }) => (
  <tr><th scope="row">{name}</th><td class="num"><Count v={s.requests} of={`${path}.requests`} /></td><td class="num"><Time v={s.under_ns} of={`${path}.under_ns`} /></td><td class="num">{s.requests > 0 && <Time v={Math.round(s.under_ns / s.requests)} of={`${path}.under_ns / ${path}.requests`} />}</td>
    <td class="num"><Time v={s.low_ns} of={`${path}.low_ns`} /> and <Time v={s.high_ns} of={`${path}.high_ns`} /></td>
    <td>{s.causes.slice(0, 4).map((x, i) => <span key={x.cause + x.quality}><Swatch color={colorOf(c, x.cause)} />{x.cause} <Time v={x.took_ns} of={`${path}.causes.${i}.took_ns`} /> <small>{x.quality}</small> </span>)}</td></tr>
);
