import { neighbour, pointsIn } from "../model/load";
import { colorings } from "../views/legend";
import { chosenEndpoint, pan, regionOf, zoomed } from "../views/chart";
import type { Context } from "../views/parts";
import { get, set } from "./url";

export const views = ["verdict", "requests", "request", "threads", "flames", "tree", "calls"] as const;

/** Does what a key stands for; reports whether it stood for something. */
export function pressed(e: KeyboardEvent, c: Context): boolean {
  const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  if (get("help") && !typing) return e.key === "Escape" || e.key === "?" ? went({ help: "" }) : false; // the page beneath rests
  if (typing) {
    if (e.key === "Escape") (e.target as HTMLElement).blur();
    return false;
  }
  const n = Number(e.key);
  if (n >= 1 && n <= views.length) return went({ view: n === 1 ? "" : views[n - 1] });
  switch (e.key) {
    case "?": return went({ help: "1" });
    case "t": return went({ theme: { "": "dark", dark: "light", light: "" }[get("theme")] ?? "" });
    case "c": return went({ color: next() });
    case "/": return focus();
    case "z": return zoom(c);
    case "w": return went(pan(c, 0, 0.5));
    case "s": return went(pan(c, 0, 2));
    case "a": return went(pan(c, -0.2));
    case "d": return went(pan(c, 0.2));
    case "x": return went({ zoom: "" });
    case "b": return went({ beside: get("beside") ? "" : "1" });
    case "j": return step(c, 1);
    case "k": return step(c, -1);
    case "n": return piece(c, 1);
    case "p": return piece(c, -1);
    case "h": return follow(c);
    case "Enter": return slowest(e, c);
    case "Escape": return went({ sel: "", into: "" });
  }
  return false;
}

function went(changes: Record<string, string>): boolean {
  set(changes, "view" in changes);
  return true;
}

function next(): string {
  const now = colorings.findIndex((x) => x === (get("color") || "cause"));
  const to = colorings[(now + 1) % colorings.length];
  return to === "cause" ? "" : to;
}

function focus(): boolean {
  (document.getElementById("search") ?? document.getElementById("where"))?.focus();
  return true;
}

function zoom(c: Context): boolean {
  const r = regionOf("sel");
  return r ? went({ zoom: zoomed(c, r), sel: "" }) : false;
}

function slowest(e: KeyboardEvent, c: Context): boolean {
  if (!(e.target as HTMLElement).classList.contains("brush")) return false;
  const { slowest } = pointsIn(c.points, c.cells, { region: regionOf("sel"), endpoint: chosenEndpoint(c) }, 500);
  const first = slowest.find((i) => c.details.has(c.points.id[i]));
  return first === undefined ? false : went({ view: "request", req: String(c.points.id[first]), seg: "", hold: "" });
}

function step(c: Context, by: number): boolean {
  const id = Number(get("req") || c.page.report!.endpoints[0]?.slowest_request);
  const to = neighbour(c.points, c.details, id, by);
  return to === undefined ? false : went({ req: String(to), seg: "", hold: "" });
}

function piece(c: Context, by: number): boolean {
  const r = c.details.get(Number(get("req") || c.page.report!.endpoints[0]?.slowest_request));
  if (!r) return false;
  const now = get("seg") === "" ? (by > 0 ? -1 : r.segments.length) : Number(get("seg"));
  const to = now + by;
  return r.segments[to] ? went({ seg: String(to), hold: "", call: "" }) : false;
}

// To the longest wait whose holder is known, and to that.
function follow(c: Context): boolean {
  const r = c.details.get(Number(get("req") || c.page.report!.endpoints[0]?.slowest_request));
  if (!r) return false;
  const held = (i: number) => (r.segments[i]?.wait?.holders ?? []).length > 0;
  let at = Number(get("seg") || -1);
  if (!held(at)) {
    at = -1;
    r.segments.forEach((s, i) => {
      const best = r.segments[at];
      if (held(i) && (!best || s.to_ns - s.from_ns > best.to_ns - best.from_ns)) at = i;
    });
  }
  return at < 0 ? false : went({ seg: String(at), hold: r.segments[at].wait!.holders![0].strand, call: "" });
}
