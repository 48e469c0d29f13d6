import { column, summed } from "../base/varint";
import type { WebDiff, WebLatency, WebPage, WebRequest, WebTold } from "./page.gen";

/** A page of one recording, or of two. */
export type Page = (WebPage & { kind: "recording" }) | (WebDiff & { kind: "diff" });

/** Reads the page's model: from the document that holds it, or from who serves it. */
export async function load(): Promise<Page> {
  const held = document.getElementById("data");
  const page = held ? JSON.parse(held.textContent ?? "") : await fetched<Page>("data.json");
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
  endpoint: Float64Array;
  cause: Float64Array;
  generation: Float64Array;
  status: Float64Array;
  x: Uint8Array; // the cell of each
  y: Uint8Array;
  causes: Set<number>; // that take most of some request
}

export function pointsOf(l: WebLatency): Points {
  const c = l.columns;
  const n = l.count;
  const p = {
    count: n, id: summed(c.id, n), start: summed(c.start, n), duration: column(c.duration, n), log: new Float32Array(n), endpoint: column(c.endpoint, n),
    cause: column(c.cause, n), generation: column(c.generation, n), status: column(c.status, n), x: new Uint8Array(n), y: new Uint8Array(n),
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
export function after(p: Points, ns: number): number {
  let [lo, hi] = [0, p.count];
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (p.start[mid] < ns) lo = mid + 1;
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
    count: n, endpoint: column(c.endpoint, n), x: column(c.x, n), y: column(c.y, n), requests: column(c.requests, n),
    took: column(c.took, n * causes), causes,
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

/** What the requests in a region, and all others, took by cause. */
export interface Shares {
  requests: number;
  took: number[];
  total: number;
}

export function sharesIn(cells: Cells, region: Region | null, endpoint: number): { inside: Shares; rest: Shares } {
  const inside: Shares = { requests: 0, took: new Array(cells.causes).fill(0), total: 0 };
  const rest: Shares = { requests: 0, took: new Array(cells.causes).fill(0), total: 0 };
  for (let i = 0; i < cells.count; i++) {
    if (endpoint >= 0 && cells.endpoint[i] !== endpoint) continue;
    const r = region;
    const is = !r || (cells.x[i] >= r.x0 && cells.x[i] <= r.x1 && cells.y[i] >= r.y0 && cells.y[i] <= r.y1);
    const into = is ? inside : rest;
    into.requests += cells.requests[i];
    for (let c = 0; c < cells.causes; c++) {
      const t = cells.took[i * cells.causes + c];
      into.took[c] += t;
      into.total += t;
    }
  }
  return { inside, rest };
}

/** The requests in a region, as indexes of the points: how many, and the slowest of them in order. */
export function pointsIn(p: Points, region: Region | null, endpoint: number, most: number, keep?: (i: number) => boolean): { count: number; slowest: number[] } {
  const rows = new Uint32Array(257);
  const is = (i: number) => (endpoint < 0 || p.endpoint[i] === endpoint) && (!region || within(p, region, i)) && (!keep || keep(i));
  let count = 0;
  for (let i = 0; i < p.count; i++) {
    if (!is(i)) continue;
    count++;
    rows[p.y[i]]++;
  }
  let row = 256; // from the slowest row on down to that with which there are enough
  for (let n = 0; row > 0 && n < most; row--) n += rows[row - 1];
  const list: number[] = [];
  for (let i = 0; i < p.count; i++) if (p.y[i] >= row && is(i)) list.push(i);
  return { count, slowest: list.sort((a, b) => p.duration[b] - p.duration[a] || a - b).slice(0, most) };
}

const within = (p: Points, r: Region, i: number): boolean => p.x[i] >= r.x0 && p.x[i] <= r.x1 && p.y[i] >= r.y0 && p.y[i] <= r.y1;

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
