// Drives the page over the recordings of the incident cases, as somebody would who looks for the reason.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { addressOf, drawn, go, open, soon, visit } from "./browser.mjs";
import { compare, Documents, Pair } from "./figures.mjs";

const root = new URL("../../", import.meta.url).pathname;
const dwell = join(root, "bin/dwell");
const dir = mkdtempSync(join(tmpdir(), "dwell-report-"));
const recordings = {
  demo: "cmd/dwell/bundled/bad.txt", credentials: "cases/credentials/recording-refresh-bad.txt", "keep-alive": "cases/keep-alive/recording-bad.txt",
  "price-api": "cases/price-api/recording-entropy-bad.txt", statsd: "cases/statsd/recording-ruby-bad.txt", "surround-vote": "cases/surround-vote/recording-restart-bad.txt",
};
const fixed = (name) => recordings[name].replace(/bad\.txt$/, "fixed.txt");
const printed = (...args) => execFileSync(dwell, args, { cwd: root, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();
const json = (...args) => JSON.parse(printed(...args));
const address = (name, hash = "") => `file://${dir}/${name}.html#${hash}`;

let browser, page;
const asked = [];
const wrong = [];

before(async () => {
  for (const [name, path] of Object.entries(recordings)) execFileSync(dwell, ["report", path, "-o", join(dir, name + ".html")], { cwd: root });
  browser = await open();
  page = await browser.context.newPage();
  browser.context.on("request", (r) => [`file://${dir}/`, "http://127.0.0.1:"].some((own) => r.url().startsWith(own)) || asked.push(r.url()));
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
});

after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

// What dwell prints of a recording, to hold a page of it against.
async function documentsOf(name, page) {
  const model = JSON.parse(await page.evaluate(() => document.getElementById("data").textContent));
  return new Documents(printed, recordings[name], model);
}

// Who opens the page's address reads the same.
async function sameElsewhere() {
  const other = await browser.context.newPage();
  await visit(other, await addressOf(page));
  await soon(async () => assert.equal(await other.locator("main").innerText(), await page.locator("main").innerText()));
  await other.close();
}

// All that a page shows at an address, and less is seen on others.
const everything = ["", "view=verdict&open=minor.refuted.undecided", "view=requests", "view=requests&color=generation", "view=requests&color=endpoint&sel=60.140.80.110&where=duration%3E1ms",
  "view=request", "view=request&beside=1", "view=threads", "view=threads&dump=1", "view=flames&part=waiting", "view=flames&part=cpu&find=e", "view=tree", "view=tree&of=ordinary", "view=tree&of=request", "view=calls"];

for (const name of Object.keys(recordings)) {
  test(`${name}: the verdict comes first, and each number on the page is that of --json`, async () => {
    await visit(page, address(name));
    const documents = await documentsOf(name, page);
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
  await visit(page, address("demo"));
  const documents = await documentsOf("demo", page);
  for (const [change, says] of [
    [() => { document.querySelector("data").textContent = "77 ms"; }, /77 ms.* by --json/],
    [() => { document.querySelector("data").value = "77"; }, /"value":77/],
    [() => { document.querySelector("main").append("about 3 more"); }, /does not say what it is of/],
    [() => { document.querySelector("h1 bdi").textContent = "It takes 77.7 ms"; }, /said nowhere else/],
  ]) {
    await visit(page, address("demo"));
    await page.evaluate(change);
    await assert.rejects(compare(page, documents, "changed"), says);
  }
});

for (const name of Object.keys(recordings).filter((n) => n !== "demo")) {
  test(`${name}: from a spike to its slowest request and who held it up, by process, in the flame graph, and as an address`, async () => {
    await visit(page, address(name, "view=requests"));
    const documents = await documentsOf(name, page);
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
    await sameElsewhere();
  });

  test(`${name}: beside its fixed twin, each number is that of dwell diff --json`, async () => {
    const pair = [recordings[name], fixed(name)];
    execFileSync(dwell, ["diff", ...pair, "-o", join(dir, `${name}-diff.html`)], { cwd: root });
    await visit(page, address(`${name}-diff`));
    assert.match(await page.locator("h1").innerText(), /p50 .* became .*/);
    assert.ok((await page.locator(".block").count()) > 3 || name === "surround-vote");
    assert.equal(await page.locator("canvas").count(), 2);
    const compared = await compare(page, new Pair(printed, pair), `${name}, both`);
    assert.ok(compared >= 20, `${compared} numbers`);
  });
}

test("a spike is brushed, its slowest request opened, and the arrow followed to who held the lock", async () => {
  await visit(page, address("credentials", "view=requests"));
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
  const shown = JSON.parse(execFileSync(dwell, ["show", recordings.credentials, "--json"], { cwd: root, maxBuffer: 1 << 28 }).toString().trim().split("\n")
    .find((l) => JSON.parse(l).duration_ns === rows[0]));
  await soon(async () => assert.match(await page.locator("#request h2").innerText(), new RegExp(`^#${shown.id} `)));
  await page.keyboard.press("j"); // a faster one, which waited for the lock
  await page.keyboard.press("h");
  const holder = page.locator(".holder.chosen").first();
  await holder.waitFor();
  await soon(async () => assert.match(await holder.innerText(), /puma srv tp .* remote for localhost/s));
  await soon(async () => assert.ok((await page.locator("path.arrow.chosen").count()) > 0));
});

test("a call says by which rule it is the request's, how sure that is, and what that means", async () => {
  await visit(page, address("credentials", "view=request"));
  const model = JSON.parse(await page.evaluate(() => document.getElementById("data").textContent));
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
  execFileSync(dwell, ["report", recordings["price-api"], "-o", join(dir, "code.html"), "--source-root", "cases/price-api"], { cwd: root });
  await visit(page, address("code", "view=request"));
  const model = JSON.parse(await page.evaluate(() => document.getElementById("data").textContent));
  const place = model.requests.flatMap((r) => r.stacks.map((s) => [r.id, s])).find(([, s]) => s.frames.some((f) => model.frames[f].code));
  assert.ok(place, "a frame has lines of source");
  await go(page, `view=request&req=${place[0]}&seg=${place[1].segment}`);
  await page.locator("details.source summary").first().click();
  await page.locator("pre.code .at").first().waitFor();
  assert.match(await addressOf(page), /open=code-\d+/);
  await sameElsewhere();
  await go(page, "view=threads");
  await page.locator("details.frames summary").first().click();
  assert.match(await addressOf(page), /open=stack-\d+/);
  await sameElsewhere();
});

test("the address alone leads a colleague to the same view", async () => {
  await visit(page, address("surround-vote", "view=requests"));
  await page.keyboard.press("c");
  await page.keyboard.press("c");
  await page.locator("#where").fill("duration>50ms");
  await soon(async () => assert.equal(await page.locator(".choice button[aria-pressed=true]").innerText(), "process"));
  assert.match(await addressOf(page), /color=generation/);
  await sameElsewhere();
});

test("the slider plays what a change of the server would do", async () => {
  execFileSync(dwell, ["report", "cases/credentials/recording-client-bad.txt", "-o", join(dir, "client.html")], { cwd: root });
  const want = json("why", "cases/credentials/recording-client-bad.txt", "--json");
  await visit(page, address("client"));
  const plays = [...want.findings, ...want.leads].find((f) => f.what_if).what_if;
  await page.locator(".whatif button", { hasText: "load" }).first().click();
  await page.locator(".whatif input").first().press("Home"); // the least load
  const least = plays.filter((p) => p.change.startsWith("load")).sort((a, b) => parseFloat(a.change.slice(6)) - parseFloat(b.change.slice(6)))[0];
  await soon(async () => assert.ok((await page.locator(".whatif").first().innerText()).includes(least.words)));
  assert.equal(Number(await page.locator(".whatif data").nth(1).getAttribute("value")), least.mean.is_ns);
});

test("a promise that was broken is said and drawn", async () => {
  const promise = ["--slo", "p50<1ns per 200ms", "--slo", "p99<1h"];
  execFileSync(dwell, ["report", recordings.credentials, "-o", join(dir, "slo.html"), ...promise], { cwd: root });
  const want = JSON.parse(spawnSync(dwell, ["why", recordings.credentials, "--json", ...promise], { cwd: root, maxBuffer: 1 << 28 }).stdout).slos;
  await visit(page, address("slo"));
  const said = await page.locator(".promise").allInnerTexts();
  assert.match(said[0], new RegExp(`broken in ${want[0].broken} of ${want[0].windows.length} spans`));
  assert.match(said[1], /met/);
  assert.equal(await page.locator(".key .line.slo").count(), 1);
});

test("processes that served are listed with their programs", async () => {
  await visit(page, address("surround-vote", "view=requests&color=generation"));
  const rows = await page.locator("table.processes tbody tr").allInnerTexts();
  const requests = await page.locator("table.processes tbody td.num data").evaluateAll((l) => l.reduce((sum, d) => sum + Number(d.value), 0));
  assert.ok(rows.length > 0);
  assert.equal(requests, Number((await page.locator("#chosen-count").innerText()).replace(/,/g, "")));
});

test("threads side by side: a brushed time, the dump at the cursor, and back", async () => {
  await visit(page, address("credentials", "view=threads&span="));
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
  await visit(page, address("credentials", "view=request"));
  const whole = Number(await page.locator("#request h2 data").nth(1).getAttribute("value"));
  await page.getByRole("button", { name: "call tree", exact: true }).click();
  await page.locator(".calltree").waitFor();
  const facts = await page.locator(".facts data").evaluateAll((l) => l.map((d) => Number(d.value)));
  assert.equal(facts[0], whole);
  assert.match(await page.locator(".calltree tbody").innerText(), /\(call to |puma|Row|credentials/i);
  assert.ok((await page.locator(".calltree tbody tr").count()) > 2);
});

test("the header has all facts at 1280 pixels, and what came out as zero is one click away", async () => {
  await visit(page, address("demo"));
  const cut = await page.locator(".who p, .who small, .who .cut").evaluateAll((l) => l.filter((e) => e.scrollWidth > e.clientWidth && e.clientWidth > 0).map((e) => e.textContent));
  assert.deepEqual(cut, []);
  const zeros = json("why", recordings.demo, "--json").findings[0].evidence.filter((e) => e.value === 0 && e.unit !== "share");
  assert.ok(zeros.length > 0);
  const text = () => page.locator(".finding").first().innerText();
  for (const e of zeros) assert.ok(!(await text()).includes(e.what), e.what);
  await page.locator(".finding .fold summary").first().click();
  await soon(async () => { for (const e of zeros) assert.ok((await text()).includes(e.what), e.what); });
  await soon(async () => assert.match(await addressOf(page), /open=none/));
});

test("the address is right at once, and after more changes than a browser takes", async () => {
  await visit(page, address("demo"));
  const opened = await page.evaluate(() => {
    document.querySelector(".finding .fold summary").click();
    return location.hash;
  });
  assert.match(opened, /open=none/);
  for (let i = 0; i < 301; i++) await page.evaluate(() => dispatchEvent(new KeyboardEvent("keydown", { key: "b" })));
  await soon(async () => assert.match(await addressOf(page), /beside=1/));
});

test("the chart is moved by hand, and its address says to where", async () => {
  await visit(page, address("credentials", "view=requests"));
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
  await visit(page, address("demo", "view=requests"));
  await page.locator("#where").fill("durration>5ms");
  await soon(async () => assert.match(await page.locator("[role=alert]").innerText(), /durration.*there are duration/s));
});

test("a function is found in the flame graph", async () => {
  await visit(page, address("credentials", "view=flames"));
  await page.keyboard.press("/");
  await page.keyboard.type("fetch_credentials");
  await soon(async () => assert.match(await page.locator("#found").innerText(), /beneath what is found: [\d.]+ (ms|s), [\d.]+ %/));
  await page.locator(".block.hit").first().waitFor();
  const graphs = json("show", recordings.credentials, "--flames", "--json");
  assert.equal(await page.locator(".choice button").nth(1).innerText(), `waiting ${(graphs.waiting.total_ns / 1e9).toFixed(2)} s`);
});

test("names of a stranger's are text", async () => {
  const hostile = join(dir, "hostile.txt");
  const { writeFileSync } = await import("node:fs");
  const text = readFileSync(join(root, recordings.credentials), "utf8").replaceAll("function=Row.title", String.raw`function="<img src=x onerror=alert(1)>\u202e</script>"`);
  writeFileSync(hostile, text);
  execFileSync(dwell, ["report", hostile, "-o", join(dir, "hostile.html")]);
  await visit(page, address("hostile"));
  assert.equal(await page.locator("img").count(), 0);
  assert.match(await page.locator("main").innerText(), /<img src=x/);
});

test("nothing serious that axe-core knows of, in both themes", async () => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  await visit(page, address("credentials"));
  for (const theme of ["light", "dark"]) {
    for (const view of ["verdict", "requests", "request", "threads", "flames", "tree", "calls"]) {
      await go(page, `view=${view}&theme=${theme}&beside=1`);
      const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`); // evaluated by the debugger: the page's own policy stays in force
      const bad = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
      assert.deepEqual(bad.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`), [], `${view}, ${theme}`);
    }
  }
});

test("a served page tells of any request and instant, and filters by whatever is known", async () => {
  const served = spawn(dwell, ["view", recordings.credentials], { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  try {
    const url = await new Promise((got) => served.stderr.on("data", (d) => /http:\S+/.test(String(d)) && got(/http:\S+/.exec(String(d))[0])));
    const page = await browser.context.newPage();
    page.on("pageerror", (e) => wrong.push(e.message));
    await visit(page, `${url}#view=requests`);
    await page.locator("#where").fill('lock>100ms and call~"AssumeRole|GetItem"');
    const want = execFileSync(dwell, ["show", recordings.credentials, "--where", 'lock>100ms and call~"AssumeRole|GetItem"', "--json"], { cwd: root, maxBuffer: 1 << 28 }).toString().trim().split("\n").length;
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
    served.kill("SIGINT");
  }
});

test("no request left the page, and nothing went wrong on it", () => {
  assert.deepEqual(asked, []);
  assert.deepEqual(wrong, []);
});
