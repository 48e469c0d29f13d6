import { clock, safe } from "../base/format";
import { timeTicks } from "../layout/axis";
import { prepared } from "./canvas";
import type { Run } from "../model/lanes";
import type { WebLanes, WebPage } from "../model/page.gen";

/** What the lanes of all threads draw. */
export interface LaneScene {
  page: WebPage;
  lanes: WebLanes;
  runs: Run[][];
  from: number; // ns, what is seen of them
  to: number;
  palette: string[];
  ink: string;
  faint: string;
  soft: string;
}

export const laneTall = 15;
export const laneLeft = 200;
export const laneTop = 20;

/** Where a time lies. */
export const laneX = (s: { from: number; to: number }, width: number, ns: number): number => laneLeft + ((ns - s.from) / (s.to - s.from)) * (width - laneLeft - 10);
export const laneTime = (s: { from: number; to: number }, width: number, px: number): number => s.from + ((px - laneLeft) / (width - laneLeft - 10)) * (s.to - s.from);

/** What a thread did nearly all of the time: its like is pale, so that what changes is seen. */
const still = (r: Run, of: WebLanes): boolean => r.to - r.from > of.columns * 0.6;

export function drawLanes(canvas: HTMLCanvasElement, s: LaneScene): void {
  const { g, width, height } = prepared(canvas);
  const step = (s.lanes.to_ns - s.lanes.from_ns) / s.lanes.columns;
  const x = (column: number) => Math.max(laneLeft, Math.min(width - 10, laneX(s, width, s.lanes.from_ns + column * step)));
  for (const t of timeTicks(s.page.wall_ns, s.from, s.to, Math.max(2, Math.floor(width / 150)))) {
    const at = Math.round(laneX(s, width, t)) + 0.5;
    g.strokeStyle = s.faint;
    g.beginPath();
    g.moveTo(at, laneTop - 4);
    g.lineTo(at, height);
    g.stroke();
    g.fillStyle = s.ink;
    g.textAlign = "center";
    if (at > laneLeft + 24 && at < width - 30) g.fillText(clock(s.page.wall_ns, t), at, 12);
  }
  s.lanes.lanes.forEach((l, i) => {
    const y = laneTop + i * laneTall;
    g.fillStyle = s.soft;
    g.fillRect(laneLeft, y + 1, width - laneLeft - 10, laneTall - 3);
    for (const r of s.runs[i]) {
      if (r.cause < 0) continue;
      const [from, to] = [x(r.from), x(r.to)];
      if (to <= from) continue;
      const tall = Math.max(2, (laneTall - 3) * r.share); // as much of it as of the time anything was done
      g.fillStyle = s.palette[r.cause];
      g.globalAlpha = still(r, s.lanes) ? 0.3 : 1;
      g.fillRect(from, y + 1 + (laneTall - 3 - tall), Math.max(0.6, to - from), tall);
    }
    g.globalAlpha = 1;
    g.fillStyle = s.ink;
    g.textAlign = "right";
    const name = safe(l.name);
    g.fillText(name.length > 26 ? name.slice(0, 25) + "…" : name, laneLeft - 8, y + 11);
  });
}
