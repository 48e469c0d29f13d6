import type { FlameRow, Ns } from "../model/page.gen";

/** A function's rectangle in a flame graph; x and width are shares of the whole. */
export interface Block {
  row: FlameRow;
  depth: number;
  x: number;
  width: number;
  total: Ns;
  cause: string; // that takes most beneath it
  path: string; // names from the outermost, for the address
}

interface Sum {
  total: Ns;
  causes: Map<string, number>;
}

/** Lays the rows out from the left, in the given order; of one cause alone where one is given. */
export function flame(rows: FlameRow[], whole: Ns, cause: string): Block[] {
  const out: Block[] = [];
  const sums = new Map<FlameRow, Sum>();
  const sum = (r: FlameRow): Sum => {
    const s: Sum = { total: 0, causes: new Map() };
    const add = (name: string, ns: number) => {
      if (cause && name !== cause) return;
      s.total += ns;
      s.causes.set(name, (s.causes.get(name) ?? 0) + ns);
    };
    for (const [name, ns] of Object.entries(r.causes ?? {})) add(name, ns);
    for (const b of r.rows ?? []) for (const [name, ns] of sum(b).causes) add(name, ns);
    sums.set(r, s);
    return s;
  };
  const place = (list: FlameRow[], x: number, depth: number, path: string) => {
    for (const r of list) {
      const s = sums.get(r)!;
      if (s.total <= 0) continue;
      const top = [...s.causes].sort((a, b) => b[1] - a[1])[0];
      const at = path + "/" + r.name;
      out.push({ row: r, depth, x, width: s.total / whole, total: s.total, cause: top?.[0] ?? "unknown", path: at });
      place(r.rows ?? [], x, depth + 1, at);
      x += s.total / whole;
    }
  };
  for (const r of rows) sum(r);
  place(rows, 0, 0, "");
  return out;
}
