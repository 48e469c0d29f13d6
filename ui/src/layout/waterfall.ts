import { spent } from "../base/format";
import type { Ns, ShownCall, ShownHolder, ShownSegment, WebRequest } from "../model/page.gen";

/** A bar of a waterfall, in time and lane. */
export interface Bar {
  lane: number;
  from: Ns;
  to: Ns;
  kind: "segment" | "phase" | "hold";
  color: string; // name of a cause, of a phase, or of what a holder did most
  label: string;
  segment: number; // index in the request, -1 for none
  call?: ShownCall;
  holder?: ShownHolder;
}

/** A wait and who had what was waited for. */
export interface Arrow {
  segment: number;
  from: { lane: number; at: Ns };
  to: { lane: number; at: Ns };
}

export interface Lane {
  name: string;
  kind: "strand" | "call" | "holder";
}

export interface Waterfall {
  lanes: Lane[];
  bars: Bar[];
  arrows: Arrow[];
}

const phases: (keyof ShownCall["phases"])[] = ["queue", "dns", "connect", "tls", "send", "remote", "pick-up", "receive"];

/** Lays a request out: first the threads that worked for it, then its calls, then who kept it waiting. */
export function waterfall(r: WebRequest): Waterfall {
  const w: Waterfall = { lanes: [], bars: [], arrows: [] };
  const strands = new Map<string, number>();
  const lane = (name: string, kind: Lane["kind"]): number => {
    const key = kind + name;
    let at = strands.get(key);
    if (at === undefined) {
      at = w.lanes.push({ name, kind }) - 1;
      strands.set(key, at);
    }
    return at;
  };
  r.segments.forEach((s, i) => {
    w.bars.push({
      lane: lane(s.strand ?? "not on a thread", "strand"), from: s.from_ns, to: s.to_ns, kind: "segment", color: s.cause,
      label: s.phase === "handler" ? s.cause : spent(s.phase, s.cause), segment: i,
    });
  });
  packed(r.calls).forEach((row, k) => {
    for (const c of row) for (const b of callBars(c, lane(`calls ${k || ""}`.trim(), "call"))) w.bars.push(b);
  });
  const seen = new Set<string>();
  r.segments.forEach((s, i) => holds(r, s, i, (h) => {
    const at = lane(h.strand, "holder");
    const before = w.bars[w.bars.length - 1];
    if (before?.kind === "hold" && before.lane === at && before.segment === i && h.from_ns <= before.to) {
      before.to = Math.max(before.to, h.to_ns); // it goes on having it: one bar, one arrow
      return;
    }
    const key = `${h.strand} ${h.from_ns}`;
    if (!seen.has(key)) {
      seen.add(key);
      const first = h.doing[0];
      const what = first ? `${first.cause}${first.peer ? " " + first.peer : ""}` : "holds it";
      w.bars.push({ lane: at, from: Math.max(0, h.from_ns), to: h.to_ns, kind: "hold", color: first?.cause ?? "unknown", label: what, segment: i, holder: h });
    }
    w.arrows.push({
      segment: i, from: { lane: lane(s.strand ?? "not on a thread", "strand"), at: (Math.max(s.from_ns, h.from_ns) + Math.min(s.to_ns, h.to_ns)) / 2 },
      to: { lane: at, at: (Math.max(s.from_ns, h.from_ns) + Math.min(s.to_ns, h.to_ns)) / 2 },
    });
  }));
  return w;
}

// Each holder is told once for each wait: segments of one wait share it.
function holds(r: WebRequest, s: ShownSegment, i: number, tell: (h: ShownHolder) => void): void {
  for (const h of s.wait?.holders ?? []) {
    if (h.to_ns <= s.from_ns || h.from_ns >= s.to_ns) continue;
    const before = r.segments[i - 1]?.wait;
    if (before && before.from_ns === s.wait!.from_ns && h.from_ns < r.segments[i - 1].to_ns && r.segments[i - 1].to_ns - r.segments[i - 1].from_ns > 0) continue;
    tell(h);
  }
}

// Calls in as few rows as they need not to overlap.
function packed(calls: ShownCall[]): ShownCall[][] {
  const rows: ShownCall[][] = [];
  for (const c of [...calls].sort((a, b) => a.from_ns - b.from_ns)) {
    const row = rows.find((l) => l[l.length - 1].to_ns <= c.from_ns);
    if (row) row.push(c);
    else rows.push([c]);
  }
  return rows;
}

function callBars(c: ShownCall, lane: number): Bar[] {
  let at = c.from_ns;
  const out: Bar[] = [];
  for (const p of phases) {
    const took = c.phases[p];
    if (took > 0) {
      out.push({ lane, from: at, to: at + took, kind: "phase", color: p, label: p === "remote" ? `${c.operation || c.peer}` : p, segment: -1, call: c });
      at += took;
    }
  }
  return out;
}

/** What a request's time was, by cause, the longest first. */
export function byCause(r: WebRequest): [string, Ns][] {
  const sums = new Map<string, number>();
  for (const s of r.segments) sums.set(s.cause, (sums.get(s.cause) ?? 0) + s.to_ns - s.from_ns);
  if (r.unaccounted_ns > 0) sums.set("unaccounted", r.unaccounted_ns);
  return [...sums].sort((a, b) => b[1] - a[1]);
}
