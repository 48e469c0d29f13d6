import { useEffect, useState } from "preact/hooks";
import { clock } from "../base/format";
import { fetched } from "../model/load";
import type { Blocker, Dump, DumpThread, Waiters } from "../model/page.gen";
import { get, set } from "../state/url";
import { AllLanes } from "./alllanes";
import { RequestLink } from "./verdict";
import { colorOf, Count, Fold, Name, Panel, Swatch, Time, When, type Context } from "./parts";

const states = ["running", "runnable", "blocked", "waiting", "idle", "unknown"] as const;

/** What every thread did at an instant, and who waited for whom. */
export function Threads({ c }: { c: Context }) {
  const at = get("at");
  const [asked, setAsked] = useState<Dump | null>(null);
  const [wrong, setWrong] = useState("");
  const held = c.page.dumps[Number(get("dump"))] ?? c.page.dumps[0];
  useEffect(() => {
    setWrong("");
    if (!at || !c.page.live) return setAsked(null);
    fetched<Dump>(`threads.json?at=${encodeURIComponent(at)}`).then(setAsked, (e: Error) => setWrong(e.message));
  }, [at]);
  const d = asked ?? held;
  if (!d) return <Panel title="Threads">No instant is told of.</Panel>;
  const path = `threads.${d.at_ns}`;
  return (
    <>
      <Panel title="Threads at an instant" aside={<span class="tools">
        <label class="pick"><span class="out">Instant</span><select value={get("dump") || "0"} onChange={(e) => set({ dump: e.currentTarget.value, at: "" })}>
          {c.page.dumps.map((x, i) => <option key={i} value={i}>{clock(c.page.wall_ns, x.at_ns)} {x.chosen}</option>)}</select></label>
        {c.page.live && <label class="filter">or at <input type="text" size={10} value={at} placeholder="+1.5s" onChange={(e) => set({ at: e.currentTarget.value })} /></label>}
        {wrong && <span role="alert" class="bad">{wrong}</span>}
      </span>}>
        <p class="facts"><When c={c} at={d.at_ns} of={`${path}.at_ns`} />, <Name text={d.chosen} />: <Count v={d.counts.threads} noun="thread" of={`${path}.counts.threads`} /></p>
        <dl class="figures small">{states.map((s) => <div key={s}><dt>{s}</dt><dd><Count v={d.counts[s]} of={`${path}.counts.${s}`} /></dd></div>)}</dl>
        {d.blockers.length > 0 && <><h3>Who waits for whom</h3><ul class="tree">{d.blockers.map((b, i) => <Block key={i} b={b} path={`${path}.blockers.${i}`} />)}</ul></>}
        {d.blockers.length === 0 && <p>No thread waited for another one.</p>}
      </Panel>
      <AllLanes c={c} at={d.at_ns} />
      <Panel title={<Count v={d.threads.length} noun="thread" of={`${path}.threads.length`} />}>
        <div class="scroll" tabIndex={0} role="region" aria-label="table"><table class="threads">
          <thead><tr><th scope="col">thread</th><th scope="col">state</th><th scope="col" class="num">for</th><th scope="col">waits for</th><th scope="col">request</th><th scope="col">where</th></tr></thead>
          <tbody>{d.threads.map((t, i) => <Row key={`${t.pid} ${t.tid} ${t.name}`} c={c} t={t} path={`${path}.threads.${i}`} />)}</tbody>
        </table></div>
      </Panel>
    </>
  );
}

function Block({ b, path }: { b: Blocker; path: string }) {
  return (
    <li><b><Name text={b.name || "unknown"} /></b>{b.tid > 0 && <Name text={` (${b.tid})`} />} keeps <Count v={b.blocks} noun="thread" of={`${path}.blocks`} /> waiting{b.deadlock && <b class="bad"> · deadlock</b>}
      <ul>{b.waiting.map((w, i) => <Wait key={i} w={w} path={`${path}.waiting.${i}`} />)}</ul></li>
  );
}

function Wait({ w, path }: { w: Waiters; path: string }) {
  return (
    <li>for <Name code text={w.for} />: <Count v={w.tids.length} noun="thread" of={`${path}.tids.length`} />, the longest for <Time v={w.longest_ns} of={`${path}.longest_ns`} /> <small><Name text={[...new Set(w.names)].slice(0, 6).join(", ")} /></small>
      {w.behind.length > 0 && <ul>{w.behind.map((b, i) => <Block key={i} b={b} path={`${path}.behind.${i}`} />)}</ul>}
    </li>
  );
}

function Row({ c, t, path }: { c: Context; t: DumpThread; path: string }) {
  const top = t.stack[0];
  const lead = t.stack.find((f) => f.kind !== "native" && f.kind !== "kernel") ?? top;
  return (
    <tr class={t.state === "idle" ? "dim" : ""}>
      <th scope="row"><Name text={t.name} /> <small>{t.tid > 0 && <Name text={String(t.tid)} />}</small></th>
      <td><Swatch color={colorOf(c, t.cause)} />{t.state}{t.state !== t.cause && <small> {t.cause}</small>}</td>
      <td class="num">{t.for_at_least ? "≥ " : ""}<Time v={t.for_ns} of={`${path}.for_ns`} /></td>
      <td>{t.wait?.for && <Name code text={t.wait.for} />}{t.wait?.holder && <small> had by <Name text={`${t.wait.holder.name} (${t.wait.holder.tid})`} /></small>}{t.call && <small><Name text={`${t.call.peer} ${t.call.operation ?? ""}, ${t.call.phase}`} /></small>}</td>
      <td>{t.request !== undefined ? <RequestLink c={c} id={t.request} /> : t.requests ? <Count v={t.requests} noun="request" of={`${path}.requests`} /> : ""}</td>
      <td>{lead ? <Fold plain="frames" name={`stack-${t.tid || path.split(".").pop()}`} title={<Name code text={lead.name} />}><ol>{t.stack.map((f, i) => <li key={i}><Name code text={f.name} /> <small><Name text={f.file ? `${f.file.split("/").pop()}${f.line ? ":" + f.line : ""}` : (f.module ?? "")} /></small></li>)}</ol>
        <small>{{ own: "stack of this very wait", borrowed: "stack of all waits at its place", sample: <>sampled <Time v={Math.abs(t.stack_seen.age_ns)} of={t.stack_seen.age_ns < 0 ? `0 - ${path}.stack_seen.age_ns` : `${path}.stack_seen.age_ns`} /> {t.stack_seen.age_ns < 0 ? "later" : "before"}</>, release: "with which it later lets go" }[t.stack_seen.how] ?? ""}</small></Fold> : <span class="dim">{t.syscall ?? "no stack seen"}</span>}</td>
    </tr>
  );
}
