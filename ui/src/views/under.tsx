import { useEffect, useState } from "preact/hooks";
import { human, plural } from "../base/format";
import { fetched } from "../model/load";
import type { Under, UnderSet } from "../model/page.gen";
import { RequestLink } from "./verdict";
import { colorOf, Name, Swatch, Time, type Context } from "./parts";

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
  if (!u || !e) return <p class="key">One moment.</p>;
  return (
    <div class="piece">
      <h3>Wherever <Name code text={name} /> was called from</h3>
      <table class="causes"><thead><tr><th scope="col">requests</th><th scope="col" class="num">how many</th><th scope="col" class="num">under it</th><th scope="col" class="num">a request</th><th scope="col" class="num">between</th><th scope="col">causes</th></tr></thead>
        <tbody><Row c={c} name="all" s={e.all} /><Row c={c} name="ordinary" s={e.ordinary} /><Row c={c} name="slow" s={e.slow} /></tbody></table>
      <ul class="list">{(u.requests ?? []).map((r) => (
        <li key={r.id}><RequestLink c={c} id={r.id} /> <Time v={r.under_ns} /> of <Time v={r.total_ns} />, entered {r.entries.length > 1 ? "at least " : ""}{plural(r.entries.length, "time")}
          {r.entries.length > 1 && <small>: {r.entries.slice(0, 12).map((x) => human(x.to_ns - x.from_ns)).join(", ")}{r.entries.length > 12 ? ", ..." : ""}</small>}</li>
      ))}</ul>
    </div>
  );
}

const Row = ({ c, name, s }: { c: Context; name: string; s: UnderSet }) => (
  <tr><th scope="row">{name}</th><td class="num">{s.requests}</td><td class="num"><Time v={s.under_ns} /></td><td class="num">{human(Math.round(s.under_ns / Math.max(1, s.requests)))}</td>
    <td class="num">{human(s.low_ns)} and {human(s.high_ns)}</td>
    <td>{s.causes.slice(0, 4).map((x) => <span key={x.cause + x.quality}><Swatch color={colorOf(c, x.cause)} />{x.cause} <Time v={x.took_ns} /> <small>{x.quality}</small> </span>)}</td></tr>
);
