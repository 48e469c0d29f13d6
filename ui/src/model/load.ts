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
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${(await answer.text()) || answer.statusText} (is dwell view still running?)`);
  return answer.json();
}

/** The measured requests as columns, in order of start. */
export interface Points {
  count: number;
  id: Float64Array;
  start: Float64Array;
  duration: Float64Array;
  endpoint: Float64Array;
  cause: Float64Array;
  generation: Float64Array;
  status: Float64Array;
}

export function pointsOf(l: WebLatency): Points {
  const c = l.columns;
  const n = l.count;
  return {
    count: n, id: summed(c.id, n), start: summed(c.start, n), duration: column(c.duration, n), endpoint: column(c.endpoint, n),
    cause: column(c.cause, n), generation: column(c.generation, n), status: column(c.status, n),
  };
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

/** The row of cells that a duration lies in; as in the model. */
export function rowOf(ns: number): number {
  if (ns < 4) return Math.max(0, ns);
  const n = Math.floor(Math.log2(ns));
  const exact = 2 ** n > ns ? n - 1 : 2 ** (n + 1) <= ns ? n + 1 : n;
  return exact * 4 + (Math.floor(ns / 2 ** (exact - 2)) & 3);
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

/** The requests in a region, the slowest first, as indexes of the points. */
export function pointsIn(p: Points, step: number, region: Region | null, endpoint: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < p.count; i++) {
    if (endpoint >= 0 && p.endpoint[i] !== endpoint) continue;
    if (region) {
      const x = Math.min(Math.floor(p.start[i] / step), 239);
      const y = rowOf(p.duration[i]);
      if (x < region.x0 || x > region.x1 || y < region.y0 || y > region.y1) continue;
    }
    out.push(i);
  }
  return out.sort((a, b) => p.duration[b] - p.duration[a]);
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
