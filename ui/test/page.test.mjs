// Drives the page over the recordings of the incident cases, as somebody would who looks for the reason.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { addressOf, drawn, go, soon, visit } from "./browser.mjs";
import { dwell, json, lines, recordings, Reports, root, served } from "./reports.mjs";

const reports = new Reports();
let page;
before(async () => { page = await reports.open(); });
after(() => reports.close());

test("a spike is brushed, its slowest request opened, and the arrow followed to who held the lock", async () => {
  await visit(page, reports.address("credentials", "view=requests"));
  const box = await page.locator(".brush").boundingBox();
  const all = Number(await page.locator("#chosen-count").innerText());
  await page.mouse.move(box.x + box.width * 0.32, box.y + 22);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.45, box.y + box.height * 0.35, { steps: 5 });
  await page.mouse.up();
  await drawn(page);
  const chosen = Number(await page.locator("#chosen-count").innerText());
  assert.ok(chosen > 10 && chosen < all, `${chosen} of ${all} chosen`);
  assert.match(await page.locator("#chosen + table tbody tr").first().innerText(), /lock/);
  const rows = await page.locator("table.requests tbody tr td:nth-child(2) data").evaluateAll((l) => l.map((d) => Number(d.value)));
  assert.equal(rows.length, chosen);
  assert.deepEqual(rows, [...rows].sort((a, b) => b - a));
  await page.locator(".brush").press("Enter");
  await page.waitForSelector("#request");
  const shown = lines("show", recordings.credentials, "--json").find((r) => r.duration_ns === rows[0]);
  await soon(async () => assert.match(await page.locator("#request h2").innerText(), new RegExp(`^#${shown.id} `)));
  await page.keyboard.press("j"); // a faster one, which waited for the lock
  await page.keyboard.press("h");
  const holder = page.locator(".holder.chosen").first();
  await holder.waitFor();
  await soon(async () => assert.match(await holder.innerText(), /puma srv tp .* remote for localhost/s));
  await soon(async () => assert.ok((await page.locator("path.arrow.chosen").count()) > 0));
});

test("a call says by which rule it is the request's, how sure that is, and what that means", async () => {
  await visit(page, reports.address("credentials", "view=request"));
  const model = await reports.model();
  const [request, call] = model.requests.flatMap((r) => r.calls.map((x) => [r, x])).find(([, x]) => x.associated === "thread");
  await go(page, `view=request&req=${request.id}&call=${call.id}`);
  const said = () => page.locator("#piece").innerText();
  await soon(async () => assert.match(await said(), /It is this request’s: a fact tells\. The thread that sent it served this request and no other\./));
  assert.doesNotMatch(await said(), /names the request/);
  await page.getByText("what that rests on").click();
  await soon(async () => assert.match(await said(), /what was recorded names the request.*The rule is thread/s));
  assert.match(await addressOf(page), /open=whose/);
});

test("frames of a stack and their source are open or not by the address", async () => {
  await visit(page, reports.address("code", "view=request", ["report", recordings["price-api"], "--source-root", "cases/price-api"]));
  const model = await reports.model();
  const place = model.requests.flatMap((r) => r.stacks.map((s) => [r.id, s])).find(([, s]) => s.frames.some((f) => model.frames[f].code));
  assert.ok(place, "a frame has lines of source");
  await go(page, `view=request&req=${place[0]}&seg=${place[1].segment}`);
  await page.locator("details.source summary").first().click();
  await page.locator("pre.code .at").first().waitFor();
  assert.match(await addressOf(page), /open=code-\d+/);
  await reports.sameElsewhere();
  await go(page, "view=threads");
  await page.locator("details.frames summary").first().click();
  assert.match(await addressOf(page), /open=stack-\d+/);
  await reports.sameElsewhere();
});

test("the address alone leads a colleague to the same view", async () => {
  await visit(page, reports.address("surround-vote", "view=requests"));
  await page.keyboard.press("c");
  await page.keyboard.press("c");
  await page.locator("#where").fill("duration>50ms");
  await soon(async () => assert.equal(await page.locator(".choice button[aria-pressed=true]").innerText(), "process"));
  assert.match(await addressOf(page), /color=generation/);
  await reports.sameElsewhere();
});

// What is chosen with each control stands in the address, so that a copied link shows it; apart from how far a page is
// scrolled, and at what a pointer rests (docs/decisions/0017).
test("whatever is pressed changes the address", async () => {
  await visit(page, reports.address("credentials"));
  const pressed = async (view) => {
    await go(page, view);
    return page.evaluate(async (view) => {
      const same = [];
      const list = () => [...document.querySelectorAll("main button:not(:disabled, [aria-pressed=true]), main select, main summary, main a, main input, .head button")].filter((e) => e.checkVisibility());
      const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const kinds = {};
      for (let i = 0; i < list().length; i++) {
        const e = list()[i];
        const kind = `${e.tagName} ${e.className} ${e.closest("section, article, header")?.className} ${e.closest("td, th, li")?.cellIndex}`;
        if ((kinds[kind] = (kinds[kind] ?? 0) + 1) > 2) continue; // as the others of its table, which a browser would not take so fast
        const what = e.outerHTML.slice(0, 120);
        const before = location.hash;
        if (e.matches("select, input")) {
          if (e.matches("select")) e.selectedIndex = (e.selectedIndex + 1) % e.options.length;
          else e.value = "a";
          e.dispatchEvent(new Event(e.matches("select") ? "change" : "input", { bubbles: true }));
        } else e.click();
        if (location.hash === before && !/how often it was entered/.test(e.textContent)) same.push(what); // that scrolls
        history.replaceState(null, "", "#" + view);
        dispatchEvent(new Event("hashchange"));
        await drawn();
      }
      return same;
    }, view);
  };
  for (const view of ["", "view=requests", "view=requests&sel=60.140.80.110&zoom=1000000000.3000000000.60.120", "view=request&req=40", "view=request&beside=1", "view=threads&span=1000000000.3000000000", "view=flames", "view=tree", "view=tree&of=request"]) {
    assert.deepEqual(await pressed(view), [], view);
  }
});

test("a link carries what is chosen, to be opened in a tab of its own", async () => {
  await visit(page, reports.address("credentials", "view=requests&theme=dark&where=cause%3Dlock"));
  const to = new URLSearchParams((await page.locator("nav a", { hasText: "Threads" }).getAttribute("href")).slice(1));
  assert.deepEqual(Object.fromEntries(to), { view: "threads", theme: "dark", where: "cause=lock" });
});

test("the slider plays what a change of the server would do", async () => {
  const recording = "cases/credentials/recording-client-bad.txt";
  const want = json("why", recording, "--json");
  await visit(page, reports.address("client", "", ["report", recording]));
  const plays = [...want.findings, ...want.leads].find((f) => f.what_if).what_if;
  await page.locator(".whatif button", { hasText: "load" }).first().click();
  await page.locator(".whatif input").first().press("Home"); // the least load
  const least = plays.filter((p) => p.change.startsWith("load")).sort((a, b) => parseFloat(a.change.slice(6)) - parseFloat(b.change.slice(6)))[0];
  await soon(async () => assert.ok((await page.locator(".whatif").first().innerText()).includes(least.words)));
  assert.equal(Number(await page.locator(".whatif data").nth(1).getAttribute("value")), least.mean.is_ns);
});

test("a promise that was broken is said and drawn", async () => {
  const promise = ["--slo", "p50<1ns per 200ms", "--slo", "p99<1h"];
  const want = JSON.parse(spawnSync(dwell, ["why", recordings.credentials, "--json", ...promise], { cwd: root, maxBuffer: 1 << 28 }).stdout).slos;
  await visit(page, reports.address("slo", "", ["report", recordings.credentials, ...promise]));
  const said = await page.locator(".promise").allInnerTexts();
  assert.match(said[0], new RegExp(`broken in ${want[0].broken} of ${want[0].windows.length} spans`));
  assert.match(said[1], /met/);
  assert.equal(await page.locator(".key .line.slo").count(), 1);
});

test("processes that served are listed with their programs", async () => {
  await visit(page, reports.address("surround-vote", "view=requests&color=generation"));
  const rows = await page.locator("table.processes tbody tr").allInnerTexts();
  const requests = await page.locator("table.processes tbody td.num data").evaluateAll((l) => l.reduce((sum, d) => sum + Number(d.value), 0));
  assert.ok(rows.length > 0);
  assert.equal(requests, Number((await page.locator("#chosen-count").innerText()).replace(/,/g, "")));
});

test("threads side by side: a brushed time, the dump at the cursor, and back", async () => {
  await visit(page, reports.address("credentials", "view=threads&span="));
  const brush = page.locator(".all-lanes .brush");
  const box = await brush.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
  await soon(async () => assert.match(await page.locator(".all-lanes .tip").innerText(), / at .*: /));
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await soon(async () => assert.match(await addressOf(page), /span=\d+\.\d+/));
  await page.locator(".all-lanes .brush").press("Enter");
  await soon(async () => assert.match(await addressOf(page), /dump=\d/));
  await page.locator(".all-lanes .brush").press("-");
  await page.locator(".all-lanes .brush").press("-");
  await page.locator(".all-lanes .brush").press("-");
  await soon(async () => assert.doesNotMatch(await addressOf(page), /span=/));
});

test("one request has a call tree, whose columns sum to it", async () => {
  await visit(page, reports.address("credentials", "view=request"));
  const whole = Number(await page.locator("#request h2 data").nth(1).getAttribute("value"));
  await page.getByRole("button", { name: "call tree", exact: true }).click();
  await page.locator(".calltree").waitFor();
  const facts = await page.locator(".facts data").evaluateAll((l) => l.map((d) => Number(d.value)));
  assert.equal(facts[0], whole);
  assert.match(await page.locator(".calltree tbody").innerText(), /\(call to |puma|Row|credentials/i);
  assert.ok((await page.locator(".calltree tbody tr").count()) > 2);
});

test("the address is right at once, and after more changes than a browser takes", async () => {
  await visit(page, reports.address("demo"));
  const opened = await page.evaluate(() => {
    document.querySelector(".finding .fold summary").click();
    return location.hash;
  });
  assert.match(opened, /open=none/);
  for (let i = 0; i < 301; i++) await page.evaluate(() => dispatchEvent(new KeyboardEvent("keydown", { key: "b" })));
  await soon(async () => assert.match(await addressOf(page), /beside=1/));
});

test("the chart is moved by hand, and its address says to where", async () => {
  await visit(page, reports.address("credentials", "view=requests"));
  for (const key of ["w", "w"]) await page.keyboard.press(key);
  const shown = async () => new URLSearchParams(new URL(await addressOf(page)).hash.slice(1)).get("zoom").split(".").map(Number);
  const [from, to] = await shown();
  const box = await page.locator(".brush").boundingBox();
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + box.width * 0.6, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await soon(async () => assert.ok((await shown())[0] > from));
  const [left, right] = await shown();
  assert.ok(Math.abs(right - left - (to - from)) <= 2, "it shows as much as before");
  await page.keyboard.press("a");
  await page.keyboard.press("x");
  await soon(async () => assert.doesNotMatch(await addressOf(page), /zoom=/));
});

test("a filter that is mistyped says what it wants", async () => {
  await visit(page, reports.address("demo", "view=requests"));
  await page.locator("#where").fill("durration>5ms");
  await soon(async () => assert.match(await page.locator("[role=alert]").innerText(), /durration.*there are duration/s));
});

test("a function is found in the flame graph", async () => {
  await visit(page, reports.address("credentials", "view=flames"));
  await page.keyboard.press("/");
  await page.keyboard.type("fetch_credentials");
  await soon(async () => assert.match(await page.locator("#found").innerText(), /beneath what is found: [\d.]+ (ms|s), [\d.]+ %/));
  await page.locator(".block.hit").first().waitFor();
  const graphs = json("show", recordings.credentials, "--flames", "--json");
  assert.equal(await page.locator(".choice button").nth(1).innerText(), `waiting ${(graphs.waiting.total_ns / 1e9).toFixed(2)} s`);
});

test("a served page tells of any request and instant, and filters by whatever is known", async () => {
  const server = await served("credentials");
  try {
    const page = await reports.opened();
    await visit(page, `${server.address}#view=requests`);
    await page.locator("#where").fill('lock>100ms and call~"AssumeRole|GetItem"');
    const want = lines("show", recordings.credentials, "--where", 'lock>100ms and call~"AssumeRole|GetItem"', "--json").length;
    await page.getByText(`${want} requests, the slowest first`).waitFor({ timeout: 5000 });
    const held = new Set(await page.evaluate(async () => (await (await fetch("data.json")).json()).requests.map((r) => r.id)));
    const other = Array.from({ length: 315 }, (_, i) => i).find((i) => !held.has(i));
    await page.evaluate((id) => { location.hash = `view=request&req=${id}`; }, other);
    await page.locator("#request h2").filter({ hasText: `#${other} ` }).waitFor({ timeout: 5000 });
    await page.getByRole("button", { name: "all threads at this time" }).click();
    await page.getByText("as asked for").waitFor({ timeout: 5000 });
    assert.equal(await page.locator("[role=alert]").count(), 0);
    await page.close();
  } finally {
    server.close();
  }
});

reports.nothingWrong();
