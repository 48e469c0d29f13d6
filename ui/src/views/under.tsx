import { useEffect, useState } from "preact/hooks";
import { fetched } from "../model/load";
import type { Bracket, Entered, Under, UnderSet } from "../model/page.gen";
import { RequestLink } from "./verdict";
import { colorOf, Count, Name, step, Swatch, Time, type Context } from "./parts";

/** All that is known of the time under one function: as dwell why --under tells it. */
export function Beneath({ c, endpoint, name }: { c: Context; endpoint: string; name: string }) {
  const held = c.page.under.find((x) => x.query === name && x.endpoints[0].name === endpoint) ?? null;
  const [asked, setAsked] = useState<Under | null>(null);
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    setAsked(null);
    setWrong("");
    if (c.page.live) fetched<Under>(`under.json?function=${encodeURIComponent(name)}&endpoint=${encodeURIComponent(endpoint)}`).then(setAsked, (e: Error) => setWrong(e.message));
  }, [name, endpoint]);
  const u = c.page.live ? asked : held;
  if (!u && !c.page.live) return <p class="key">This file tells of the functions with most time how often they were entered, and this is none of them: <code>dwell show REC --under <Name code text={`'${name}'`} /></code> tells.</p>;
  if (wrong) return <p class="key">{wrong}</p>;
  const e = u?.endpoints[0];
  const path = `under.${step(name)}.${step(endpoint)}`;
  if (!u || !e) return <p class="key">One moment.</p>;
  return (
    <div class="piece" id="under">
      <h3>Wherever <Name code text={name} /> was called from</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="time beneath the function"><table class="causes"><thead><tr><th scope="col">requests</th><th scope="col" class="num">how many</th><th scope="col" class="num">under it</th><th scope="col" class="num">a request</th><th scope="col" class="num">between</th><th scope="col">causes</th></tr></thead>
        <tbody>{sets.map((which) => <Row key={which} c={c} name={which} s={e[which]} path={`${path}.endpoints.0.${which}`} />)}</tbody></table></div>
      <h3>How often it was entered, and what that took each time <small>an estimate: from the first to the last stack taken in it, up to those taken outside</small></h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="entries"><table class="causes"><thead><tr><th scope="col">requests</th><th scope="col" class="num">entered at least</th><th scope="col" class="num">by so many</th><th scope="col" class="num">p50</th><th scope="col" class="num">p99</th><th scope="col" class="num">max</th></tr></thead>
        <tbody>{sets.map((which) => <Entries key={which} name={which} e={e[which].entered} path={`${path}.endpoints.0.${which}.entered`} />)}</tbody></table></div>
      <h3>Requests with most of it</h3>
      <ul class="list">{(u.requests ?? []).map((r, i) => (
        <li key={r.id}><RequestLink c={c} id={r.id} /> <Time v={r.under_ns} of={`${path}.requests.${i}.under_ns`} /> of <Time v={r.total_ns} of={`${path}.requests.${i}.total_ns`} />, entered at least <Count v={r.entered.count} noun="time" of={`${path}.requests.${i}.entered.count`} />
          <small>: {r.entries.slice(0, 12).map((x, k) => <>{k > 0 && ", "}<Time v={x.to_ns - x.from_ns} of={`${path}.requests.${i}.entries.${k}.to_ns - ${path}.requests.${i}.entries.${k}.from_ns`} /> to <Time v={x.most_ns} of={`${path}.requests.${i}.entries.${k}.most_ns`} /></>)}{r.entered.count > 12 ? ", ..." : ""}</small></li>
      ))}</ul>
    </div>
  );
}

const sets = ["all", "ordinary", "slow"] as const;

const Entries = ({ name, e, path }: { name: string; e: Entered; path: string }) => (
  <tr><th scope="row">{name}</th><td class="num"><Count v={e.count} noun="time" of={`${path}.count`} /></td><td class="num"><Count v={e.requests} of={`${path}.requests`} /></td>
    {(["p50", "p99", "max"] as const).map((q) => <td key={q} class="num">{e.count > 0 ? <Between b={e[q]} path={`${path}.${q}`} /> : "-"}</td>)}</tr>
);

/** A duration of which only bounds are known. */
const Between = ({ b, path }: { b: Bracket; path: string }) => <><Time v={b.low_ns} of={`${path}.low_ns`} />{b.high_ns > b.low_ns && <> to <Time v={b.high_ns} of={`${path}.high_ns`} /></>}</>;

const Row = ({ c, name, s, path }: { c: Context; name: string; s: UnderSet; path: string }) => (
  <tr><th scope="row">{name}</th><td class="num"><Count v={s.requests} of={`${path}.requests`} /></td><td class="num"><Time v={s.under_ns} of={`${path}.under_ns`} /></td><td class="num">{s.requests > 0 && <Time v={Math.round(s.under_ns / s.requests)} of={`${path}.under_ns / ${path}.requests`} />}</td>
    <td class="num"><Time v={s.low_ns} of={`${path}.low_ns`} /> and <Time v={s.high_ns} of={`${path}.high_ns`} /></td>
    <td>{s.causes.slice(0, 4).map((x, i) => <span key={x.cause + x.quality}><Swatch color={colorOf(c, x.cause)} />{x.cause} <Time v={x.took_ns} of={`${path}.causes.${i}.took_ns`} /> <small>{x.quality}</small> </span>)}</td></tr>
);
