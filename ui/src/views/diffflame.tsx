import { inkOn } from "../base/color";
import { human, roomFor, safe } from "../base/format";
import type { DiffFlameRow, WebDiff } from "../model/page.gen";
import { get, set } from "../state/url";
import { Name, Panel, step, Time } from "./parts";
import { letters, useWidth } from "./sizes";

const tall = 20;

interface Block {
  row: DiffFlameRow;
  depth: number;
  x: number;
  width: number;
  path: string;
}

/** The differential flame graph: as wide as the side that is chosen, orange what grew, blue what shrank. */
export function Apart({ page }: { page: WebDiff }) {
  const [box, width] = useWidth(1000);
  const graph = page.flames.find((f) => f.endpoint === get("endpoint")) ?? page.flames[0];
  if (!graph || graph.rows.length === 0) return <Panel title="Stacks, B beside A"><p>No stacks on both sides.</p></Panel>;
  const side = get("wide") === "b" ? "b_ns" : "a_ns";
  const blocks = placed(graph.rows, side);
  const into = blocks.find((b) => b.path === get("into"));
  const [x0, wide] = into ? [into.x, into.width] : [0, graph.rows.reduce((s, r) => s + r[side], 0) || 1];
  const shown = blocks.filter((b) => b.x + b.width > x0 && b.x < x0 + wide && (b.width / wide) * width > 0.6);
  const depth = Math.max(0, ...shown.map((b) => b.depth));
  return (
    <Panel title="Stacks, B beside A" aside={<span class="tools"><span class="where"><Name text={graph.endpoint} /></span>
      <fieldset class="choice"><legend class="out">Widths of</legend>{(["a", "b"] as const).map((s) => (
        <button key={s} type="button" aria-pressed={side === `${s}_ns`} onClick={() => set({ wide: s === "a" ? "" : s, into: "" })}>as wide as in {s.toUpperCase()}, <Time v={graph[`${s}_ns`]} of={`${s.toUpperCase()}.flames.@${step(graph.endpoint)}.total_ns / ${s.toUpperCase()}.flames.@${step(graph.endpoint)}.requests`} /> a request</button>
      ))}</fieldset></span>}>
      <div class="flame" ref={box}>
        {into && <p><button type="button" onClick={() => set({ into: "" })}>all of it</button> <Name code text={into.row.function} /></p>}
        <svg width={width} height={(depth + 1) * (tall + 1)} role="group" aria-label="differential flame graph">
          {shown.map((b) => {
            const from = Math.max(0, ((b.x - x0) / wide) * width);
            const to = Math.min(width, ((b.x + b.width - x0) / wide) * width);
            const color = tint(b.row.b_ns - b.row.a_ns, Math.max(graph.a_ns, graph.b_ns));
            const text = `${safe(b.row.name)}: A ${human(b.row.a_ns)}, B ${human(b.row.b_ns)} a request`;
            const room = roomFor(b.row.name, to - from - 9, letters().code);
            const go = () => set({ into: b.path === get("into") ? "" : b.path });
            return (
              <g key={b.path} class="block" role="button" tabIndex={to - from > 30 ? 0 : undefined} aria-label={text} onClick={go} onKeyDown={(e) => e.key === "Enter" && go()}>
                <title>{text}</title>
                <rect x={from} y={b.depth * (tall + 1)} width={Math.max(0.6, to - from - 0.7)} height={tall} rx={2} fill={color} />
                {room > 0 && <svg x={from} y={b.depth * (tall + 1)} width={room + 5} height={tall}><text x={5} y={14} fill={inkOn(color)}>{safe(b.row.name)}</text></svg>}
              </g>
            );
          })}
        </svg>
      </div>
      <p class="key">{([[1, "grew in B"], [0, "as before"], [-1, "shrank"]] as const).map(([by, what]) => <span key={by} class="play"><span class="swatch" style={{ background: tint(by, 1) }} />{what}</span>)} on processors and waiting together, the mean of a request</p>
    </Panel>
  );
}

function placed(rows: DiffFlameRow[], side: "a_ns" | "b_ns"): Block[] {
  const out: Block[] = [];
  const walk = (list: DiffFlameRow[], x: number, depth: number, path: string) => {
    for (const r of list) {
      const at = `${path}/${r.name}`;
      if (r[side] > 0) out.push({ row: r, depth, x, width: r[side], path: at });
      walk(r.rows ?? [], x, depth + 1, at);
      x += r[side];
    }
  };
  walk(rows, 0, 0, "");
  return out;
}

// From blue (shrank) over grey to orange (grew); the root of the share, so that small differences are seen.
function tint(by: number, whole: number): string {
  const part = Math.sign(by) * Math.sqrt(Math.min(1, Math.abs(by) / whole));
  const [to, from] = [part > 0 ? [213, 94, 0] : [0, 104, 168], [203, 207, 214]];
  return "#" + from.map((f, i) => Math.round(f + (to[i] - f) * Math.abs(part)).toString(16).padStart(2, "0")).join("");
}
