import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RequestRow, Tree as Model, TreeRow, TreeTime } from "../model/page.gen";
import { get, set } from "../state/url";
import { useRequest } from "./request";
import { RequestLink } from "./verdict";
import { colorOf, Count, Id, Name, Panel, Stacked, step, Time, type Context } from "./parts";
import { Endpoints } from "./where";

const kinds: [keyof TreeTime & `${string}_ns`, string, string][] = [
  ["cpu_ns", "CPU", "on-cpu"], ["lock_ns", "lock", "lock"], ["gc_ns", "GC", "gc"], ["io_ns", "I/O", "disk"], ["remote_ns", "remote", "remote"], ["other_ns", "other", "unknown"],
];

/** The functions beneath which an endpoint's requests spent their time, slow beside ordinary, a request's mean each. */
export function Tree({ c }: { c: Context }) {
  const t: Model | undefined = c.page.trees.find((x) => x.endpoint === get("endpoint")) ?? c.page.trees[0];
  if (get("of") === "request") return <OfRequest c={c} />;
  if (!t) return <Panel title="Call tree"><p>The recording has no stacks.</p></Panel>;
  const set1 = get("of") === "ordinary" ? "ordinary" : "slow";
  const total = t[set1];
  const at = `tree.@${step(t.endpoint)}`;
  return (
    <Panel title="Call tree" aside={<span class="tools"><Endpoints c={c} now={t.endpoint} />
      <fieldset class="choice"><legend class="out">Which requests</legend>
        {(["slow", "ordinary"] as const).map((s) => <button key={s} type="button" aria-pressed={set1 === s} onClick={() => set({ of: s === "slow" ? "" : s })}>{s} requests</button>)}
      </fieldset></span>}>
      <p class="facts">Means of <Count v={total.requests} noun="request" of={`${at}.${set1}.requests`} />; CPU shared out over <Count v={total.samples} noun="sample" of={`${at}.${set1}.samples`} />; waits are exact.</p>
      <Table><Rows c={c} rows={t.rows} depth={0} of={(r) => (r as TreeRow)[set1]} n={Math.max(1, total.requests)} whole={total.total_ns} path="" at={at} time={set1} count={`${at}.${set1}.requests`} /></Table>
    </Panel>
  );
}

/** The call tree of one request. */
function OfRequest({ c }: { c: Context }) {
  const id = Number(get("req") || c.page.report!.endpoints[0]?.slowest_request);
  const { request, wrong } = useRequest(c, id);
  const [, again] = useState(0);
  useEffect(() => { // a served page holds trees of some, and asks for the others
    if (c.page.live && request && !request.tree) c.details.ask(id).then(() => again((n) => n + 1), () => {});
  }, [id, request === undefined]);
  const t = request?.tree;
  return (
    <Panel title={<>Call tree of request {request ? <RequestLink c={c} id={id} /> : <Id id={id} />}</>} aside={<button type="button" onClick={() => set({ of: "" })}>of all requests</button>}>
      {!t && <p>{wrong || (request ? "This file has no tree of this request: dwell view tells of all, where the recording has stacks." : "One moment.")}</p>}
      {t && <p class="facts"><Time v={request.duration_ns} of={`show.${id}.duration_ns`} /> of <Name text={request.endpoint} />, of it <Time v={request.unaccounted_ns} of={`show.${id}.unaccounted_ns`} /> unaccounted; CPU shared out over <Count v={t.samples} noun="sample" of={`requesttree.${id}.samples`} />; waits are exact.</p>}
      {t && <Table><Rows c={c} rows={t.rows} depth={0} of={(r) => (r as RequestRow).time} n={1} whole={request.duration_ns} path="" at={`requesttree.${id}`} time="time" count="1" /></Table>}
    </Panel>
  );
}

const Table = ({ children }: { children: ComponentChildren }) => (
  <div class="scroll" tabIndex={0} role="region" aria-label="table"><table class="calltree">
    <thead><tr><th scope="col">function</th><th scope="col" class="num">total</th><th scope="col"><span class="out">bar</span></th>{kinds.map(([, name]) => <th key={name} scope="col" class="num">{name}</th>)}</tr></thead>
    <tbody>{children}</tbody>
  </table></div>
);

type AnyRow = TreeRow | RequestRow;
type Rest = { c: Context; depth: number; of: (r: AnyRow) => TreeTime; n: number; whole: number; path: string; at: string; time: string; count: string };

function Rows({ rows, ...o }: Rest & { rows: AnyRow[] }) {
  return <>{rows.filter((r) => o.of(r).total_ns > 0).map((r) => <Row key={r.function + r.kind} r={r} {...o} />)}</>;
}

// Rows stand open down to what takes a tenth; a click opens or closes one.
function Row({ r, ...o }: Rest & { r: AnyRow }) {
  const t = o.of(r);
  const path = `${o.path}/${r.name}`;
  const at = `${o.at}.@${step(r.name)}`;
  const turned = get("turned").split("|").filter(Boolean);
  const below = ((r.rows ?? []) as AnyRow[]).filter((b) => o.of(b).total_ns > 0);
  const open = (t.total_ns * 10 > o.whole) !== turned.includes(path);
  const turn = () => set({ turned: (turned.includes(path) ? turned.filter((p) => p !== path) : [...turned, path]).join("|") });
  return (
    <>
      <tr>
        <th scope="row" style={{ paddingLeft: `${8 + Math.min(o.depth, 8) * 14 + Math.max(0, o.depth - 8) * 4}px` }}>
          {below.length > 0 ? <button type="button" class="twist" aria-expanded={open} onClick={turn}><span aria-hidden="true">{open ? "▾" : "▸"}</span><span class="out">calls of </span><Name code text={r.name} /></button> : <span class="leaf"><Name code text={r.name} /></span>}
          {r.file && <small> <Name text={`${r.file.split("/").pop()}${r.line ? ":" + r.line : ""}`} /></small>}
        </th>
        <td class="num"><Time v={Math.round(t.total_ns / o.n)} of={`${at}.${o.time}.total_ns / ${o.count}`} /></td>
        <td class="bars"><Stacked label={r.name} whole={t.total_ns} scale={t.total_ns / o.whole} parts={Object.entries(t.causes).map(([name, value]) => ({ name, value, color: colorOf(o.c, name) }))} /></td>
        {kinds.map(([k]) => <td key={k} class="num">{t[k] > 0 ? <Time v={Math.round((t[k] as number) / o.n)} of={`${at}.${o.time}.${k} / ${o.count}`} /> : ""}</td>)}
      </tr>
      {open && below.length > 0 && <Rows rows={below} {...o} depth={o.depth + 1} path={path} at={at} />}
    </>
  );
}
