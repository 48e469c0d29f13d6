// Looks every figure of the page up in what dwell prints of the same recording with --json.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { load } from "./load.mjs";

const format = await load("base/format.ts");
const { rowOf } = await load("model/load.ts");
const step = (name) => encodeURIComponent(name).replaceAll(".", "%2E");

/** What dwell prints of a recording, document by document, each asked for when a figure names it. */
export class Documents {
  constructor(run, recording, page) {
    this.run = (...args) => run(...args);
    this.json = (...args) => JSON.parse(this.run(...args, "--json"));
    this.lines = (...args) => this.run(...args, "--json").trim().split("\n").filter(Boolean).map((l) => JSON.parse(l));
    Object.assign(this, { recording, page, known: new Map() });
  }

  get(name, make) {
    if (!this.known.has(name)) this.known.set(name, make());
    return this.known.get(name);
  }

  /** Whether some document, or the text of dwell why, has the words; or at least each number in them. */
  said(text) {
    const all = this.get("said", () => [JSON.stringify([this.why(), this.show(), this.flames(), this.document("tree", []), this.page.dumps, this.page.frames]), this.run("why", this.recording, "--all"), format.day(this.why().recording.start_wall_ns ?? 0)].map((t) => t.replace(/\s/g, "")).join("")
      .replace(/"file":"(?:[^"]*\/)?([^"/]*)","line":(\d+)/g, '$& $1:$2')); // places in code are named as file:line
    return says(all, text);
  }

  why() { return this.get("why", () => this.json("why", this.recording)); }

  /** All requests by id, with sums of their segments. */
  show() {
    return this.get("show", () => Object.fromEntries(this.lines("show", this.recording).map((r) => {
      const by = { unaccounted: r.unaccounted_ns };
      for (const s of r.segments) by[s.cause] = (by[s.cause] ?? 0) + s.to_ns - s.from_ns;
      for (const s of r.segments) s.held = heldBy(s.wait?.holders ?? []);
      for (const c of r.calls ?? []) c.took_ns = c.to_ns - c.from_ns;
      return [r.id, { ...r, by, began_ns: r.start_ns - this.page.start_ns }];
    })));
  }

  /** Requests that the address chooses, or all others: how many, how long, by cause. */
  chosen(address, how) {
    const by = ["sel", "endpoint", "where"].map((name) => address.get(name) ?? "");
    return this.get(`chosen ${JSON.stringify([by, how])}`, () => this.summed(address, how));
  }

  summed(address, { where, rest }) {
    const [x0, x1, y0, y1] = address.get("sel")?.split(".").map(Number) ?? [0, Infinity, 0, Infinity];
    const kept = where && address.get("where") && new Set(this.lines("show", this.recording, "--where", address.get("where")).map((r) => r.id));
    const step = Math.max(1, Math.ceil(this.page.span_ns / 240));
    const out = { requests: 0, total_ns: 0, by: {} };
    for (const r of Object.values(this.show())) {
      if (r.cut || r.excluded || (address.get("endpoint") && r.endpoint !== address.get("endpoint")) || (kept && !kept.has(r.id))) continue;
      const [x, y] = [Math.min(Math.floor(Math.max(0, r.began_ns) / step), 239), rowOf(r.duration_ns)];
      if ((x >= x0 && x <= x1 && y >= y0 && y <= y1) === Boolean(rest)) continue;
      out.requests++;
      out.total_ns += r.duration_ns;
      for (const [cause, ns] of Object.entries(r.by)) out.by[cause] = (out.by[cause] ?? 0) + ns;
    }
    return out;
  }

  flames() {
    return this.get("flames", () => {
      const list = this.lines("show", this.recording, "--flames");
      for (const f of list) for (const of of [f.on_cpu, f.waiting]) of.by = of.rows.map(sumUp).reduce(added, {});
      return list;
    });
  }

  document(name, steps, address) {
    switch (name) {
      case "show": return this.show();
      case "chosen": return this.chosen(address, {});
      case "rest": return this.chosen(address, { rest: true });
      case "listed": return this.chosen(address, { where: true });
      case "flames": return this.flames();
      case "found": return { [steps[0]]: this.flames().map((f) => ({ endpoint: f.endpoint, on_cpu: found(f.on_cpu, decodeURIComponent(steps[0])), waiting: found(f.waiting, decodeURIComponent(steps[0])) })) };
      case "tree": return this.get("tree", () => this.lines("show", this.recording, "--tree"));
      case "threads": return { [steps[0]]: this.get(`threads ${steps[0]}`, () => ({ ...this.json("threads", this.recording, "--at", `+${steps[0]}ns`), at_ns: Number(steps[0]) })) };
      case "requesttree": return Object.fromEntries(this.page.requests.map((r) => [r.id, r.tree])); // told by the page alone
      case "under": return { [steps[0]]: { [steps[1]]: this.get(`under ${steps[0]} ${steps[1]}`, () => this.json("show", this.recording, "--under", decodeURIComponent(steps[0]), "--endpoint", decodeURIComponent(steps[1]), "--slowest", "10")) } };
    }
    return undefined;
  }

  /** The values that an expression may have: several where rows share a name. */
  values(of, address) {
    const terms = of.split(/ ([-+/]) /);
    let out = this.term(terms[0], address);
    for (let i = 1; i < terms.length; i += 2) {
      const by = this.term(terms[i + 1], address);
      const does = { "+": (a, b) => a + b, "-": (a, b) => a - b, "/": (a, b) => a / b }[terms[i]];
      out = out.flatMap((a) => by.map((b) => does(a, b)));
    }
    return out;
  }

  term(path, address) {
    if (/^\d+$/.test(path)) return [Number(path)];
    const steps = path.split(".");
    const doc = this.document(steps[0], steps.slice(1), address);
    let now = doc === undefined ? [this.why()] : [doc];
    for (const s of doc === undefined ? steps : steps.slice(1)) now = now.flatMap((v) => next(v, s)).filter((v) => v !== undefined && v !== null);
    return now.map(Number);
  }
}

/** What dwell prints of two recordings: of each as A and B, else of their difference. */
export class Pair extends Documents {
  constructor(run, pair) {
    super(run, "", { wall_ns: 0 });
    [this.A, this.B] = pair.map((path) => new Documents(run, path, {}));
  }
  why() { return this.get("diff", () => this.json("diff", this.A.recording, this.B.recording)); }
  document(name) {
    const of = this[name];
    return name === "A" || name === "B" ? { ...of.why(), flames: of.flames().map((f) => ({ ...f, total_ns: f.on_cpu.total_ns + f.waiting.total_ns })) } : undefined;
  }
  said(text) {
    const all = this.get("said", () => JSON.stringify([this.why(), this.A.why(), this.B.why(), this.A.flames(), this.B.flames(), [this.A, this.B].map((d) => [d.recording, format.day(d.why().recording.start_wall_ns ?? 0), format.seconds(d.why().recording.seconds)])]).replace(/\s/g, ""));
    return says(all, text);
  }
}

// One step down: to a row by its name behind an @, else to a member; of sums by cause, what is not there took no time.
function next(v, s) {
  if (s.startsWith("@")) {
    const name = decodeURIComponent(s.slice(1));
    return (Array.isArray(v) ? v : (v.rows ?? [])).filter((r) => r.name === name || r.endpoint === name);
  }
  return v[s] === undefined && Object.values(v).every((x) => typeof x === "number") ? [0] : [v[s]];
}

// Whether documents have a text; what stands together on the page, as a name and a pid, may stand apart in them.
function says(all, text) {
  const plain = JSON.stringify(text).slice(1, -1).replaceAll("\\\\u", "\\u").replace(/\s/g, "");
  return all.includes(plain) || text.split(/[\s(),]+/).filter((w) => /\d/.test(w)).every((w) => all.includes(w));
}

const added = (a, b) => {
  for (const [k, v] of Object.entries(b)) a[k] = (a[k] ?? 0) + v;
  return a;
};

// Gives each row of a flame graph its sums by cause, with what is beneath it.
function sumUp(row) {
  row.by = (row.rows ?? []).map(sumUp).reduce(added, { ...row.causes });
  return row.by;
}

// The time beneath the outermost rows of which the name, or the file, has the text.
function found(of, text) {
  const out = { total_ns: 0, by: {} };
  const walk = (rows) => rows.forEach((r) => {
    if (!`${r.function} ${r.name} ${r.file ?? ""}`.toLowerCase().includes(text)) return walk(r.rows ?? []);
    out.total_ns += r.total_ns;
    added(out.by, r.by);
  });
  walk(of.rows);
  return out;
}

function heldBy(holders) {
  const out = {};
  for (const h of holders) {
    const sum = (out[step(`${h.strand} ${h.basis}`)] ??= { took_ns: 0, times: 0, doing: {} });
    sum.took_ns += h.to_ns - h.from_ns;
    sum.times++;
    for (const d of h.doing) added(sum.doing, { [step([d.cause, d.peer, d.for, d.place?.function].join(" "))]: d.took_ns });
  }
  return out;
}

/** Compares every figure that is seen now with the documents; returns how many. */
export async function compare(page, documents, where) {
  const { figures, names, bare, hash } = await page.evaluate(seen);
  const address = new URLSearchParams(hash);
  const wrong = [];
  for (const f of figures) {
    const values = f.of.includes(step("(smaller ones)")) ? null : documents.values(f.of, address);
    if (values && !values.some((v) => fits(f, v, documents))) wrong.push(`${JSON.stringify(f)} is ${values.join(" or ") || "nowhere"} by --json`);
  }
  for (const text of names) if (!documents.said(text)) wrong.push(`"${text}" is said nowhere else`);
  for (const text of bare) wrong.push(`"${text}" does not say what it is of`);
  assert.deepEqual([...new Set(wrong)].slice(0, 10), [], where);
  return figures.length;
}

function fits(f, v, documents) {
  if (f.label !== undefined) return f.label.includes(format.human(v));
  if (f.clock) return near(f.value, v) && [0, 3].some((digits) => f.text === format.clock(documents.page.wall_ns, v, digits));
  const shown = [format.human(Math.round(v)), format.percent(v), format.thousands(v), format.seconds(v), v.toFixed(2), String(v), `#${v}`, ...["per_second", "ratio", "bytes", "bytes_per_second"].map((unit) => format.measured(v, unit))];
  return near(f.value, v) && shown.includes(f.text);
}

// Means are whole nanoseconds.
const near = (shown, v) => Math.abs(shown - v) <= (Number.isInteger(shown) && !Number.isInteger(v) && v > 10 ? 1 : 1e-9 * Math.max(1, Math.abs(v)));

// In the browser: figures that say what they are of, names with digits in them, and what is neither.
function seen() {
  const out = { figures: [], names: [], bare: [], hash: location.hash.slice(1) };
  for (const e of document.querySelectorAll("[data-of]")) {
    const of = e.dataset.of;
    if (of === "drawn" || !e.checkVisibility()) continue;
    if (e.tagName === "DATA") out.figures.push({ of, value: Number(e.value), text: e.textContent });
    else if (e.tagName === "TIME") out.figures.push({ of, value: Number(e.dataset.at), text: e.textContent, clock: true });
    else out.figures.push({ of, label: e.getAttribute("aria-label") });
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (!/\d/.test(n.data) || e.closest("[data-of], script, style, kbd, option, .tick, svg .name, .tip, button.link") || !e.checkVisibility()) continue;
    if (e.closest("bdi, code, pre, svg")) out.names.push(n.data);
    else if (/(^|[^\w#.])\d/.test(n.data)) out.bare.push(n.data);
  }
  return out;
}
