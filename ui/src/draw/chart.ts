import { clock, human, safe, shortBuild, thousands } from "../base/format";
import { rgb } from "../base/color";
import { logAt, logTicks, timeTicks } from "../layout/axis";
import { after, rowFrom, unrecorded, type Points, type Region } from "../model/load";
import type { SLO, WebLines, WebPage } from "../model/page.gen";
import { prepared } from "./canvas";

/** What the latency chart draws; the only place that touches a canvas. */
export interface Scene {
  page: WebPage;
  points: Points;
  endpoint: number; // that alone, -1 all
  of: Uint32Array; // index of the palette, for each request
  palette: string[];
  domain: Region; // in cells
  ink: string;
  faint: string;
  ground: string;
  lines: WebLines | undefined; // of what is shown; undefined: they are not known
  colors: Record<"p50" | "p99" | "max", string>;
  slos: SLO[]; // latencies that were promised
  bad: string;
}

export const margin = { left: 62, right: 14, top: 18, bottom: 74, arrivals: 34 };

/** Where times and durations lie on a chart of a size. */
export class Scale {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  constructor(public width: number, public height: number, d: Region, public step: number) {
    this.x0 = d.x0 * step;
    this.x1 = (d.x1 + 1) * step;
    this.y0 = rowFrom(Math.max(8, d.y0));
    this.y1 = rowFrom(Math.max(8, d.y1) + 1);
  }
  get bottom(): number {
    return this.height - margin.bottom;
  }
  x(ns: number): number {
    return margin.left + ((ns - this.x0) / (this.x1 - this.x0)) * (this.width - margin.left - margin.right);
  }
  y(ns: number): number {
    return this.bottom - logAt(ns, this.y0, this.y1) * (this.bottom - margin.top);
  }
  timeAt(px: number): number {
    return this.x0 + ((px - margin.left) / (this.width - margin.left - margin.right)) * (this.x1 - this.x0);
  }
  durationAt(px: number): number {
    return this.y0 * Math.exp(((this.bottom - px) / (this.bottom - margin.top)) * Math.log(this.y1 / this.y0));
  }
}

/** Draws a chart. What it gives back draws more requests, where there are more than one frame has time for, and reports whether it did. */
export function draw(canvas: HTMLCanvasElement, s: Scene): () => boolean {
  const scale = new Scale(canvas.clientWidth, canvas.clientHeight, s.domain, s.page.latency!.cells.step_ns);
  const layer = s.points.count > 30000 ? new Grains(s, scale) : undefined;
  const paint = () => {
    const { g, ratio, width, height } = prepared(canvas);
    axes(g, s, scale);
    g.save();
    g.beginPath();
    g.rect(margin.left, 0, width - margin.left - margin.right, height);
    g.clip();
    shades(g, s, scale);
    if (layer) layer.draw(g, ratio);
    else dots(g, s, scale);
    quantiles(g, s, scale);
    promises(g, s, scale);
    births(g, s, scale);
    g.restore();
    arrivals(g, s, scale);
  };
  paint();
  return () => {
    if (!layer?.left()) return false;
    paint();
    return true;
  };
}

function axes(g: CanvasRenderingContext2D, s: Scene, k: Scale): void {
  g.lineWidth = 1;
  for (const v of logTicks(k.y0, k.y1)) {
    const y = Math.round(k.y(v)) + 0.5;
    g.strokeStyle = s.faint;
    g.beginPath();
    g.moveTo(margin.left, y);
    g.lineTo(k.width - margin.right, y);
    g.stroke();
    g.fillStyle = s.ink;
    g.textAlign = "right";
    g.fillText(human(v).replace(/\.00 | /, " ").replace(/\.0+ /, " "), margin.left - 8, y + 4);
  }
  g.textAlign = "center";
  const digits = k.x1 - k.x0 < 20e9 ? 1 : 0;
  const fine = k.x1 - k.x0 < 2e9 ? 3 : digits;
  for (const v of timeTicks(s.page.wall_ns, k.x0, k.x1, Math.max(2, Math.floor(k.width / 130)))) {
    const x = k.x(v);
    if (x < margin.left + 24 || x > k.width - margin.right - 20) continue;
    g.strokeStyle = s.faint;
    g.beginPath();
    g.moveTo(Math.round(x) + 0.5, margin.top);
    g.lineTo(Math.round(x) + 0.5, k.height - 20);
    g.stroke();
    g.fillStyle = s.ink;
    g.fillText(clock(s.page.wall_ns, v, fine), x, k.height - 6);
  }
}

// What was not recorded, and what was lost.
function shades(g: CanvasRenderingContext2D, s: Scene, k: Scale): void {
  const l = s.page.latency!;
  g.fillStyle = s.faint;
  for (const x of unrecorded(s.page)) g.fillRect(k.x(x.from_ns), margin.top, k.x(x.to_ns) - k.x(x.from_ns), k.bottom - margin.top);
  g.fillStyle = "rgba(213, 62, 62, .16)";
  for (const x of l.losses) g.fillRect(k.x(x.from_ns), margin.top, Math.max(2, k.x(x.to_ns) - k.x(x.from_ns)), k.bottom - margin.top);
}

/** From when to when a promise was asked about; one without "per" in all of the recording. */
const spanOf = (p: SLO, i: number, whole: number): [number, number] => [p.windows[i].from_ns, p.per_ns ? Math.min(whole, p.windows[i].from_ns + p.per_ns) : whole];

// What was promised: a line; the spans in which it was broken, shaded above it, with the quantile that broke it.
function promises(g: CanvasRenderingContext2D, s: Scene, k: Scale): void {
  g.strokeStyle = g.fillStyle = s.bad;
  for (const p of s.slos) {
    const y = k.y(p.bound_ns);
    p.windows.forEach((w, i) => {
      if (w.met) return;
      const [from, to] = spanOf(p, i, s.page.span_ns).map((t) => k.x(t));
      g.globalAlpha = 0.11;
      g.fillRect(from, margin.top, Math.max(1, to - from - 1), Math.max(0, Math.min(y, k.bottom) - margin.top));
      g.globalAlpha = 1;
      g.fillRect(from, k.y(w.value_ns) - 1, Math.max(2, to - from - 1), 2);
    });
    g.lineWidth = 1.25;
    g.setLineDash([7, 4]);
    g.beginPath();
    g.moveTo(margin.left, y);
    g.lineTo(k.width - margin.right, y);
    g.stroke();
    g.setLineDash([]);
    g.textAlign = "left";
    halo(g, s, safe(p.text), margin.left + 6, y - 4);
  }
}

// Text that is read on whatever lies beneath it.
function halo(g: CanvasRenderingContext2D, s: Scene, text: string, x: number, y: number): void {
  const ink = g.strokeStyle;
  g.strokeStyle = s.ground;
  g.lineWidth = 3;
  g.strokeText(text, x, y);
  g.strokeStyle = ink;
  g.lineWidth = 1;
  g.fillText(text, x, y);
}

function dots(g: CanvasRenderingContext2D, s: Scene, k: Scale): void {
  const n = s.points.count;
  const radius = n < 400 ? 3.4 : n < 4000 ? 2.5 : 1.6;
  g.globalAlpha = n < 4000 ? 0.82 : 0.6;
  for (let i = after(s.points, k.x0); i < n && s.points.start[i] <= k.x1; i++) {
    if (s.endpoint >= 0 && s.points.endpoint[i] !== s.endpoint) continue;
    g.fillStyle = s.palette[s.of[i]];
    g.beginPath();
    g.arc(k.x(s.points.start[i]), k.y(s.points.duration[i]), radius, 0, 7);
    g.fill();
  }
  g.globalAlpha = 1;
}

const perFrame = 150000; // requests that are drawn at once

// Many requests as grains of a pixel, denser where there are more. Each time it is drawn more of them are on it: of
// n turns the first shows each nth, so that a chart that is moved has the same look at once, and its details when it rests.
class Grains {
  private turn = 0;
  private turns: number;
  private first: number;
  private last: number;
  private wide: number;
  private tall: number;
  private pixels: Uint32Array; // opacity, blue, green, red
  private colors: Uint32Array;
  constructor(private s: Scene, private k: Scale) {
    [this.first, this.last] = [after(s.points, k.x0), after(s.points, k.x1)];
    this.turns = Math.max(1, Math.ceil((this.last - this.first) / perFrame));
    [this.wide, this.tall] = [Math.ceil(k.width - margin.left - margin.right), Math.ceil(k.bottom - margin.top)];
    this.pixels = new Uint32Array(this.wide * this.tall);
    this.colors = Uint32Array.from(s.palette.map(rgb), ([red, green, blue]) => (blue << 16) | (green << 8) | red);
  }
  left(): boolean {
    return this.turn < this.turns;
  }
  draw(g: CanvasRenderingContext2D, ratio: number): void {
    if (this.left()) this.add(this.turn++);
    const layer = new OffscreenCanvas(this.wide, this.tall);
    layer.getContext("2d")!.putImageData(new ImageData(new Uint8ClampedArray(this.pixels.buffer as ArrayBuffer), this.wide, this.tall), 0, 0);
    g.imageSmoothingEnabled = ratio > 1;
    g.drawImage(layer, margin.left, margin.top);
  }
  private add(turn: number): void {
    const { wide: w, tall: h, pixels, colors, last, turns } = this;
    const { of, endpoint: only, points: { start, log, endpoint } } = this.s;
    const { x0, x1, y0, y1 } = this.k;
    const [across, up, least] = [w / (x1 - x0), h / Math.log(y1 / y0), Math.log(y0)];
    for (let i = this.first + turn; i < last; i += turns) {
      if (only >= 0 && endpoint[i] !== only) continue;
      const y = h - 1 - Math.floor((log[i] - least) * up);
      if (y < 0 || y >= h) continue;
      const at = y * w + Math.floor((start[i] - x0) * across);
      const before = pixels[at] >>> 24;
      pixels[at] = colors[of[i]] | ((before === 0 ? 100 : before > 225 ? 255 : before + 30) << 24);
    }
  }
}

function quantiles(g: CanvasRenderingContext2D, s: Scene, k: Scale): void {
  const l = s.lines;
  if (!l) return;
  const of = { p50: l.p50_ns, p99: l.p99_ns, max: l.max_ns };
  for (const name of ["max", "p99", "p50"] as const) {
    g.strokeStyle = s.colors[name];
    g.lineWidth = name === "p50" ? 2 : 1.25;
    g.setLineDash(name === "max" ? [3, 3] : []);
    g.beginPath();
    let pen = false;
    for (let i = 0; i < l.count.length; i++) {
      if (l.count[i] === 0) continue;
      const [x, y] = [k.x((i + 0.5) * l.step_ns), k.y(of[name][i])];
      if (pen) g.lineTo(x, y);
      else g.moveTo(x, y);
      pen = true;
    }
    g.stroke();
    g.setLineDash([]);
  }
}

// When programs that served requests began.
function births(g: CanvasRenderingContext2D, s: Scene, k: Scale): void {
  g.fillStyle = g.strokeStyle = s.ink;
  g.textAlign = "left";
  let edge = -1;
  let row = 0;
  for (const b of s.page.report!.processes) {
    if (b.born_ns === null || b.born_ns < 0) continue;
    const x = Math.round(k.x(b.born_ns)) + 0.5;
    g.setLineDash([4, 3]);
    g.beginPath();
    g.moveTo(x, 4);
    g.lineTo(x, k.bottom);
    g.stroke();
    g.setLineDash([]);
    row = x < edge ? row + 1 : 0;
    const which = b.version || shortBuild(b.build);
    const label = safe(`${b.exe || b.name} ${which ? `${which}, pid ` : ""}${b.pid} starts ${clock(s.page.wall_ns, b.born_ns, 0)}`);
    const wide = g.measureText(label).width;
    const left = x + 4 + wide > k.width - margin.right ? x - wide - 4 : x + 4;
    halo(g, s, label, left, 12 + row * 12);
    edge = x + wide + 8;
  }
}

function arrivals(g: CanvasRenderingContext2D, s: Scene, k: Scale): void {
  const l = s.lines;
  if (!l) return;
  const most = Math.max(...l.count, 1);
  const base = k.height - 22;
  g.fillStyle = s.ink;
  const rate = (most / l.step_ns) * 1e9;
  g.textAlign = "right";
  g.fillText(`${rate < 10 ? rate.toFixed(1) : thousands(rate)} /s`, margin.left - 8, base - margin.arrivals + 8);
  g.save();
  g.beginPath();
  g.rect(margin.left, 0, k.width - margin.left - margin.right, k.height);
  g.clip();
  g.globalAlpha = 0.35;
  for (let i = 0; i < l.count.length; i++) {
    const x = k.x(i * l.step_ns);
    const tall = (l.count[i] / most) * margin.arrivals;
    if (tall > 0) g.fillRect(x, base - tall, Math.max(1, k.x((i + 1) * l.step_ns) - x - 0.5), tall);
  }
  g.restore();
}
