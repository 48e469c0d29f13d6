import { spent } from "../base/format";
import type { CauseRow, Endpoint, Requests } from "../model/page.gen";
import { get, set } from "../state/url";
import { RequestLink } from "./verdict";
import { colorOf, Count, Drawn, Measured, Name, Panel, Share, Stacked, Swatch, Time, type Context } from "./parts";

/** Where the time goes: ordinary requests of an endpoint beside its slow ones, on one scale. */
export function Where({ c }: { c: Context }) {
  const r = c.page.report!;
  const chosen = get("endpoint") || r.findings[0]?.endpoint || [...r.endpoints].sort((a, b) => b.mean_ns * b.count - a.mean_ns * a.count)[0]?.name;
  const at = Math.max(0, r.endpoints.findIndex((e) => e.name === chosen));
  const e = r.endpoints[at];
  const rows = [...e.causes];
  const whole = Math.max(e.ordinary_mean_ns, e.slow_mean_ns);
  const parts = (of: "p50_share" | "p99_share") => [
    ...rows.map((x) => ({ name: spent(x.phase, x.cause), value: x[of], color: colorOf(c, x.cause) })),
    { name: "unaccounted", value: e.unaccounted[of], color: colorOf(c, "unaccounted") },
  ];
  return (
    <Panel title="Where the time goes" aside={<Endpoints c={c} now={e.name} />}>
      <div class="pair">
        <div><b>ordinary</b> <Time v={e.ordinary_mean_ns} of={`endpoints.${at}.ordinary_mean_ns`} /> <small>near p50, such as <RequestLink c={c} id={e.typical_request} /></small>
          <Stacked label={`ordinary requests of ${e.name}`} parts={parts("p50_share")} whole={1} scale={e.ordinary_mean_ns / whole} /></div>
        <div><b>slow</b> <Time v={e.slow_mean_ns} of={`endpoints.${at}.slow_mean_ns`} /> <small>near p99, slowest <RequestLink c={c} id={e.slowest_request} /></small>
          <Stacked label={`slow requests of ${e.name}`} parts={parts("p99_share")} whole={1} scale={e.slow_mean_ns / whole} /></div>
      </div>
      <table class="causes">
        <thead><tr><th scope="col">phase, cause</th><th scope="col" class="num">ordinary</th><th scope="col" class="num">slow</th></tr></thead>
        <tbody>
          {rows.slice(0, 12).map((x) => <Row key={x.phase + x.cause} c={c} x={x} at={`endpoints.${at}.causes.${e.causes.indexOf(x)}`} />)}
          {rows.length > 12 && <Rest rows={rows.slice(12)} at={`endpoints.${at}.causes`} />}
          <tr><th scope="row"><Swatch color={colorOf(c, "unaccounted")} />unaccounted</th>
            <td class="num"><Share v={e.unaccounted.p50_share} of={`endpoints.${at}.unaccounted.p50_share`} /></td>
            <td class="num"><Share v={e.unaccounted.p99_share} of={`endpoints.${at}.unaccounted.p99_share`} /></td></tr>
        </tbody>
      </table>
      <Glossary c={c} rows={rows.slice(0, 12)} />
    </Panel>
  );
}

// What the words of the table mean that do not say it themselves.
function Glossary({ c, rows }: { c: Context; rows: CauseRow[] }) {
  const said = [
    ...c.page.phases.filter((p) => (p.name === "pick-up" || p.name === "unread-request") && rows.some((x) => x.phase === p.name)),
    ...c.page.causes.filter((x) => !x.means.includes(x.name.replaceAll("-", " ")) && rows.some((y) => y.cause === x.name)),
  ];
  if (said.length === 0) return null;
  return <dl class="glossary">{said.map((x) => <div key={x.name}><dt>{x.name}</dt><dd>{x.means}</dd></div>)}</dl>;
}

const Row = ({ c, x, at }: { c: Context; x: CauseRow; at: string }) => (
  <tr><th scope="row"><Swatch color={colorOf(c, x.cause)} />{spent(x.phase, x.cause)}</th>
    <td class="num"><Share v={x.p50_share} of={`${at}.p50_share`} /></td>
    <td class="num"><Share v={x.p99_share} of={`${at}.p99_share`} /></td></tr>
);

function Rest({ rows, at }: { rows: CauseRow[]; at: string }) {
  const sum = (q: "p50_share" | "p99_share") => <Share v={rows.reduce((s, x) => s + x[q], 0)} of={rows.map((_, i) => `${at}.${12 + i}.${q}`).join(" + ")} />;
  return <tr class="dim"><th scope="row"><Drawn>{rows.length}</Drawn> smaller</th><td class="num">{sum("p50_share")}</td><td class="num">{sum("p99_share")}</td></tr>;
}

/** Chooses one endpoint, for the whole page. */
export function Endpoints({ c, now, all }: { c: Context; now: string; all?: boolean }) {
  const list = c.page.report!.endpoints;
  if (list.length < 2) return <span class="where"><Name text={now} /></span>;
  return (
    <label class="pick"><span class="out">Endpoint</span>
      <select value={now} onChange={(e) => set({ endpoint: e.currentTarget.value })}>
        {all && <option value="">all endpoints</option>}
        {list.map((e) => <option key={e.name} value={e.name}>{e.name}</option>)}
      </select>
    </label>
  );
}

/** How many requests were answered with the service's own failure, if it is known of any with what they were answered. */
export function Failed({ t, at }: { t: Requests | Endpoint; at: string }) {
  const list = t.failed ?? [];
  const all = list.reduce((s, a) => s + a.count, 0);
  if (t.status_unknown === t.count) return <span class="dim">not known</span>;
  return all > 0 ? <span class="bad"><Count v={all} of={list.map((_, i) => `${at}.failed.${i}.count`).join(" + ")} /></span> : <>none</>;
}

const told = 8;

/** Where there are several endpoints: how often requests of each come, how many fail, and how long they take. */
export function Traffic({ c }: { c: Context }) {
  const list = c.page.report!.endpoints;
  if (list.length < 2) return null;
  return (
    <Panel title="Endpoints">
      <div class="scroll" tabIndex={0} role="region" aria-label="endpoints"><table>
        <thead><tr><th scope="col">endpoint</th><th scope="col" class="num">requests</th><th scope="col" class="num">a second</th><th scope="col" class="num"><Name text="5xx" /></th><th scope="col" class="num">p50</th><th scope="col" class="num">p99</th></tr></thead>
        <tbody>{list.slice(0, told).map((e, i) => (
          <tr key={e.name}>
            <th scope="row"><button type="button" class="link" onClick={() => set({ endpoint: e.name })}><Name text={e.name} /></button></th>
            <td class="num"><Count v={e.count} of={`endpoints.${i}.count`} /></td>
            <td class="num"><Measured v={e.per_second} unit="per_second" of={`endpoints.${i}.per_second`} /></td>
            <td class="num"><Failed t={e} at={`endpoints.${i}`} /></td>
            <td class="num"><Time v={e.p50_ns} of={`endpoints.${i}.p50_ns`} /></td>
            <td class="num"><Time v={e.p99_ns} of={`endpoints.${i}.p99_ns`} /></td>
          </tr>
        ))}</tbody>
      </table></div>
      {list.length > told && <p class="dim">and <Drawn>{list.length - told}</Drawn> with fewer requests</p>}
    </Panel>
  );
}
