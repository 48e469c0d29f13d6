import { column } from "../base/column";
import type { WebLane, WebLanes } from "./page.gen";

/** A stretch of columns in which a thread did one thing most. */
export interface Run {
  from: number; // columns
  to: number;
  cause: number; // index of the page's causes, -1 nothing
  share: number; // of the time, at most
}

export function runsOf(l: WebLane): Run[] {
  const n = column(l.data);
  const out: Run[] = [];
  let at = 0;
  for (let i = 0; i < l.runs; i++) {
    const v = n[2 * i + 1];
    out.push({ from: at, to: (at += n[2 * i]), cause: Math.floor(v / 16) - 1, share: v ? ((v % 16) + 1) / 16 : 0 });
  }
  return out;
}

/** Of those lanes that a page holds, the finest that show all of a span. */
export function finest(list: WebLanes[], from: number, to: number): WebLanes | undefined {
  return list.filter((l) => l.from_ns <= from && l.to_ns >= to).sort((a, b) => a.to_ns - a.from_ns - (b.to_ns - b.from_ns))[0];
}
