// The same expressions choose the same requests of a recording in a file, on a served page, and by dwell show --where.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { go, soon, visit } from "./browser.mjs";
import { load } from "./load.mjs";
import { lines, recordings, Reports, served } from "./reports.mjs";

const { filterOf } = await load("model/filter.ts");
const { fieldsOf } = await load("model/known.ts");
const { pointsOf } = await load("model/load.ts");
const { summed } = await load("base/column.ts");

const reports = new Reports();
let page;
before(async () => { page = await reports.open(); });
after(() => reports.close());

// Expressions that ask for each field, made of what there is in a recording.
function* expressions(fields) {
  for (const [name, of] of Object.entries(fields)) {
    const field = of();
    if ("texts" in field) {
      for (const text of some(field.texts)) yield* [`${name}=${quoted(text)}`, `${name}!~${quoted("^" + pattern(text.slice(0, 6)))}`, `not ${name}~${quoted(pattern(text.slice(-4)) + "$")}`];
      yield* [`${name}~.`, `${name}!=nothing`, `${name}~"(?i)[A-F].*\\d"`];
    } else {
      const [unit, least] = field.duration ? ["ns", "1.5ms"] : ["", "1"];
      for (const n of some([...field.numbers].sort((a, b) => a - b))) yield* [`${name}>${n}${unit}`, `${name}<=${n}${unit}`, `${name}=${n}${unit}`];
      yield* [`${name}!=0${unit}`, `${name}>=${least}`];
    }
  }
}

// The first, the last, and one in the middle, of those that differ.
function some(list) {
  const all = [...new Set(list)];
  return new Set(all.length ? [all[0], all[all.length >> 1], all.at(-1)] : []);
}

const quoted = (text) => (text.includes('"') ? `'${text}'` : `"${text}"`);
const pattern = (text) => text.replace(/[\\^$.*+?()[\]{}|"']/g, ".");

const joined = ["(duration>5ms or status>=400) and not call~GET", "lock>1ms || on-cpu>1ms && new=1", "connect>0ns or calls>2 and remote>1ms"];

for (const name of Object.keys(recordings)) {
  test(`${name}: each field, in a file, on a served page, and by dwell show --where`, async () => {
    await visit(page, reports.address(name, "view=requests"));
    const model = await reports.model();
    const points = pointsOf(model.latency);
    const fields = fieldsOf(model, points);
    const own = new Set(points.id);
    const shown = (text) => lines("show", recordings[name], `--where=${text}`, "--json").map((r) => r.id).filter((id) => own.has(id));
    const server = await served(name);
    try {
      const telling = new Map(joined.map((text) => [text, text])); // one of each field that chooses some and not others
      for (const text of [...expressions(fields), ...joined]) {
        const keep = filterOf(fields, text);
        const chosen = [...points.id].filter((_, i) => keep(i));
        const answer = await (await fetch(`${server.address}where.json?where=${encodeURIComponent(text)}`)).json();
        assert.deepEqual(chosen, [...summed(answer.ids)].filter((id) => own.has(id)), text);
        if (chosen.length > 0 && chosen.length < own.size) telling.set(/[\w-]+(?=[^\w-])/.exec(text.replace(/^not /, ""))[0], text);
      }
      assert.ok(telling.size > 12, `only ${[...telling.keys()]} tell requests apart`);
      for (const [n, text] of [...telling.values()].entries()) {
        const want = shown(text);
        const keep = filterOf(fields, text);
        assert.deepEqual([...points.id].filter((_, i) => keep(i)), want, text);
        if (n % 3 > 0) continue; // the page itself asks the same functions
        await go(page, `view=requests&rows=9999&where=${encodeURIComponent(text)}`);
        const listed = await page.locator("table.requests tbody th").allInnerTexts();
        assert.deepEqual(listed.map((id) => Number(id.slice(1))).sort((a, b) => a - b), want, text);
      }
    } finally {
      server.close();
    }
  });
}

test("a field that there is not is answered with all that there are, by a file as by a served page", async () => {
  const said = (page) => page.locator("[role=alert]").innerText();
  await visit(page, reports.address("demo", "view=requests&where=colour%3Dred"));
  const here = await said(page);
  assert.match(here, /"colour" is nothing that requests have: there are duration, .*cause, client, thread, call, peer, .*lock.*, unaccounted$/);
  const server = await served("demo");
  const other = await reports.browser.context.newPage(); // whose console tells of an answer that is an error, as it is to be
  try {
    await visit(other, `${server.address}#view=requests&where=colour%3Dred`);
    await soon(async () => assert.equal(await said(other), here));
    await go(other, `view=requests&where=${encodeURIComponent("connect>0ns and call~.")}`);
    const want = lines("show", recordings.demo, "--where=connect>0ns and call~.", "--json").length;
    await other.getByText(`${want} requests, the slowest first`).waitFor();
  } finally {
    server.close();
  }
});

reports.nothingWrong();
