import { useEffect, useMemo, useState } from "preact/hooks";
import { thousands } from "../base/format";
import { pointsIn, sharesIn, type Shares } from "../model/load";
import { asked, filterOf, marked } from "../model/filter";
import { fieldsOf } from "../model/known";
import { get, set } from "../state/url";
import { Chart, chosenEndpoint, regionOf, zoomed } from "./chart";
import { Endpoints } from "./where";
import { colorOf, Count, Drawn, Id, Name, Panel, Plain, Share, Stacked, Swatch, Time, When, type Context } from "./parts";

const most = 200; // rows at first
const atOnce = 15; // of them, in one frame

/** Latency over time, what is chosen of it, and its requests one by one. */
export function Requests({ c }: { c: Context }) {
  const region = regionOf("sel");
  const endpoint = chosenEndpoint(c);
  const { keep, wrong } = useFilter(c, get("where"));
  const n = Math.max(most, Number(get("rows")) || 0);
  const { count, slowest } = useMemo(() => pointsIn(c.points, c.cells, { region, endpoint, keep }, n), [get("sel"), endpoint, c.points, keep, n]);
  return (
    <>
      <Panel title="Latency over time" aside={<span class="tools">
        <Endpoints c={c} now={get("endpoint")} all />
        {region && <button type="button" onClick={() => set({ zoom: zoomed(c, region), sel: "" }, true)}>zoom in <kbd>z</kbd></button>}
        {region && c.page.lanes.length > 0 && <button type="button" onClick={() => set({ view: "threads", span: `${region.x0 * c.page.latency!.cells.step_ns}.${Math.min(c.page.span_ns, (region.x1 + 1) * c.page.latency!.cells.step_ns)}` }, true)}>threads meanwhile</button>}
        {get("zoom") && <button type="button" onClick={() => set({ zoom: "" }, true)}>zoom out <kbd>x</kbd></button>}
        {region && <button type="button" onClick={() => set({ sel: "" })}>choose all <kbd>Esc</kbd></button>}
      </span>}><Chart c={c} height={380} /></Panel>
      <div class="split narrow">
        <Chosen c={c} />
        <Panel title={<><Count v={count} noun="request" of="listed.requests" />, the slowest first</>} aside={<Where where={get("where")} wrong={wrong} />}>
          <Table c={c} list={slowest} count={count} />
        </Panel>
      </div>
    </>
  );
}

/** What an expression keeps; none while it is wrong, or being asked for. */
function useFilter(c: Context, text: string): { keep?: Uint8Array; wrong: string } {
  const [answer, setAnswer] = useState<{ of: string; keep?: Uint8Array; wrong: string }>({ of: "", wrong: "" });
  const fields = useMemo(() => fieldsOf(c.page, c.points), [c.page, c.points]);
  const here = useMemo(() => {
    try {
      return { keep: text.trim() ? marked(c.points, filterOf(fields, text)) : undefined, wrong: "" };
    } catch (e) {
      return { wrong: (e as Error).message };
    }
  }, [text, fields]);
  const ask = c.page.live && here.wrong !== "";
  useEffect(() => {
    if (!ask) return;
    const later = setTimeout(() => asked(c.points, text).then((keep) => setAnswer({ of: text, keep: marked(c.points, keep), wrong: "" }), (e: Error) => setAnswer({ of: text, wrong: e.message })), 200);
    return () => clearTimeout(later);
  }, [text, ask]);
  if (!ask) return here;
  return answer.of === text ? answer : { wrong: "" };
}

function Where({ where, wrong }: { where: string; wrong: string }) {
  return (
    <label class="filter">where <input id="where" type="search" value={where} aria-invalid={wrong !== ""} placeholder="duration>50ms and cause=lock" spellcheck={false}
      onInput={(e) => set({ where: e.currentTarget.value })} />
      {wrong && <span role="alert" class="bad">{wrong}</span>}
    </label>
  );
}

function Chosen({ c }: { c: Context }) {
  const region = regionOf("sel");
  const endpoint = chosenEndpoint(c);
  const { inside, rest } = useMemo(() => sharesIn(c.cells, region, endpoint), [get("sel"), endpoint, c.cells]);
  const order = c.page.causes.map((x, i) => ({ name: x.name, i })).filter((x) => inside.took[x.i] + rest.took[x.i] > 0)
    .sort((a, b) => inside.took[b.i] - inside.took[a.i]);
  const parts = (s: Shares) => order.map((x) => ({ name: x.name, value: s.took[x.i], color: colorOf(c, x.name) }));
  const mean = (s: Shares, of: string) => (s.requests ? <Time v={Math.round(s.total / s.requests)} of={`${of}.total_ns / ${of}.requests`} /> : "none");
  const share = (s: Shares, i: number, of: string) => (s.total ? <Share v={s.took[i] / s.total} of={`${of}.by.${c.page.causes[i].name} / ${of}.total_ns`} /> : "-");
  return (
    <Panel title={region ? "What was chosen, beside the rest" : "All requests"}>
      <div class="pair" id="chosen">
        <div><b>{region ? "chosen" : "all"}</b> <span id="chosen-count"><Count v={inside.requests} of="chosen.requests" /></span> <small>mean {mean(inside, "chosen")}</small>
          <Stacked label="causes of what was chosen" parts={parts(inside)} whole={inside.total || 1} /></div>
        {region && <div><b>the rest</b> <Count v={rest.requests} of="rest.requests" /> <small>mean {mean(rest, "rest")}</small>
          <Stacked label="causes of the rest" parts={parts(rest)} whole={rest.total || 1} /></div>}
      </div>
      <table class="causes">
        <thead><tr><th scope="col">cause</th><th scope="col" class="num">{region ? "chosen" : "all"}</th>{region && <th scope="col" class="num">the rest</th>}</tr></thead>
        <tbody>{order.map((x) => (
          <tr key={x.name}><th scope="row"><Swatch color={colorOf(c, x.name)} />{x.name}</th>
            <td class="num">{share(inside, x.i, "chosen")}</td>{region && <td class="num">{share(rest, x.i, "rest")}</td>}</tr>
        ))}</tbody>
      </table>
    </Panel>
  );
}

/** How many rows of a list are drawn: some at once, more with each frame, so that none of them takes long. */
function useGrown(list: number[]): number {
  const [now, set] = useState({ list, rows: atOnce });
  const rows = now.list === list ? now.rows : atOnce;
  useEffect(() => {
    if (rows >= list.length) return;
    const next = requestAnimationFrame(() => set({ list, rows: rows + atOnce }));
    return () => cancelAnimationFrame(next);
  }, [list, rows]);
  return Math.min(rows, list.length);
}

function Table({ c, list, count }: { c: Context; list: number[]; count: number }) {
  const rows = useGrown(list);
  const p = c.points;
  const longest = list.length ? p.duration[list[0]] : 1;
  const open = (id: number) => set({ view: "request", req: id, seg: "" }, true);
  if (count === 0) return <p class="facts">No request is chosen{get("where") ? " by this expression" : ""}.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="table" aria-busy={rows < list.length}>
      <table class="requests">
        <thead><tr><th scope="col">request</th><th scope="col" class="num">duration</th><th scope="col"><span class="out">bar</span></th><th scope="col">endpoint</th><th scope="col">most of it</th><th scope="col">began</th><th scope="col" class="num">status</th><th scope="col">process</th></tr></thead>
        <tbody>{list.slice(0, rows).map((i) => {
          const cause = c.page.causes[p.cause[i]].name;
          const g = c.page.report!.processes[p.generation[i]];
          const told = c.details.has(p.id[i]);
          return (
            <tr key={p.id[i]} class={told ? "told" : "dim"} onClick={told ? () => open(p.id[i]) : undefined}>
              <th scope="row">{told ? <button type="button" class="link"><Id id={p.id[i]} /></button> : <span title="This file tells of some requests in full; dwell view tells of all"><Id id={p.id[i]} /></span>}</th>
              <td class="num"><Time v={p.duration[i]} of={`show.${p.id[i]}.duration_ns`} /></td>
              <td class="bars"><span class="bar" style={{ width: `${(p.duration[i] / longest) * 100}%`, background: colorOf(c, cause) }} /></td>
              <td><Name text={c.page.latency!.endpoints[p.endpoint[i]]} /></td>
              <td><Swatch color={colorOf(c, cause)} />{cause}</td>
              <td><When c={c} at={p.start[i]} of={`show.${p.id[i]}.began_ns`} /></td>
              <td class={p.status[i] >= 500 ? "num bad" : "num"}>{p.status[i] ? <Plain v={p.status[i]} of={`show.${p.id[i]}.status`} /> : "-"}</td>
              <td><Name text={`${g.name} ${g.pid}`} /></td>
            </tr>
          );
        })}</tbody>
      </table>
      {count > list.length && <button type="button" onClick={() => set({ rows: list.length + 500 })}>more of the <Drawn>{thousands(count - list.length)}</Drawn> others</button>}
    </div>
  );
}

