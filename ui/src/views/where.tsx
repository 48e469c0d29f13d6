import { percent } from "../base/format";
import type { CauseRow } from "../model/page.gen";
import { get, set } from "../state/url";
import { RequestLink } from "./verdict";
import { colorOf, Name, Panel, Share, Stacked, Swatch, Time, type Context } from "./parts";

/** Where the time goes: ordinary requests of an endpoint beside its slow ones, on one scale. */
export function Where({ c }: { c: Context }) {
  const r = c.page.report!;
  const chosen = get("endpoint") || r.findings[0]?.endpoint || [...c.page.endpoints].sort((a, b) => b.total_ns - a.total_ns)[0]?.name;
  const at = Math.max(0, r.endpoints.findIndex((e) => e.name === chosen));
  const e = r.endpoints[at];
  const more = c.page.endpoints[at];
  const rows = [...e.causes];
  const whole = Math.max(more.ordinary_mean_ns, more.slow_mean_ns);
  const parts = (of: "p50_share" | "p99_share") => [
    ...rows.map((x) => ({ name: `${x.phase}, ${x.cause}`, value: x[of], color: colorOf(c, x.cause) })),
    { name: "unaccounted", value: e.unaccounted[of], color: colorOf(c, "unaccounted") },
  ];
  return (
    <Panel title="Where the time goes" aside={<Endpoints c={c} now={e.name} />}>
      <div class="pair">
        <div><b>ordinary</b> <Time v={more.ordinary_mean_ns} /> <small>near p50, such as <RequestLink c={c} id={more.typical} /></small>
          <Stacked label={`ordinary requests of ${e.name}`} parts={parts("p50_share")} whole={1} scale={more.ordinary_mean_ns / whole} /></div>
        <div><b>slow</b> <Time v={more.slow_mean_ns} /> <small>near p99, slowest <RequestLink c={c} id={more.slowest} /></small>
          <Stacked label={`slow requests of ${e.name}`} parts={parts("p99_share")} whole={1} scale={more.slow_mean_ns / whole} /></div>
      </div>
      <table class="causes">
        <thead><tr><th scope="col">phase, cause</th><th scope="col" class="num">ordinary</th><th scope="col" class="num">slow</th></tr></thead>
        <tbody>
          {rows.slice(0, 12).map((x) => <Row key={x.phase + x.cause} c={c} x={x} at={`endpoints.${at}.causes.${e.causes.indexOf(x)}`} />)}
          {rows.length > 12 && <Rest rows={rows.slice(12)} />}
          <tr><th scope="row"><Swatch color={colorOf(c, "unaccounted")} />unaccounted</th>
            <td class="num"><Share v={e.unaccounted.p50_share} of={`endpoints.${at}.unaccounted.p50_share`} /></td>
            <td class="num"><Share v={e.unaccounted.p99_share} of={`endpoints.${at}.unaccounted.p99_share`} /></td></tr>
        </tbody>
      </table>
    </Panel>
  );
}

const Row = ({ c, x, at }: { c: Context; x: CauseRow; at: string }) => (
  <tr><th scope="row"><Swatch color={colorOf(c, x.cause)} />{x.phase}, {x.cause}</th>
    <td class="num"><Share v={x.p50_share} of={`${at}.p50_share`} /></td>
    <td class="num"><Share v={x.p99_share} of={`${at}.p99_share`} /></td></tr>
);

const Rest = ({ rows }: { rows: CauseRow[] }) => (
  <tr class="dim"><th scope="row">{rows.length} smaller</th>
    <td class="num">{percent(rows.reduce((s, x) => s + x.p50_share, 0))}</td>
    <td class="num">{percent(rows.reduce((s, x) => s + x.p99_share, 0))}</td></tr>
);

/** Chooses one endpoint, for the whole page. */
export function Endpoints({ c, now, all }: { c: Context; now: string; all?: boolean }) {
  const list = c.page.endpoints;
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
