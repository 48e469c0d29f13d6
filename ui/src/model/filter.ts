import type { Context } from "../views/parts";

/** Whether a request is kept. */
export type Keep = (i: number) => boolean;

const unitsOf: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** Reads conditions such as `duration>50ms and cause=lock`, joined by and; says what is wrong with them. */
export function filterOf(c: Context, text: string): { keep: Keep; wrong: string } {
  const all: Keep[] = [];
  for (const part of text.split(/\s+and\s+/i).map((s) => s.trim()).filter(Boolean)) {
    const m = /^(\w+)\s*(>=|<=|!=|!~|>|<|=|~)\s*"?([^"]*)"?$/.exec(part);
    if (!m) return { keep: () => true, wrong: `"${part}": want such as duration>50ms, status>=500, endpoint~"orders", cause=lock, process=4242` };
    const field = fields[m[1]];
    if (!field) return { keep: () => true, wrong: `"${m[1]}": there are ${Object.keys(fields).join(", ")}` };
    const keep = compare(field(c), m[2], m[3]);
    if (typeof keep === "string") return { keep: () => true, wrong: `"${part}": ${keep}` };
    all.push(keep);
  }
  return { keep: (i) => all.every((k) => k(i)), wrong: "" };
}

type Value = (i: number) => number | string;

const fields: Record<string, (c: Context) => Value> = {
  duration: (c) => (i) => c.points.duration[i],
  status: (c) => (i) => c.points.status[i],
  id: (c) => (i) => c.points.id[i],
  endpoint: (c) => (i) => c.page.latency!.endpoints[c.points.endpoint[i]],
  cause: (c) => (i) => c.page.causes[c.points.cause[i]].name,
  process: (c) => (i) => c.page.latency!.generations[c.points.generation[i]].pid,
};

function compare(value: Value, how: string, want: string): Keep | string {
  const m = /^([0-9.]+)(ns|us|ms|s)?$/.exec(want);
  const n = m ? Number(m[1]) * (unitsOf[m[2] ?? ""] ?? 1) : NaN;
  switch (how) {
    case "~": return (i) => String(value(i)).includes(want);
    case "!~": return (i) => !String(value(i)).includes(want);
    case "=": return (i) => String(value(i)) === want || value(i) === n;
    case "!=": return (i) => String(value(i)) !== want && value(i) !== n;
  }
  if (Number.isNaN(n)) return `${how} wants a number`;
  return (i) => { const v = value(i) as number; return how === ">" ? v > n : how === "<" ? v < n : how === ">=" ? v >= n : v <= n; };
}
