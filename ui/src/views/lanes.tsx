import { inkOn } from "../base/color";
import { human, roomFor, safe } from "../base/format";
import { ticks } from "../layout/axis";
import type { Bar, Waterfall } from "../layout/waterfall";
import type { WebRequest } from "../model/page.gen";
import { get, set } from "../state/url";
import { colorOf, phaseColor, type Context } from "./parts";
import { letters, useWidth } from "./sizes";

const tall = 22;
const gap = 6;
const named = 28; // letters of a lane's name
const top = 20;

/** A waterfall: a lane for each thread, for calls, and for those who held what was waited for. */
export function Lanes({ c, r, w, whole, main }: { c: Context; r: WebRequest; w: Waterfall; whole: number; main: boolean }) {
  const [box, width] = useWidth(900, 500);
  const left = named * letters().plain + 8;
  const x = (ns: number) => left + (ns / whole) * (width - left - 12);
  const y = (lane: number) => top + lane * (tall + gap);
  const height = top + w.lanes.length * (tall + gap) + 8;
  const chosen = main ? Number(get("seg") || -1) : -1;
  return (
    <div class="lanes" ref={box}>
      <svg width={width} height={height} role="group" aria-label={`waterfall of request ${r.id}`}>
        <defs>
          <pattern id="hold" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="6" class="hatch" /></pattern>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" class="tip-head" /></marker>
        </defs>
        {ticks(0, whole, Math.max(3, Math.floor(width / 140))).map((t) => (
          <g key={t} class="tick"><line x1={x(t)} x2={x(t)} y1={top - 4} y2={height} />{x(t) < width - 52 && <text x={x(t) + 3} y={12}>{human(t)}</text>}</g>
        ))}
        {w.lanes.map((l, i) => (
          <g key={i}><rect class="lane" x={left} y={y(i) - 1} width={width - left - 12} height={tall + 2} />
            <text class={`name ${l.kind}`} x={left - 8} y={y(i) + 15}>{short(l.kind === "holder" ? `held by ${l.name}` : l.name)}<title>{safe(l.name)}</title></text></g>
        ))}
        {w.bars.map((b, i) => <One key={i} c={c} b={b} x={x} y={y(b.lane)} main={main} chosen={b.kind === "segment" && b.segment === chosen} />)}
        {w.arrows.map((a, i) => (
          <path key={i} class={a.segment === chosen ? "arrow chosen" : "arrow"} marker-end="url(#tip)"
            d={`M${x(a.from.at)} ${y(a.from.lane) + tall} C${x(a.from.at)} ${y(a.from.lane) + tall + 18}, ${x(a.to.at)} ${y(a.to.lane) - 18}, ${x(a.to.at)} ${y(a.to.lane) - 1}`} />
        ))}
      </svg>
    </div>
  );
}

const short = (name: string): string => {
  const text = safe(name);
  return text.length > named ? text.slice(0, named - 1) + "…" : text;
};

function One({ c, b, x, y, main, chosen }: { c: Context; b: Bar; x: (ns: number) => number; y: number; main: boolean; chosen: boolean }) {
  const [from, to] = [x(b.from), x(b.to)];
  const wide = Math.max(0.75, to - from);
  const color = b.kind === "phase" ? phaseColor(c, b.color) : colorOf(c, b.color);
  const what = `${b.kind === "hold" ? "held, meanwhile: " : ""}${safe(b.label)}, ${human(b.to - b.from)}`;
  const pick = () => main && set(b.kind === "segment" ? { seg: b.segment, call: "", hold: "" } : b.kind === "phase" ? { call: b.call!.id, seg: "", hold: "" } : { seg: b.segment, hold: b.holder!.strand, call: "" });
  const focus = main && wide > 6;
  const room = roomFor(safe(b.label), wide - 8, letters().plain);
  return (
    <g class={`bar ${b.kind} ${chosen ? "chosen" : ""}`} role={main ? "button" : undefined} tabIndex={focus ? 0 : undefined} aria-label={main ? what : undefined} data-of={main && b.kind === "segment" ? `show.${get("req") || c.page.report!.endpoints[0].slowest_request}.segments.${b.segment}.to_ns - show.${get("req") || c.page.report!.endpoints[0].slowest_request}.segments.${b.segment}.from_ns` : undefined}
      data-segment={b.kind === "segment" ? b.segment : undefined} data-hold={b.kind === "hold" ? b.segment : undefined}
      onClick={pick} onKeyDown={(e) => (e.key === "Enter" || e.key === " ") && (e.preventDefault(), pick())}>
      <title>{what}</title>
      <rect x={from} y={y} width={wide} height={tall} rx={wide > 8 ? 3 : 0} fill={color} />
      {b.kind === "hold" && <rect x={from} y={y} width={wide} height={tall} rx={3} fill="url(#hold)" />}
      {room > 0 && <svg x={from} y={y} width={room + 5} height={tall}><text x={5} y={15} fill={inkOn(color)} stroke={b.kind === "hold" ? color : undefined}>{safe(b.label)}</text></svg>}
    </g>
  );
}
