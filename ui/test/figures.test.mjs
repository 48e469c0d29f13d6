// Holds every number on the pages of the incident cases against what dwell prints with --json, on the way from a spike to its reason.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addressOf, drawn, go, soon, visit } from "./browser.mjs";
import { compare, Pair } from "./figures.mjs";
import { cases, pair, printed, recordings, Reports } from "./reports.mjs";

const reports = new Reports();
let page;
before(async () => { page = await reports.open(); });
after(() => reports.close());

// All that a page shows at an address, and less is seen on others.
const everything = ["", "view=verdict&open=minor.refuted.undecided", "view=requests", "view=requests&color=generation", "view=requests&color=endpoint&sel=60.140.80.110&where=duration%3E1ms",
  "view=request", "view=request&beside=1", "view=threads", "view=threads&dump=1", "view=flames&part=waiting", "view=flames&part=cpu&find=e", "view=tree", "view=tree&of=ordinary", "view=tree&of=request", "view=calls"];

for (const name of Object.keys(recordings)) {
  test(`${name}: the verdict comes first, and each number on the page is that of --json`, async () => {
    await visit(page, reports.address(name));
    const documents = await reports.documents(name);
    const want = documents.why();
    assert.ok((await page.locator("h1").innerText()).length > 20);
    for (const f of want.findings) assert.ok((await page.locator("main").innerText()).includes(f.id), f.id);
    let compared = 0;
    for (const view of everything) {
      await go(page, view);
      assert.ok((await page.locator("main").innerText()).length > 20, view);
      compared += await compare(page, documents, `${name}, ${view}`);
    }
    assert.ok(compared > 300, `only ${compared} numbers were compared`);
  });
}

test("a number that --json does not have is noticed, and one that does not say what it is of", async () => {
  await visit(page, reports.address("demo"));
  const documents = await reports.documents("demo");
  for (const [change, says] of [
    [() => { document.querySelector("data").textContent = "77 ms"; }, /77 ms.* by --json/],
    [() => { document.querySelector("data").value = "77"; }, /"value":77/],
    [() => { document.querySelector("main").append("about 3 more"); }, /does not say what it is of/],
    [() => { document.querySelector("h1 bdi").textContent = "It takes 77.7 ms"; }, /said nowhere else/],
  ]) {
    await visit(page, reports.address("demo"));
    await page.evaluate(change);
    await assert.rejects(compare(page, documents, "changed"), says);
  }
});

for (const name of cases) {
  test(`${name}: from a spike to its slowest request and who held it up, by process, in the flame graph, and as an address`, async () => {
    await visit(page, reports.address(name, "view=requests"));
    const documents = await reports.documents(name);
    const box = await page.locator(".brush").boundingBox();
    await page.mouse.move(box.x + box.width * 0.2, box.y + 24);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, box.y + box.height * 0.55, { steps: 4 });
    await page.mouse.up();
    await drawn(page);
    await compare(page, documents, `${name}, brushed`);
    const first = page.locator("table.requests tbody tr").first();
    const slowest = Number(await first.locator("td data").first().getAttribute("value"));
    await page.locator(".brush").press("Enter");
    await page.waitForSelector("#request");
    const opened = documents.show()[new URLSearchParams(new URL(await addressOf(page)).hash.slice(1)).get("req")];
    assert.equal(opened.duration_ns, slowest);
    const holds = Object.values(documents.show()).filter((r) => r.segments.some((s) => s.wait?.holders?.length) && documents.page.requests.some((q) => q.id === r.id));
    if (holds.length > 0) {
      await go(page, `view=request&req=${holds[0].id}`);
      await page.keyboard.press("h");
      await page.locator(".holder.chosen").first().waitFor();
      await soon(async () => assert.ok((await page.locator("path.arrow.chosen").count()) > 0));
      await compare(page, documents, `${name}, a holder`);
    } else assert.ok(!["credentials", "price-api", "statsd"].includes(name), "who held what was waited for is known there");
    await page.keyboard.press("2");
    for (let i = 0; i < 2; i++) await page.keyboard.press("c");
    await soon(async () => assert.equal(await page.locator("table.processes tbody tr").count(), documents.why().processes.length));
    if (documents.page.flames.some((f) => f.waiting.rows.length > 0)) { // it has stacks
      await page.keyboard.press("5");
      const graph = documents.flames().find((f) => f.waiting.rows.length > 0);
      await go(page, `view=flames&part=waiting&endpoint=${encodeURIComponent(graph.endpoint)}`);
      await page.keyboard.press("/");
      await page.keyboard.type(graph.waiting.rows[0].name);
      await page.locator(".block.hit").first().waitFor();
      await compare(page, documents, `${name}, found`);
      const { endpoints: [{ name: endpoint }], query } = documents.page.under[0];
      const blocks = page.locator(`.block[aria-label^="${query}, "]`);
      for (const part of ["waiting", "cpu"]) if ((await blocks.count()) === 0) await go(page, `view=flames&part=${part}&endpoint=${encodeURIComponent(endpoint)}`);
      await blocks.first().dispatchEvent("click");
      await page.locator("#under").waitFor();
      await compare(page, documents, `${name}, the time under a function`);
    }
    await reports.sameElsewhere();
  });

  test(`${name}: beside its fixed twin, each number is that of dwell diff --json`, async () => {
    await visit(page, reports.address(`${name}-diff`, "", ["diff", ...pair(name)]));
    assert.match(await page.locator("h1").innerText(), /p50 .* became .*/);
    assert.ok((await page.locator(".block").count()) > 3 || name === "surround-vote");
    assert.equal(await page.locator("canvas").count(), 2);
    const compared = await compare(page, new Pair(printed, pair(name)), `${name}, both`);
    assert.ok(compared >= 20, `${compared} numbers`);
  });
}

reports.nothingWrong();
