import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clock, human, plural, safe } from "../base/format";
import { drawLanes, laneTall, laneTime, laneTop, laneX } from "../draw/lanes";
import { finest, runsOf } from "../model/lanes";
import { fetched } from "../model/load";
import type { WebLanes } from "../model/page.gen";
import { get, set } from "../state/url";
import { Drawn, Panel, Swatch, type Context } from "./parts";
import { themed, useWidth } from "./sizes";

/** A span as it stands in the address: from and to, in nanoseconds. */
function chosenSpan(c: Context): [number, number] {
  const [from, to] = get("span").split(".").map(Number);
  return Number.isFinite(from) && to > from ? [Math.max(0, from), Math.min(c.page.span_ns, to)] : [0, c.page.span_ns];
}

const spanned = (from: number, to: number): string => `${Math.round(from)}.${Math.round(to)}`;

/** To an instant: asked for where the page is served, else the nearest of those it holds. */
function goTo(c: Context, ns: number): void {
  const dumps = c.page.dumps;
  const nearest = dumps.reduce((best, d, i) => (Math.abs(d.at_ns - ns) < Math.abs(dumps[best].at_ns - ns) ? i : best), 0);
  if (c.page.live) set({ at: `+${(ns / 1e9).toFixed(6)}s`, dump: "" });
  else set({ dump: nearest, at: "" });
}

/** What all threads did, side by side, over the time that is chosen. */
export function AllLanes({ c, at }: { c: Context; at: number }) {
  const [from, to] = chosenSpan(c);
  const [asked, setAsked] = useState<WebLanes | null>(null);
  const held = finest(c.page.lanes, from, to) ?? c.page.lanes[0];
  const key = spanned(from, to);
  useEffect(() => {
    if (!c.page.live || (held.from_ns === from && held.to_ns === to)) return setAsked(null);
    fetched<WebLanes>(`lanes.json?from=${Math.round(from)}&to=${Math.round(to)}`).then(setAsked, () => setAsked(null));
  }, [key]);
  if (!held) return null;
  const lanes = asked && asked.from_ns <= from && asked.to_ns >= to ? asked : held;
  return (
    <Panel title={<>What <Drawn>{plural(lanes.lanes.length, "thread")}</Drawn> did</>} aside={<span class="tools">
      <label class="pick"><span class="out">Time</span><select value={key} onChange={(e) => set({ span: e.currentTarget.value }, true)}>
        {c.page.lanes.map((l, i) => <option key={i} value={spanned(l.from_ns, l.to_ns)}>{l.chosen}</option>)}
        {!c.page.lanes.some((l) => spanned(l.from_ns, l.to_ns) === key) && <option value={key}>as chosen</option>}</select></label>
      <button type="button" onClick={() => wider(c, from, to)}>wider <kbd>-</kbd></button>
    </span>}>
      <ul class="legend flat">{causesOf(c, lanes).map((x) => <li key={x.name}><Swatch color={c.dark ? x.dark : x.light} />{x.name}</li>)}</ul>
      <Plot key={key} c={c} lanes={lanes} from={from} to={to} at={at} />
      <p class="key"><span><Drawn>{human(to - from)}, each column {human(Math.round((lanes.to_ns - lanes.from_ns) / lanes.columns))}</Drawn>: in the colour of what was done most, as tall as the part of it in which anything was; pale: the same nearly all of the time; empty: idle, or not known{lanes.more > 0 && <> · <Drawn>{plural(lanes.more, "thread")}</Drawn> more did less, or nothing</>}</span>
        <span class="hint">drag to look closer · click for the threads at that time{c.page.live ? "" : ", of those that this file holds the nearest"} · arrow keys, <kbd>Enter</kbd>, <kbd>+</kbd></span></p>
    </Panel>
  );
}

const causesOf = (c: Context, lanes: WebLanes) => {
  const seen = new Set(lanes.lanes.flatMap((l) => runsOf(l).map((r) => r.cause)));
  return c.page.causes.filter((_, i) => seen.has(i));
};

function wider(c: Context, from: number, to: number): void {
  const by = (to - from) / 2;
  const [a, b] = [Math.max(0, from - by), Math.min(c.page.span_ns, to + by)];
  set({ span: a <= 0 && b >= c.page.span_ns ? "" : spanned(a, b) });
}

interface PlotOf {
  c: Context;
  lanes: WebLanes;
  from: number;
  to: number;
  at: number;
}

function Plot({ c, lanes, from, to, at }: PlotOf) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [box, width] = useWidth();
  const [cursor, setCursor] = useState<{ ns: number; lane: number } | null>(null);
  const [drag, setDrag] = useState<number | null>(null);
  const runs = useMemo(() => lanes.lanes.map(runsOf), [lanes]);
  const height = laneTop + lanes.lanes.length * laneTall + 6;
  const span = { from, to };
  useEffect(() => {
    if (!canvas.current || width === 0) return;
    const of = themed();
    drawLanes(canvas.current, { page: c.page, lanes, runs, from, to, palette: c.page.causes.map((x) => (c.dark ? x.dark : x.light)), ink: of("--muted"), faint: of("--line"), soft: of("--soft") });
  }, [width, lanes, from, to, c.dark]);
  const place = (e: PointerEvent) => {
    const r = box.current!.getBoundingClientRect();
    return { ns: Math.min(to, Math.max(from, laneTime(span, width, e.clientX - r.left))), lane: Math.floor((e.clientY - r.top - laneTop) / laneTall) };
  };
  const up = (e: PointerEvent) => {
    const p = place(e);
    if (drag === null) return;
    setDrag(null);
    if (Math.abs(laneX(span, width, p.ns) - laneX(span, width, drag)) < 6) goTo(c, p.ns);
    else set({ span: spanned(Math.min(drag, p.ns), Math.max(drag, p.ns)) }, true);
  };
  const keys = (e: KeyboardEvent) => {
    const now = cursor ?? { ns: at >= from && at <= to ? at : (from + to) / 2, lane: 0 };
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (by) setCursor({ ns: Math.min(to, Math.max(from, now.ns + (by[0] * (to - from)) / 100)), lane: Math.min(lanes.lanes.length - 1, Math.max(0, now.lane + by[1])) });
    else if (e.key === "Enter") goTo(c, now.ns);
    else if (e.key === "-") wider(c, from, to);
    else if (e.key === "+") set({ span: spanned(Math.max(0, now.ns - (to - from) / 8), Math.min(c.page.span_ns, now.ns + (to - from) / 8)) }, true);
    else return;
    e.preventDefault();
    e.stopPropagation(); // the keys are this chart's
  };
  const x = (ns: number) => `${laneX(span, width, ns)}px`;
  const said = cursor && doing(c, lanes, runs[cursor.lane], cursor);
  return (
    <div class="plot all-lanes" ref={box} style={{ height: `${height}px` }}>
      <canvas ref={canvas} aria-hidden="true" />
      {width > 0 && (
        <div class="brush" tabIndex={0} role="application" aria-roledescription="chart" aria-label={said || `What ${plural(lanes.lanes.length, "thread")} did`}
          onPointerDown={(e) => { e.currentTarget.setPointerCapture(e.pointerId); setDrag(place(e).ns); }} onPointerMove={(e) => setCursor(place(e))} onPointerUp={up} onPointerLeave={() => setCursor(null)} onKeyDown={keys}>
          {at >= from && at <= to && <div class="instant" style={{ left: x(at) }} />}
          {cursor && <div class="instant now" style={{ left: x(cursor.ns) }} />}
          {cursor && drag !== null && <div class="chosen" style={{ left: x(Math.min(drag, cursor.ns)), width: `${Math.abs(laneX(span, width, drag) - laneX(span, width, cursor.ns))}px`, top: `${laneTop}px`, bottom: "0" }} />}
          {cursor && said && <div class={laneX(span, width, cursor.ns) > width * 0.7 ? "tip left" : "tip"} style={{ left: x(cursor.ns), top: `${laneTop + (cursor.lane + 0.5) * laneTall}px` }}>{said}</div>}
        </div>
      )}
    </div>
  );
}

// What a thread did at a place of its lane, in words.
function doing(c: Context, lanes: WebLanes, runs: ReturnType<typeof runsOf> | undefined, at: { ns: number; lane: number }): string {
  const l = lanes.lanes[at.lane];
  if (!l || !runs) return "";
  const column = Math.floor(((at.ns - lanes.from_ns) / (lanes.to_ns - lanes.from_ns)) * lanes.columns);
  const r = runs.find((x) => x.from <= column && column < x.to);
  const what = !r || r.cause < 0 ? "idle, or not known" : `${c.page.causes[r.cause].name}${r.share < 1 ? `, for less than ${Math.round(r.share * 100)} % of the column` : ""}`;
  return `${safe(l.name)}${l.tid ? ` (${l.tid})` : ""} at ${clock(c.page.wall_ns, at.ns)}: ${what}`;
}
