// What the page works out without a browser: formats, filters, layouts; and who may import whom.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { load, src } from "./load.mjs";

test("durations and amounts of data are written as the terminal writes them", async () => {
  const { measured } = await load("base/format.ts");
  for (const { n, unit, text } of JSON.parse(readFileSync(new URL("human.json", import.meta.url)))) assert.equal(measured(n, unit), text);
});

test("an expression chooses as dwell show --where does", async () => {
  const { filterOf } = await load("model/filter.ts");
  const requests = [{ duration: 60e6, endpoint: "GET /a", status: 200 }, { duration: 5e6, endpoint: "GET /b", status: 503 }, { duration: 900e3, endpoint: "POST /a", status: 200 }];
  const fields = { duration: (i) => requests[i].duration, endpoint: (i) => requests[i].endpoint, status: (i) => requests[i].status };
  const chosen = (text) => requests.map((_, i) => i).filter(filterOf(fields, text));
  assert.deepEqual(chosen("duration>50ms"), [0]);
  assert.deepEqual(chosen("duration<=5ms and not endpoint~\"^POST\""), [1]);
  assert.deepEqual(chosen("status>=500 or duration<1ms"), [1, 2]);
  assert.deepEqual(chosen("(status=200 or status=503) && endpoint=\"GET /b\""), [1]);
  for (const [text, says] of [["duration>50", /no duration/], ["lock>1ms", /there are duration/], ["status>", /compared with/], ["(status=1", /not closed/], ["status=1 status=2", /what is "status" for/]]) {
    assert.throws(() => filterOf(fields, text), says, text);
  }
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
