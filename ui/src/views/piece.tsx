import { plural, spent } from "../base/format";
import type { ShownCall, ShownDone, ShownHolder, ShownSegment, WebRequest } from "../model/page.gen";
import { get, set } from "../state/url";
import { RequestLink } from "./verdict";
import { Code, colorOf, Count, Drawn, Fold, Name, phaseColor, Place, Plain, Share, Stacked, step, Swatch, Time, type Context } from "./parts";

const bases: Record<string, string> = { release: "it woke the next one as it let go", owner: "the mutex names its owner" };
const sure: Record<string, string> = { exact: "measured", sampled: "from samples", inferred: "inferred, not seen" };

/** What is known of the piece of a request that is chosen: the longest, unless one is. */
export function Piece({ c, r }: { c: Context; r: WebRequest }) {
  const call = r.calls.find((x) => String(x.id) === get("call"));
  if (call) return <CallPiece c={c} call={call} path={`show.${r.id}.calls.${r.calls.indexOf(call)}`} />;
  const longest = r.segments.reduce((best, s, i) => (s.to_ns - s.from_ns > r.segments[best].to_ns - r.segments[best].from_ns ? i : best), 0);
  const at = get("seg") === "" ? longest : Number(get("seg"));
  const s = r.segments[at];
  if (!s) return null;
  const path = `show.${r.id}.segments.${at}`;
  return (
    <div class="piece" id="piece" aria-live="polite">
      <header><h3><Swatch color={colorOf(c, s.cause)} />{spent(s.phase, s.cause)} <Time v={s.to_ns - s.from_ns} of={`${path}.to_ns - ${path}.from_ns`} /></h3>
        <small>piece <Drawn>{at + 1}</Drawn> of <Count v={r.segments.length} of={`show.${r.id}.segments.length`} />, {sure[s.quality] ?? s.quality} · <kbd>n</kbd> next <kbd>p</kbd> previous{c.page.live && <> · <button type="button" class="link" onClick={() => set({ view: "threads", at: `+${((r.start_ns - c.page.start_ns + (s.from_ns + s.to_ns) / 2) / 1e9).toFixed(6)}s` }, true)}>all threads at this time</button></>}</small></header>
      <div class="split even">
        <Waiting c={c} r={r} s={s} path={path} />
        <StackOf c={c} r={r} at={at} />
      </div>
    </div>
  );
}

// What certainty means: of calls, then of pieces of time.
const certainty: [string, string, string][] = [
  ["told", "a fact tells", "what was recorded names the request: its thread, its goroutine, its context"],
  ["ordered", "the order tells", "who stands first in a queue or for a connection, or that no other request was there"],
  ["usual", "inferred", "from what usually follows what; it can be wrong"],
  ["exact", "measured", "from when to when, and what for, was recorded"],
  ["sampled", "from samples", "the time is exact in sum, and shared out over samples"],
  ["inferred", "inferred", "from the stack of other waits at the same place, or from what usually follows"],
];

/** By what it is told what a piece was spent on, or whose a call is, and how sure that is. */
function Told({ c, rule, sure, whose }: { c: Context; rule: string; sure: string; whose?: boolean }) {
  const [, words, means] = certainty.find(([k]) => k === sure) ?? ["", sure, ""];
  return (
    <>
      <p>{whose ? "It is this request’s: " : "How that is known: "}<b>{words}</b>. <Name text={sentence(c.page.rules[rule] || "no rule fits what was recorded")} /></p>
      <Fold plain name={whose ? "whose" : "told"} title="what that rests on, and how sure it is">
        <p><b>{words}</b>: {means}. The rule is <code>{rule || "none"}</code>{whose && <>, and <code>dwell show REC --whose CALL</code> tells which other requests it could have been of</>}.</p>
      </Fold>
    </>
  );
}

const sentence = (text: string): string => `${text[0].toUpperCase()}${text.slice(1)}.`;

function Waiting({ c, r, s, path }: { c: Context; r: WebRequest; s: ShownSegment; path: string }) {
  const means = c.page.causes.find((x) => x.name === s.cause)?.means;
  const call = r.calls.find((x) => x.id === s.call);
  return (
    <div>
      <p>{s.strand && <><Name code text={s.strand} />: </>}{means}.</p>
      {call && <p>For call <Plain v={call.id} of={`${path}.call`} /> to <Name text={call.peer} /> <Name text={call.operation} /> (<button type="button" class="link" onClick={() => set({ call: call.id, seg: "" })}>its phases</button>).</p>}
      {call && <Told c={c} rule={call.associated} sure={call.certainty} whose />}
      {s.blocker !== undefined && <p>The thread worked for another request meanwhile: <RequestLink c={c} id={s.blocker} /></p>}
      {s.wait && <p>{s.wait.for ? <>Waits for <Name code text={s.wait.for} />. </> : null}It waited {s.wait.from_ns < 0 ? "from before the request came" : <>from <Time v={s.wait.from_ns} of={`${path}.wait.from_ns`} /></>} to <Time v={s.wait.to_ns} of={`${path}.wait.to_ns`} />.</p>}
      {s.wait && <Told c={c} rule={s.wait.rule} sure={s.quality} />}
      {s.wait?.place && <p>In <Place f={s.wait.place} />{s.wait.place_borrowed && <small> (the place of other waits as deep in the stack)</small>}</p>}
      {s.wait?.holders && s.wait.holders.length > 0 && <h4>Who had it</h4>}
      {together(s.wait?.holders ?? []).map((h, i) => <Holder key={i} c={c} h={h} path={`${path}.held.${step(`${h.strand} ${h.basis}`)}`} />)}
    </div>
  );
}

interface Held {
  strand: string;
  basis: string;
  took: number;
  times: number;
  doing: ShownDone[];
}

const doneAs = (d: ShownDone): string => [d.cause, d.peer, d.for, d.place?.function].join(" ");

/** All that a thread had of it, and did meanwhile, added up. */
function together(list: ShownHolder[]): Held[] {
  const out = new Map<string, Held>();
  for (const h of list) {
    const key = `${h.strand} ${h.basis}`;
    const sum = out.get(key) ?? { strand: h.strand, basis: h.basis, took: 0, times: 0, doing: [] };
    out.set(key, sum);
    sum.took += h.to_ns - h.from_ns;
    sum.times++;
    for (const d of h.doing) {
      const same = sum.doing.find((x) => doneAs(x) === doneAs(d));
      if (same) same.took_ns += d.took_ns;
      else sum.doing.push({ ...d });
    }
  }
  for (const h of out.values()) h.doing.sort((a, b) => b.took_ns - a.took_ns);
  return [...out.values()].sort((a, b) => b.took - a.took);
}

function Holder({ c, h, path }: { c: Context; h: Held; path: string }) {
  const whole = h.doing.reduce((sum, d) => sum + d.took_ns, 0) || 1;
  return (
    <div class={get("hold") === h.strand ? "holder chosen" : "holder"}>
      <p><Name code text={h.strand} /> for <Time v={h.took} of={`${path}.took_ns`} />{h.times > 1 && <small> in <Count v={h.times} of={`${path}.times`} /> spans</small>} <small>({bases[h.basis] ?? h.basis})</small>. Meanwhile it did:</p>
      <Stacked label="what the holder did" whole={whole} parts={h.doing.map((d, i) => ({ name: d.cause + i, value: d.took_ns, color: colorOf(c, d.cause) }))} />
      <ul class="list">{h.doing.slice(0, 6).map((d, i) => (
        <li key={i}><Swatch color={colorOf(c, d.cause)} /><Time v={d.took_ns} of={`${path}.doing.${step(doneAs(d))}`} /> {d.cause}{d.peer && <> for <Name text={d.peer} /></>}{d.for && <> for <Name code text={d.for} /></>}{d.place && <> in <Place f={d.place} /></>}</li>
      ))}</ul>
    </div>
  );
}

function StackOf({ c, r, at }: { c: Context; r: WebRequest; at: number }) {
  const stack = r.stacks.find((s) => s.segment === at);
  if (!stack) return <p class="dim">No stack was seen in this piece.</p>;
  const how = { own: "taken in this very wait", borrowed: "of all waits at its place", sample: "a sample on a processor" }[stack.how] ?? stack.how;
  return (
    <div class="stack"><h4>Stack <small><Drawn>{plural(stack.frames.length, "frame")}</Drawn>, {how}, innermost first</small></h4>
      <ol tabIndex={0} aria-label="stack">{stack.frames.map((id, i) => {
        const f = c.page.frames[id];
        const at = f.file ? `${f.file.split("/").pop()}${f.line ? ":" + f.line : ""}` : (f.module ?? "");
        return <li key={i} class={f.kind === "native" || f.kind === "kernel" ? "dim" : ""}><Name code text={f.name} /> {f.code && f.code.length > 0
          ? <Fold plain="source" name={`code-${i}`} title={<Name text={at} />}><Code f={f} /></Fold> : <small><Name text={at} /></small>}</li>;
      })}</ol>
    </div>
  );
}

function CallPiece({ c, call, path }: { c: Context; call: ShownCall; path: string }) {
  const whole = call.to_ns - call.from_ns || 1;
  const parts = Object.entries(call.phases).filter(([, v]) => v > 0).map(([name, value]) => ({ name, value, color: phaseColor(c, name) }));
  return (
    <div class="piece" id="piece" aria-live="polite">
      <header><h3>call <Plain v={call.id} of={`${path}.id`} /> to <Name text={call.peer} /> <Name text={call.operation} /> <Time v={whole} of={`${path}.to_ns - ${path}.from_ns`} /></h3>
        <small>{call.new_connection ? "on a new connection" : <>exchange <Plain v={call.ordinal + 1} of={`${path}.ordinal + 1`} /> on its connection</>} · status {call.status ? <Plain v={call.status} of={`${path}.status`} /> : "not seen"}</small></header>
      <Stacked label="phases of the call" parts={parts} whole={whole} />
      <ul class="legend flat">{parts.map((p) => <li key={p.name}><Swatch color={p.color} />{p.name} <b><Time v={p.value} of={`${path}.phases.${p.name}`} /></b> <small><Share v={p.value / whole} of={`${path}.phases.${p.name} / ${path}.took_ns`} /></small></li>)}</ul>
      <p>To <Name code text={call.address} />{call.local && <> from <Name code text={call.local} /></>}.</p>
      <Told c={c} rule={call.associated} sure={call.certainty} whose />
    </div>
  );
}
