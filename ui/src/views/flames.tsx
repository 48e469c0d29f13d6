import { useMemo } from "preact/hooks";
import { inkOn } from "../base/color";
import { human, percent, roomFor, safe } from "../base/format";
import { flame, type Block } from "../layout/flame";
import type { Flame, Flames as Graphs } from "../model/page.gen";
import { get, set } from "../state/url";
import { colorOf, Count, Name, Panel, Share, step, Swatch, Time, type Context } from "./parts";
import { letters, useWidth } from "./sizes";
import { Beneath } from "./under";
import { Endpoints } from "./where";

const tall = 20;

/** The time of an endpoint's requests by stack: on processors, or waiting. */
export function Flames({ c }: { c: Context }) {
  if (c.page.flames.length === 0) return <Panel title="Flame graph"><p>The recording has no stacks: it was made with --stacks=off, or where they cannot be taken (dwell doctor tells).</p></Panel>;
  const graph: Graphs = c.page.flames.find((f) => f.endpoint === get("endpoint")) ?? c.page.flames[0];
  const part = get("part") || (graph.on_cpu.total_ns > graph.waiting.total_ns ? "cpu" : "waiting");
  const at = `flames.@${step(graph.endpoint)}`;
  const where = part === "cpu" ? "on_cpu" : "waiting";
  const of: Flame = part === "cpu" ? graph.on_cpu : graph.waiting;
  const causes = useMemo(() => causesIn(of), [of]);
  const cause = causes.some(([n]) => n === get("only")) ? get("only") : "";
  return (
    <Panel title="Flame graph" aside={<span class="tools"><Endpoints c={c} now={graph.endpoint} />
      <label class="filter">find <input id="search" type="search" value={get("find")} placeholder="function or file" spellcheck={false} onInput={(e) => set({ find: e.currentTarget.value })} /></label></span>}>
      <div class="legend">
        <fieldset class="choice"><legend class="out">Which time</legend>
          <button type="button" aria-pressed={part === "cpu"} onClick={() => set({ part: "cpu", only: "", into: "" })}>on processors <Time v={graph.on_cpu.total_ns} of={`${at}.on_cpu.total_ns`} /></button>
          <button type="button" aria-pressed={part === "waiting"} onClick={() => set({ part: "waiting", only: "", into: "" })}>waiting <Time v={graph.waiting.total_ns} of={`${at}.waiting.total_ns`} /></button>
        </fieldset>
        <ul>{causes.map(([name, ns]) => (
          <li key={name}><button type="button" class="key" aria-pressed={cause === name} onClick={() => set({ only: cause === name ? "" : name, into: "" })}><Swatch color={colorOf(c, name)} />{name} <Time v={ns} of={`${at}.${where}.by.${name}`} /></button></li>
        ))}</ul>
      </div>
      <Graph c={c} of={of} cause={cause} at={`${at}.${where}`} endpoint={graph.endpoint} />
      <p class="key">{part === "cpu" ? <>CPU time is exact in sum, shared out over <Count v={of.samples} noun="sample" of={`${at}.on_cpu.samples`} /></> : "waits are exact; of each the stack in which it waited"} · unaccounted <Time v={graph.unaccounted_ns} of={`${at}.unaccounted_ns`} /> · <Count v={graph.requests} noun="request" of={`${at}.requests`} /></p>
    </Panel>
  );
}

function causesIn(of: Flame): [string, number][] {
  const sums = new Map<string, number>();
  const walk = (rows: Flame["rows"]) => rows.forEach((r) => {
    for (const [k, v] of Object.entries(r.causes ?? {})) sums.set(k, (sums.get(k) ?? 0) + v);
    walk(r.rows ?? []);
  });
  walk(of.rows);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

function Graph({ c, of, cause, at, endpoint }: { c: Context; of: Flame; cause: string; at: string; endpoint: string }) {
  const [box, width] = useWidth(1000);
  const whole = of.rows.reduce((s, r) => s + r.total_ns, 0) || 1;
  const blocks = useMemo(() => flame(of.rows, whole, cause), [of, cause]);
  const into = blocks.find((b) => b.path === get("into"));
  const find = get("find").toLowerCase();
  const foundAt = `${at.replace("flames", `found.${step(find)}`)}.${cause ? `by.${cause}` : "total_ns"}`;
  const row = (b: Block) => at + b.path.split("/").slice(1).map((name) => `.@${step(name)}`).join("");
  const hit = (b: Block) => find !== "" && (b.row.function + " " + b.row.name + " " + (b.row.file ?? "")).toLowerCase().includes(find);
  const [x0, x1] = into ? [into.x, into.x + into.width] : [0, blocks.filter((b) => b.depth === 0).reduce((s, b) => s + b.width, 0) || 1];
  const shown = blocks.filter((b) => (b.x + b.width - x0) > 1e-9 && x1 - b.x > 1e-9 && (b.width / (x1 - x0)) * width > 0.6);
  const depth = Math.max(0, ...shown.map((b) => b.depth));
  const found = find ? outermost(blocks.filter(hit)) : 0;
  return (
    <div class="flame" ref={box}>
      {find && <p role="status" id="found">{found > 0 ? <>beneath what is found: <b><Time v={found} of={foundAt} /></b>, <Share v={found / whole} of={`${foundAt} / ${at}.total_ns`} /> of this graph</> : "nothing of that name here"}</p>}
      {into && <p><button type="button" onClick={() => set({ into: "" })}>all of it <kbd>Esc</kbd></button> <Name code text={into.row.function} /> <Name text={into.row.file ?? into.row.module ?? ""} />{into.row.line ? <Name text={`:${into.row.line}`} /> : ""}, <Time v={into.total} of={cause ? `${row(into)}.by.${cause}` : `${row(into)}.total_ns`} />, of it itself <Time v={into.row.self_ns} of={`${row(into)}.self_ns`} />, <Count v={into.row.stacks} noun="stack" of={`${row(into)}.stacks`} />{into.row.kind !== "none" && <> · <button type="button" class="link" onClick={() => document.getElementById("under")?.scrollIntoView()}>how often it was entered</button></>}</p>}
      <svg width={width} height={(depth + 1) * (tall + 1)} role="group" aria-label="flame graph">
        {shown.map((b) => {
          const from = Math.max(0, ((b.x - x0) / (x1 - x0)) * width);
          const to = Math.min(width, ((b.x + b.width - x0) / (x1 - x0)) * width);
          const color = colorOf(c, b.cause);
          const text = `${safe(b.row.name)}, ${human(b.total)}, ${percent(b.total / whole)}`;
          const room = roomFor(b.row.name, to - from - 9, letters().code);
          const go = () => set({ into: b.path === get("into") ? "" : b.path });
          return (
            <g key={b.path} class={`block ${find ? (hit(b) ? "hit" : "miss") : ""}`} role="button" tabIndex={to - from > 30 ? 0 : undefined} aria-label={text} data-of={`${row(b)}.${cause ? `by.${cause}` : "total_ns"}`}
              onClick={go} onKeyDown={(e) => e.key === "Enter" && go()}>
              <title>{text}{b.row.file ? `\n${safe(b.row.file)}${b.row.line ? ":" + b.row.line : ""}` : ""}</title>
              <rect x={from} y={b.depth * (tall + 1)} width={Math.max(0.6, to - from - 0.7)} height={tall} rx={2} fill={color} />
              {room > 0 && <svg x={from} y={b.depth * (tall + 1)} width={room + 5} height={tall}><text x={5} y={14} fill={inkOn(color)}>{safe(b.row.name)}</text></svg>}
            </g>
          );
        })}
      </svg>
      {into && into.row.kind !== "none" && <Beneath c={c} endpoint={endpoint} name={into.row.name} />}
    </div>
  );
}

// The time beneath the outermost of what was found, counted once.
function outermost(hits: Block[]): number {
  let sum = 0;
  const above: string[] = [];
  for (const b of hits) {
    if (above.some((p) => b.path.startsWith(p + "/"))) continue;
    above.push(b.path);
    sum += b.total;
  }
  return sum;
}
