// What the page works out without a browser: formats, filters, layouts; and who may import whom.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { load, src } from "./load.mjs";
import { dwell, model, recordings, root } from "./reports.mjs";

const pointsOf = async (page) => (await load("model/load.ts")).pointsOf(page.latency);


test("durations and amounts of data are written as the terminal writes them", async () => {
  const { measured } = await load("base/format.ts");
  for (const { n, unit, text } of JSON.parse(readFileSync(new URL("human.json", import.meta.url)))) assert.equal(measured(n, unit), text);
});

test("a regular expression matches as Go's does, or is refused", async () => {
  const { regexp } = await load("base/regexp.ts");
  const { texts, examples } = JSON.parse(readFileSync(new URL("regexps.json", import.meta.url)));
  for (const { pattern, wrong, matches } of examples) {
    if (wrong) assert.throws(() => regexp(pattern), pattern);
    else assert.deepEqual(texts.flatMap((t, i) => (regexp(pattern).test(t) ? [i] : [])), matches, `${pattern} is ${regexp(pattern)}`);
  }
  for (const refused of ["a(?i)b", "\\012"]) assert.throws(() => regexp(refused), /not taken here|invalid escape/);
});

test("columns, lists and what differs by a number are read", async () => {
  const { column, summed, lists } = await load("base/column.ts");
  const written = (wide, ...bytes) => Buffer.from([wide, ...bytes]).toString("base64");
  assert.deepEqual([...column("")], []);
  assert.deepEqual([...column(written(2, 1, 2, 3, 0, 1, 0))], [1, 258, 3]);
  assert.deepEqual([...summed(written(1, 5, 1, 1))], [5, 6, 7]);
  assert.deepEqual(lists(written(1, 2, 7, 8, 0, 1, 9)), [[7, 8], [], [9]]);
});

test("an expression chooses as dwell show --where does", async () => {
  const { filterOf } = await load("model/filter.ts");
  const texts = (...list) => () => ({ texts: list, sets: list.map((_, i) => [i]), set: list.map((_, i) => i) });
  const fields = { duration: () => ({ numbers: [60e6, 5e6, 900e3], duration: true }), status: () => ({ numbers: [200, 503, 200] }), endpoint: texts("GET /a", "GET /b", "POST /a"),
    call: () => ({ texts: ["GetItem at db", "x"], sets: [[], [0, 1]], set: [0, 1, 1] }) };
  const chosen = (text) => [0, 1, 2].filter(filterOf(fields, text));
  assert.deepEqual(chosen("duration>50ms"), [0]);
  assert.deepEqual(chosen("duration<=5ms and not endpoint~\"^POST\""), [1]);
  assert.deepEqual(chosen("status>=500 or duration<1ms"), [1, 2]);
  assert.deepEqual(chosen("(status=200 or status=503) && endpoint=\"GET /b\""), [1]);
  assert.deepEqual(chosen("call~Item and endpoint='POST /a'"), [2]);
  assert.deepEqual(chosen("call!~Item || status=503"), [0, 1]);
});

test("an expression that is wrong says what dwell show --where says", async () => {
  const { filterOf } = await load("model/filter.ts");
  const { fieldsOf } = await load("model/known.ts");
  const page = model("demo");
  const fields = fieldsOf(page, await pointsOf(page));
  for (const text of [" ", "duration", "duration>", "duration>50", "duration>fast", "duration>-1ms", "duration~50ms", "endpoint>x", "status=ok", "status=1.5", "colour=red", "constructor=1", "(id=1", "id=1 id=2", "'GetItem'",
    "id=1 and", "id=1 & id=2", "id=)", "'id'=1", "id'='1", "id=1 'and' id=2", "(".repeat(200), "not ".repeat(99), "a".repeat(5000), "é".repeat(2050)]) {
    const said = spawnSync(dwell, ["show", recordings.demo, `--where=${text}`, "--json"], { cwd: root }).stderr.toString();
    assert.throws(() => filterOf(fields, text), (e) => said.includes(e.message) && e.message.length > 10, `${text.slice(0, 40)}: ${said}`);
  }
  assert.throws(() => filterOf(fields, 'endpoint~"("'), /^Error: endpoint~"\(": /);
});

// thread   [on-cpu][ lock       ]
// call                            (none)
// holder           [remote      ]   one bar, though it is told in two spans
test("a waterfall leads from a wait to who had it", async () => {
  const { waterfall } = await load("layout/waterfall.ts");
  const hold = (from, to) => ({ strand: "b #2", from_ns: from, to_ns: to, basis: "release", doing: [{ cause: "remote", took_ns: to - from, peer: "db" }] });
  const w = waterfall({
    duration_ns: 100, calls: [], stacks: [], unaccounted_ns: 0,
    segments: [{ from_ns: 0, to_ns: 20, phase: "handler", cause: "on-cpu", strand: "a #1" },
      { from_ns: 20, to_ns: 100, phase: "handler", cause: "lock", strand: "a #1", wait: { from_ns: 20, to_ns: 100, holders: [hold(20, 60), hold(60, 100)] } }],
  });
  assert.deepEqual(w.lanes.map((l) => `${l.kind} ${l.name}`), ["strand a #1", "holder b #2"]);
  assert.deepEqual(w.bars.map((b) => [b.kind, b.lane, b.from, b.to, b.label]), [["segment", 0, 0, 20, "on-cpu"], ["segment", 0, 20, 100, "lock"], ["hold", 1, 20, 100, "remote db"]]);
  assert.deepEqual(w.arrows.map((a) => [a.segment, a.from.lane, a.to.lane]), [[1, 0, 1]]);
});

// 0        40      60       100 ns   x = 62 + 3 ns
// [ window ]        [ window ]
//    [lost]
test("what was not recorded is shaded, and what was lost", async () => {
  Object.assign(globalThis, { devicePixelRatio: 1, innerWidth: 1280 });
  const { draw, margin } = await load("draw/chart.ts");
  const filled = [];
  const g = new Proxy({ fillRect: (...box) => filled.push([g.fillStyle, ...box.map(Math.round)]), measureText: () => ({ width: 9 }) }, { get: (of, name) => of[name] ?? (() => {}) });
  const none = { count: 0, start: [], duration: [], endpoint: [] };
  draw({ clientWidth: 376, clientHeight: 292, getContext: () => g }, {
    page: { wall_ns: 0, span_ns: 100, report: { processes: [] }, latency: { cells: { step_ns: 1 }, windows: [{ from_ns: 0, to_ns: 40 }, { from_ns: 60, to_ns: 100 }], losses: [{ from_ns: 10, to_ns: 30 }] } },
    points: none, endpoint: -1, of: [], palette: [], domain: { x0: 0, x1: 99, y0: 40, y1: 60 }, ink: "ink", faint: "rested", slos: [], colors: {},
  });
  const tall = 292 - margin.bottom - margin.top;
  assert.deepEqual(filled, [["rested", 182, margin.top, 60, tall], ["rgba(213, 62, 62, .16)", 92, margin.top, 60, tall]]);
});

// row 1 (slow)  .  .  2
// row 0         0  1  3     of two columns and a third
test("of a region's requests the slowest are listed, and all are counted", async () => {
  const { pointsIn } = await load("model/load.ts");
  const points = { count: 4, x: [0, 1, 2, 2], y: [0, 0, 1, 0], duration: [1, 2, 5, 1], endpoint: [0, 1, 0, 0] };
  const cells = { count: 4, endpoint: [0, 0, 0, 1], x: [0, 2, 2, 1], y: [0, 0, 1, 0], requests: [1, 1, 1, 1] };
  const chosen = (x0, x1, endpoint = -1, keep) => pointsIn(points, cells, { region: { x0, x1, y0: 0, y1: 1 }, endpoint, keep }, 2);
  assert.deepEqual(chosen(0, 2), { count: 4, slowest: [2, 1] });
  assert.deepEqual(chosen(0, 1), { count: 2, slowest: [1, 0] });
  assert.deepEqual(chosen(0, 2, 0), { count: 3, slowest: [2, 0] });
  assert.deepEqual(chosen(0, 2, -1, [1, 0, 0, 1]), { count: 2, slowest: [0, 3] });
});

test("a name that has no room is cut at a letter, or left out", async () => {
  const { roomFor } = await load("base/format.ts");
  assert.deepEqual([40, 33, 24, 19].map((wide) => roomFor("running", wide, 5)), [40, 30, 20, 0]);
  assert.equal(roomFor("gc", 12, 5), 10);
});

test("a flame graph of one cause is as wide as that cause", async () => {
  const { flame } = await load("layout/flame.ts");
  const rows = [{ name: "main", total_ns: 100, self_ns: 10, causes: { "on-cpu": 10 }, rows: [{ name: "get", total_ns: 90, self_ns: 90, causes: { lock: 60, remote: 30 } }] }];
  assert.deepEqual(flame(rows, 100, "").map((b) => [b.row.name, b.depth, b.width, b.cause]), [["main", 0, 1, "lock"], ["get", 1, 0.9, "lock"]]);
  assert.deepEqual(flame(rows, 100, "remote").map((b) => [b.row.name, b.width]), [["main", 0.3], ["get", 0.3]]);
});

test("rooms import as the README says", () => {
  const may = { base: ["model"], model: ["base"], layout: ["base", "model"], draw: ["base", "model", "layout"], state: ["model", "views"], views: ["base", "model", "layout", "draw", "state"] };
  for (const room of Object.keys(may)) {
    for (const file of readdirSync(join(src, room))) {
      for (const [, from] of readFileSync(join(src, room, file), "utf8").matchAll(/from "(\.[^"]+)"/g)) {
        const to = relative(src, join(src, room, dirname(file), from)).split("/")[0];
        assert.ok(to === room || may[room].includes(to), `${room}/${file} imports ${from}`);
      }
    }
  }
});
