import { column, summed, unpacked } from "../base/column";
import type { WebDiff, WebLatency, WebPage, WebRequest, WebSpan, WebTold } from "./page.gen";

/** A page of one recording, or of two. */
export type Page = (WebPage & { kind: "recording" }) | (WebDiff & { kind: "diff" });

/** Reads the page's model: from the document that holds it, or from who serves it. */
export async function load(): Promise<Page> {
  const held = document.getElementById("data");
  const page = held ? JSON.parse(held.textContent ?? "") : await fetched<Page>("data.json");
  if (typeof page.latency === "string") page.latency = await unpacked<WebLatency>(page.latency);
  if (page.kind !== "recording" && page.kind !== "diff") throw new Error("this page's data is of another version of dwell");
  return page;
}

/** Asks who serves the page. */
export async function fetched<T>(path: string): Promise<T> {
  const answer = await fetch(path).catch(() => {
    throw new Error("nobody answers: is dwell view still running?");
  });
  if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
  return answer.json();
}

/** The measured requests as columns, in order of start. */
export interface Points {
  count: number;
  id: Float64Array;
  start: Float64Array;
  duration: Float64Array;
  log: Float32Array; // of the duration: where it lies on a chart
  endpoint: Uint32Array;
  cause: Uint32Array;
  generation: Uint32Array;
  status: Float64Array;
  x: Uint8Array; // the cell of each, in order as the starts are
  y: Uint8Array;
  causes: Set<number>; // that take most of some request
}

export function pointsOf(l: WebLatency): Points {
  const c = l.columns;
  const n = l.count;
  const p = {
    count: n, id: summed(c.id), start: summed(c.start), duration: column(c.duration), log: new Float32Array(n), endpoint: new Uint32Array(column(c.endpoint)),
    cause: new Uint32Array(column(c.cause)), generation: new Uint32Array(column(c.generation)), status: column(c.status), x: new Uint8Array(n), y: new Uint8Array(n),
  };
  const [step, last] = [l.cells.step_ns, l.cells.columns - 1];
  for (let i = 0; i < n; i++) {
    p.x[i] = Math.min(p.start[i] / step, last);
    p.y[i] = rowOf(p.duration[i]);
    p.log[i] = Math.log(p.duration[i]);
  }
  return { ...p, causes: new Set(p.cause) };
}

/** The first request that began at a time or later. */
export const after = (p: Points, ns: number): number => firstFrom(p.start, ns);

// The first of values in order that is so large, or larger.
function firstFrom(values: ArrayLike<number>, least: number): number {
  let [lo, hi] = [0, values.length];
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (values[mid] < least) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** The grid over start and duration: what each cell's requests took, by cause. */
export interface Cells {
  count: number;
  endpoint: Float64Array;
  x: Float64Array;
  y: Float64Array;
  requests: Float64Array;
  took: Float64Array; // causes of the first cell, of the second, ...
  causes: number;
}

export function cellsOf(l: WebLatency, causes: number): Cells {
  const c = l.cells;
  const n = c.count;
  return {
    count: n, endpoint: column(c.endpoint), x: column(c.x), y: column(c.y), requests: column(c.requests),
    took: column(c.took), causes,
  };
}

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

/** The row of cells that a duration lies in; as in the model: the exponent and the next two bits, which a double holds as they are. */
export function rowOf(ns: number): number {
  if (ns < 4) return Math.max(0, Math.floor(ns));
  double[0] = ns;
  return ((halves[1] >>> 20) - 1023) * 4 + ((halves[1] >>> 18) & 3);
}

/** The shortest duration of a row of cells. */
export const rowFrom = (y: number): number => ((4 + (y % 4)) * 2 ** Math.floor(y / 4)) / 4;

/** A region of the grid: columns and rows from one to another, both included. */
export interface Region {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** Which requests are meant. */
export interface Chosen {
  region: Region | null; // null: anywhere
  endpoint: number; // -1: of any
  keep?: Uint8Array; // 1 for each of all requests that is kept
}

/** What the requests in a region, and all others, took by cause. */
export interface Shares {
  requests: number;
  took: number[];
  total: number;
}

export function sharesIn(cells: Cells, region: Region | null, endpoint: number): { inside: Shares; rest: Shares } {
  const { causes, took } = cells;
  const r = region ?? { x0: 0, x1: Infinity, y0: 0, y1: Infinity };
  const sums = [new Float64Array(causes), new Float64Array(causes)];
  const requests = [0, 0];
  for (let i = 0; i < cells.count; i++) {
    if (endpoint >= 0 && cells.endpoint[i] !== endpoint) continue;
    const [x, y] = [cells.x[i], cells.y[i]];
    const into = x >= r.x0 && x <= r.x1 && y >= r.y0 && y <= r.y1 ? 0 : 1;
    requests[into] += cells.requests[i];
    const sum = sums[into];
    for (let c = 0, at = i * causes; c < causes; c++) sum[c] += took[at + c];
  }
  const [inside, rest] = sums.map((sum, i) => ({ requests: requests[i], took: [...sum], total: sum.reduce((a, b) => a + b, 0) }));
  return { inside, rest };
}

/** The requests in a region, as indexes of the points: how many, and the slowest of them in order. Of those alone that are marked in keep, where it is given. */
export function pointsIn(p: Points, cells: Cells, { region, endpoint, keep }: Chosen, most: number): { count: number; slowest: number[] } {
  const { x0, x1, y0, y1 } = region ?? { x0: 0, x1: 255, y0: 0, y1: 255 };
  const [first, last] = [firstFrom(p.x, x0), firstFrom(p.x, x1 + 1)];
  const rows = new Uint32Array(257); // how many are in each row
  if (keep) {
    for (let i = first; i < last; i++) if (keep[i] === 1 && p.y[i] >= y0 && p.y[i] <= y1 && (endpoint < 0 || p.endpoint[i] === endpoint)) rows[p.y[i]]++;
  } else {
    for (let i = 0; i < cells.count; i++) {
      const [x, y] = [cells.x[i], cells.y[i]];
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1 && (endpoint < 0 || cells.endpoint[i] === endpoint)) rows[y] += cells.requests[i];
    }
  }
  let row = 256; // from the slowest row on down to that with which there are enough
  for (let n = 0; row > 0 && n < most; row--) n += rows[row - 1];
  const list: number[] = [];
  for (let i = first, least = Math.max(row, y0); i < last; i++) {
    if (p.y[i] >= least && p.y[i] <= y1 && (endpoint < 0 || p.endpoint[i] === endpoint) && (!keep || keep[i] === 1)) list.push(i);
  }
  return { count: rows.reduce((a, b) => a + b, 0), slowest: list.sort((a, b) => p.duration[b] - p.duration[a] || a - b).slice(0, most) };
}

/** The next request that is slower (-1) or faster (1), of those that the page can tell of; undefined if there is none. */
export function neighbour(p: Points, details: Details, id: number, by: number): number | undefined {
  const from = p.id.indexOf(id);
  let best = -1;
  const before = (a: number, b: number) => (p.duration[b] - p.duration[a] || a - b) * by < 0; // a comes before b on the way
  for (let i = 0; i < p.count; i++) {
    if (i !== from && before(from, i) && (best < 0 || before(i, best)) && details.has(p.id[i])) best = i;
  }
  return best < 0 ? undefined : p.id[best];
}

/** Requests told of in full, by id; a served page asks for others. */
export class Details {
  private known = new Map<number, WebRequest>();
  constructor(private page: WebPage) {
    for (const r of page.requests) this.known.set(r.id, r);
  }
  has(id: number): boolean {
    return this.page.live || this.known.has(id);
  }
  get(id: number): WebRequest | undefined {
    return this.known.get(id);
  }
  async ask(id: number): Promise<WebRequest> {
    const got = await fetched<WebTold>(`request.json?id=${id}`);
    const request = got.request!;
    const base = this.page.frames.length;
    this.page.frames.push(...got.frames);
    for (const s of request.stacks) s.frames = s.frames.map((f) => f + base);
    this.known.set(id, request);
    return request;
  }
}

/** The spans in which recording rested: between its windows, where they are long enough to be seen. */
export function unrecorded(page: WebPage): WebSpan[] {
  const out: WebSpan[] = [];
  let at = 0;
  for (const w of [...page.latency!.windows, { from_ns: page.span_ns, to_ns: page.span_ns }]) {
    if (w.from_ns - at > page.span_ns / 1e4) out.push({ from_ns: at, to_ns: w.from_ns });
    at = Math.max(at, w.to_ns);
  }
  return out;
}
