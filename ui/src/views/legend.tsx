import { distinct } from "../base/color";
import { get, set } from "../state/url";
import { Drawn, Name, Swatch, type Context } from "./parts";

export const colorings = ["cause", "endpoint", "generation"] as const;

/** Which colour of a palette each request has, by what is chosen, and what the colours stand for. */
export interface Coloring {
  of: Uint32Array; // index of the palette
  palette: string[];
  keys: { name: string; color: string }[];
}

export function coloring(c: Context): Coloring {
  const list = c.dark ? distinct.dark : distinct.light;
  const other = list[list.length - 1];
  const pick = (i: number) => (i < list.length - 1 ? list[i] : other);
  const l = c.page.latency!;
  switch (get("color")) {
    case "endpoint":
      return { of: c.points.endpoint, palette: l.endpoints.map((_, i) => pick(i)), keys: l.endpoints.map((name, i) => ({ name, color: pick(i) })) };
    case "generation":
      return {
        of: c.points.generation, palette: c.page.report!.processes.map((_, i) => pick(i)),
        keys: c.page.report!.processes.map((g, i) => ({ name: [g.name, g.version, g.pid].filter(Boolean).join(" "), color: pick(i) })),
      };
  }
  const colors = c.page.causes.map((x) => (c.dark ? x.dark : x.light));
  return { of: c.points.cause, palette: colors, keys: c.page.causes.flatMap((x, i) => (c.points.causes.has(i) ? [{ name: x.name, color: colors[i] }] : [])) };
}

export function Legend({ c }: { c: Context }) {
  const now = get("color") || "cause";
  const { keys } = coloring(c);
  return (
    <div class="legend">
      <fieldset class="choice"><legend class="out">Colour requests by</legend>
        {colorings.map((name) => (
          <button key={name} type="button" aria-pressed={now === name} onClick={() => set({ color: name === "cause" ? "" : name })}>
            {name === "generation" ? "process" : name}
          </button>
        ))}
      </fieldset>
      <ul>{keys.slice(0, 16).map((k) => <li key={k.name}><Swatch color={k.color} /><Name text={k.name} /></li>)}
        {keys.length > 16 && <li>and <Drawn>{keys.length - 16}</Drawn> more</li>}
      </ul>
    </div>
  );
}
