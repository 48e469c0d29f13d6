import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { clock, human, plural } from "../base/format";
import { draw, margin, Scale } from "../draw/chart";
import type { SLO, WebLines } from "../model/page.gen";
import { after, rowOf, sharesIn, unrecorded, type Region } from "../model/load";
import { get, set } from "../state/url";
import { coloring, Legend } from "./legend";
import { Processes } from "./processes";
import { Drawn, type Context } from "./parts";
import { themed, useWidth } from "./sizes";

/** A region of cells as it stands in the address. */
export function regionOf(name: string): Region | null {
  const n = get(name).split(".").map(Number);
  return n.length === 4 && n.every((v) => Number.isFinite(v)) ? { x0: n[0], x1: n[1], y0: n[2], y1: n[3] } : null;
}

export const written = (r: Region): string => [r.x0, r.x1, r.y0, r.y1].join(".");

/** What is zoomed to, as it stands in the address: from and to in nanoseconds, rows of cells. */
export function zoomed(c: Context, r: Region): string {
  const l = c.page.latency!.cells;
  return r.x1 + 1 - r.x0 >= l.columns ? "" : [r.x0 * l.step_ns, (r.x1 + 1) * l.step_ns, r.y0, r.y1].map(Math.round).join(".");
}

/** What the chart shows; its columns need not be whole. */
function shownIn(c: Context): Region {
  const [z, step] = [regionOf("zoom"), c.page.latency!.cells.step_ns];
  return z && z.x1 > z.x0 ? { ...z, x0: z.x0 / step, x1: z.x1 / step - 1 } : wholeOf(c);
}

// A region so many times as wide about one of its columns, moved by so many, within what there is.
function moved(c: Context, r: Region, by: number, times = 1, about = (r.x0 + r.x1 + 1) / 2): Region {
  const columns = c.page.latency!.cells.columns;
  const wide = clamp((r.x1 + 1 - r.x0) * times, Math.min(0.05, columns), columns);
  const from = clamp(about - (about - r.x0) * (wide / (r.x1 + 1 - r.x0)) + by, 0, columns - wide);
  return { ...r, x0: from, x1: from + wide - 1 };
}

/** Moves what the chart shows by a part of its width, or shows so many times as much. */
export function pan(c: Context, by: number, times = 1): Record<string, string> {
  const r = shownIn(c);
  return { zoom: zoomed(c, moved(c, r, by * (r.x1 + 1 - r.x0), times)) };
}

/** All there is to see. */
export function wholeOf(c: Context): Region {
  const l = c.page.latency!;
  const bounds = promisesOf(c).map((p) => p.bound_ns); // what was promised is on it, too
  return { x0: 0, x1: l.cells.columns - 1, y0: rowOf(Math.min(l.least_ns, ...bounds)) - 1, y1: rowOf(Math.max(l.most_ns, ...bounds)) + 1 };
}

export const chosenEndpoint = (c: Context): number => c.page.latency!.endpoints.indexOf(get("endpoint"));

/** What was promised of all requests, or of the endpoint that is chosen. */
export const promisesOf = (c: Context): SLO[] => (c.page.report!.slos ?? []).filter((p) => p.endpoint === "" || get("endpoint") === "" || p.endpoint === get("endpoint"));

/** Latency over time: every request a dot. A still one shows the given region, and nothing is chosen on it. */
export function Chart({ c, height, still }: { c: Context; height: number; still?: Region }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [box, width] = useWidth();
  const [held, setHeld] = useState<Region | null>(null); // while a hand moves it
  const later = useRef(0);
  const domain = still ?? held ?? shownIn(c);
  const rest = (r: Region) => {
    clearTimeout(later.current);
    set({ zoom: zoomed(c, r) });
    setHeld(null);
  };
  const move = (r: Region) => {
    setHeld(r);
    clearTimeout(later.current); // the rest of the page follows when the hand rests
    later.current = window.setTimeout(rest, 150, r);
  };
  const { of: color, palette } = coloring(c);
  const endpoint = still ? -1 : chosenEndpoint(c);
  const lines = linesOf(c, endpoint);
  const key = [width, get("color"), written(domain), get("endpoint"), c.dark].join(" ");
  useLayoutEffect(() => {
    if (!canvas.current || width === 0) return;
    const of = themed();
    const more = draw(canvas.current, {
      page: c.page, points: c.points, endpoint, of: color, palette, domain,
      ink: of("--muted"), faint: of("--line"), ground: of("--panel"), bad: of("--bad"), slos: promisesOf(c),
      lines, colors: { p50: of("--ink"), p99: of("--p99"), max: of("--muted") },
    });
    let frame = requestAnimationFrame(function next() {
      if (more()) frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [key]);
  const scale = new Scale(width, height, domain, c.page.latency!.cells.step_ns);
  return (
    <div class="chart" ref={box}>
      <Legend c={c} />
      <div class="plot" style={{ height: `${height}px` }}>
        <canvas ref={canvas} aria-hidden="true" />
        {width > 0 && !still && <Brush c={c} scale={scale} domain={domain} move={move} rest={() => held && rest(held)} />}
      </div>
      <p class="key"><span>{lines ? <><span class="line p50" /> p50 <span class="line p99" /> p99 <span class="line max" /> max, each of <Drawn>{human(lines.step_ns)}</Drawn> · bars: arrivals</> : "this endpoint has too few requests for lines"}{promisesOf(c).length > 0 && <><span class="line slo" /> promised, shaded where broken</>}
        {unrecorded(c.page).length > 0 && <><span class="shade" /> {c.page.report?.recording.excerpt ? "not analysed" : "recording rested"}</>}{c.page.latency!.losses.length > 0 && <><span class="shade lost" /> facts were lost</>}</span>
        {!still && <span class="hint">drag to choose · click a request to open it · <kbd>z</kbd> to what is chosen, <kbd>w</kbd> <kbd>s</kbd> zoom, <kbd>a</kbd> <kbd>d</kbd> or Shift and drag to move, <kbd>x</kbd> all</span>}</p>
      {!still && get("color") === "generation" && <Processes c={c} />}
    </div>
  );
}

// Lines of all requests, or of the endpoint that is chosen where the page has them.
function linesOf(c: Context, endpoint: number): WebLines | undefined {
  const l = c.page.latency!;
  return endpoint < 0 ? l.lines : l.endpoint_lines[endpoint];
}

interface BrushOf {
  c: Context;
  scale: Scale;
  domain: Region;
  move: (to: Region) => void;
  rest: () => void; // the hand let go
}

/** What is chosen, over the chart: by dragging, or with the arrow keys. */
function Brush({ c, scale, domain, move: show, rest }: BrushOf) {
  const [from, setFrom] = useState<{ x: number; y: number } | null>(null);
  const [over, setOver] = useState<number>(-1);
  const [grip, setGrip] = useState<{ at: number; of: Region } | null>(null); // where it was taken hold of, to be moved
  const layer = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Region | null>(null);
  const later = useRef(0);
  const chosen = drag ?? regionOf("sel");
  const points = c.points;
  const near = useMemo(() => nearest(c, scale), [scale.width, written(domain), get("endpoint")]);
  const at = (e: PointerEvent) => {
    const r = layer.current!.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const cell = (p: { x: number; y: number }) => ({
    x: clamp(Math.floor(scale.timeAt(p.x) / scale.step), Math.floor(domain.x0), Math.ceil(domain.x1)),
    y: clamp(rowOf(scale.durationAt(clamp(p.y, margin.top, scale.bottom))), domain.y0, domain.y1),
  });
  const down = (e: PointerEvent) => {
    layer.current!.setPointerCapture(e.pointerId);
    setGrip(e.shiftKey ? { at: at(e).x, of: domain } : null);
    setFrom(at(e));
  };
  const perColumn = (scale.x(scale.step) - scale.x(0)); // pixels
  const wheel = (e: WheelEvent) => {
    const by = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
    if (!e.ctrlKey && by === 0) return; // the page scrolls
    e.preventDefault();
    const about = scale.timeAt(e.clientX - layer.current!.getBoundingClientRect().left) / scale.step;
    show(e.ctrlKey ? moved(c, domain, 0, 1.0015 ** e.deltaY, about) : moved(c, domain, by / perColumn));
  };
  const move = (e: PointerEvent) => {
    const p = at(e);
    if (!from) return setOver(near(p.x, p.y));
    if (grip) return show(moved(c, grip.of, (grip.at - p.x) / perColumn));
    if (Math.abs(p.x - from.x) + Math.abs(p.y - from.y) < 6) return;
    const [a, b] = [cell(from), cell(p)];
    const r = { x0: Math.min(a.x, b.x), x1: Math.max(a.x, b.x), y0: Math.min(a.y, b.y), y1: Math.max(a.y, b.y) };
    setDrag(r);
    clearTimeout(later.current); // the rest of the page follows when the hand rests
    later.current = window.setTimeout(() => set({ sel: written(r) }), 90);
  };
  const up = (e: PointerEvent) => {
    const p = at(e);
    if (grip) {
      rest();
      setGrip(null);
    } else if (from && Math.abs(p.x - from.x) + Math.abs(p.y - from.y) < 6) {
      const i = near(p.x, p.y);
      if (i >= 0 && c.details.has(points.id[i])) set({ view: "request", req: points.id[i] }, true);
      else set({ sel: "" });
    } else if (drag) set({ sel: written(drag) });
    clearTimeout(later.current);
    setDrag(null);
    setFrom(null);
  };
  const keys = (e: KeyboardEvent) => arrow(e, c, domain);
  const settled = regionOf("sel"); // who listens hears of it when the hand rests
  const n = useMemo(() => (settled ? sharesIn(c.cells, settled, chosenEndpoint(c)).inside.requests : 0), [get("sel"), get("endpoint")]);
  const label = settled ? `${plural(n, "request")} chosen, from ${clock(c.page.wall_ns, settled.x0 * scale.step)}` : `Latency over time: ${plural(points.count, "request")}, none chosen`;
  return (
    <div ref={layer} class="brush" tabIndex={0} role="application" aria-label={label} aria-roledescription="chart"
      onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={() => setOver(-1)} onKeyDown={keys} onWheel={wheel}>
      {chosen && <div class="chosen" style={boxOf(chosen, scale)} />}
      {over >= 0 && <Tip c={c} i={over} scale={scale} />}
    </div>
  );
}

function boxOf(r: Region, k: Scale) {
  const fix = new Scale(k.width, k.height, { ...r, y0: Math.max(8, r.y0), y1: Math.max(8, r.y1) }, k.step);
  const left = clamp(k.x(r.x0 * k.step), margin.left, k.width);
  const right = clamp(k.x((r.x1 + 1) * k.step), margin.left, k.width - margin.right);
  const top = clamp(k.y(fix.y1), margin.top, k.bottom);
  const bottom = clamp(k.y(fix.y0), margin.top, k.bottom);
  return { left: `${left}px`, width: `${right - left}px`, top: `${top}px`, height: `${bottom - top}px` };
}

function Tip({ c, i, scale }: { c: Context; i: number; scale: Scale }) {
  const p = c.points;
  const x = scale.x(p.start[i]);
  const y = scale.y(p.duration[i]);
  return (
    <div class={x > scale.width * 0.7 ? "tip left" : "tip"} style={{ left: `${x}px`, top: `${y}px` }}>
      <b>{human(p.duration[i])}</b> {c.page.latency!.endpoints[p.endpoint[i]]}<br />
      {clock(c.page.wall_ns, p.start[i])} · most of it {c.page.causes[p.cause[i]].name}{c.details.has(p.id[i]) ? "" : " · not told of in full here"}
    </div>
  );
}

const clamp = (v: number, from: number, to: number): number => Math.min(Math.max(v, from), to);

// Finds the request nearest to a place, within ten pixels.
function nearest(c: Context, k: Scale): (x: number, y: number) => number {
  const endpoint = chosenEndpoint(c);
  return (x, y) => {
    let [best, at] = [100, -1];
    const [from, to] = [k.timeAt(x - 10), k.timeAt(x + 10)];
    for (let i = after(c.points, from); i < c.points.count && c.points.start[i] <= to; i++) {
      if (endpoint >= 0 && c.points.endpoint[i] !== endpoint) continue;
      const far = (k.x(c.points.start[i]) - x) ** 2 + (k.y(c.points.duration[i]) - y) ** 2;
      if (far < best) [best, at] = [far, i];
    }
    return at;
  };
}

// The arrow keys move what is chosen, with Shift its end; z and x zoom.
function arrow(e: KeyboardEvent, c: Context, domain: Region): void {
  const r = regionOf("sel") ?? { x0: Math.floor(domain.x0), x1: Math.floor(domain.x0) + 9, y0: domain.y0, y1: domain.y1 };
  const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
  if (by) {
    e.preventDefault();
    if (!e.shiftKey) [r.x0, r.y0] = [r.x0 + by[0], r.y0 + by[1]];
    const next = { ...r, x1: r.x1 + by[0], y1: clamp(r.y1 + by[1], r.y0, domain.y1) };
    if (next.x0 >= 0 && next.x1 < c.page.latency!.cells.columns && next.x1 >= next.x0) set({ sel: written(next) });
  }
}
