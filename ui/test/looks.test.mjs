// What the page looks like to whoever reads it: with any colours, by keys alone, or by ear.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { addressOf, drawn, go, soon, visit } from "./browser.mjs";
import { json, pair, recordings, Reports, root } from "./reports.mjs";

const reports = new Reports();
let page;
before(async () => { page = await reports.open(); });
after(() => reports.close());

test("the header has all facts at 1280 pixels, and what came out as zero is one click away", async () => {
  await visit(page, reports.address("demo"));
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

// Of functions, files, threads, programs, peers and operations: with markup, an escape of a terminal's, and what turns the direction of writing.
test("names of a stranger's are text", async () => {
  const hostile = join(reports.dir, "hostile.txt");
  const name = String.raw`<img src=x onerror=alert(1)>\x1b[31m\u202e</script>`;
  const text = readFileSync(join(root, recordings.credentials), "utf8").replaceAll("function=Row.title", `function="${name}"`).replaceAll("file=/srv/credentials/service.rb", `file="/srv/${name}.rb"`)
    .replaceAll('name="puma srv tp 00', `name="${name} 00`).replaceAll("exe=ruby3.1", `exe="${name}"`).replaceAll("host=localhost operation=AssumeRoleWithWebIdentity", `host="${name}" operation="${name}"`);
  writeFileSync(hostile, text);
  await visit(page, reports.address("hostile", "", ["report", hostile]));
  for (const view of ["", "view=requests&color=generation", "view=request&req=1", "view=threads", "view=flames&part=waiting", "view=tree", "view=calls"]) {
    await go(page, view);
    assert.equal(await page.locator("img, main script").count(), 0, view);
    const said = await page.locator("main").innerText();
    assert.match(said, /<img src=x/, view);
    assert.doesNotMatch(said, /[\u001b\u202e]/, view);
  }
});

// Evaluated by the debugger: the page's own policy stays in force.
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

// What axe-core finds on the views of a page: by all its rules, then in the dark by that for colours.
async function serious(views) {
  const out = [];
  await page.evaluate(axe);
  for (const [theme, rules] of [["light", "{}"], ["dark", `{ runOnly: ["color-contrast"] }`]]) {
    for (const view of views) {
      await go(page, `${view}&theme=${theme}`);
      const found = await page.evaluate(`axe.run(document, Object.assign({ resultTypes: ["violations"] }, ${rules}))`);
      for (const v of found.violations.filter((v) => v.impact === "serious" || v.impact === "critical")) {
        out.push(`${view}, ${theme}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
      }
    }
  }
  return out;
}

const views = ["open=minor.refuted.undecided", "view=requests&color=generation&sel=60.140.80.110", "view=request&beside=1", "view=threads", "view=flames&find=e", "view=tree", "view=tree&of=request", "view=calls", "view=calls&help=1"];

for (const name of Object.keys(recordings)) {
  test(`${name}: nothing serious that axe-core knows of, on any view, in both themes`, async () => {
    await visit(page, reports.address(name));
    assert.deepEqual(await serious(views), []);
    if (name === "demo") return;
    await visit(page, reports.address(`${name}-diff`, "", ["diff", ...pair(name)]));
    assert.deepEqual(await serious([""]), []);
  });
}

test("what is hard to read is noticed", async () => {
  await visit(page, reports.address("demo"));
  await page.evaluate(() => document.documentElement.style.setProperty("--muted", "#999"));
  assert.match((await serious(["view=calls"])).join(), /light: color-contrast/);
});

// Each key, where it is pressed (on the chart, if it begins with that), and what the address is to say then.
const keys = {
  1: ["view=calls", /^#?$/], 2: ["", /view=requests$/], 3: ["", /view=request$/], 4: ["", /view=threads$/], 5: ["", /view=flames$/], 6: ["", /view=tree$/], 7: ["", /view=calls$/], c: ["view=requests", /color=endpoint/], "←": ["chart sel=60.140.80.110", /sel=59\.139\.80\.110/], "→": ["chart sel=60.140.80.110", /sel=61\.141\.80\.110/],
  "↑": ["chart sel=60.140.80.110", /sel=60\.140\.81\.11[01]/], "↓": ["chart sel=60.140.80.110", /sel=60\.140\.79\.109/], z: ["chart sel=60.140.80.110", /zoom=\d+/], x: ["chart zoom=1000000000.3000000000.60.120", /^(?!.*zoom)/],
  w: ["chart", /zoom=\d+/], s: ["chart zoom=1000000000.3000000000.60.120", /zoom=0\.\d+/], a: ["chart zoom=1000000000.3000000000.60.120", /zoom=[56]\d{8}\./], d: ["chart zoom=1000000000.3000000000.60.120", /zoom=1[34]\d{8}\./],
  Enter: ["chart sel=60.140.80.110", /view=request&req=\d+|req=\d+&view=request|view=request.*req=/], j: ["view=request", /req=\d+/], k: ["view=request&req=200", /req=(?!200)\d+/], n: ["view=request", /seg=0/], p: ["view=request&seg=1", /seg=0/],
  h: ["view=request&req=9", /hold=/], b: ["view=request", /beside=1/], t: ["", /theme=dark/], Esc: ["view=requests&sel=60.140.80.110", /^(?!.*sel)/],
};

const range = (from, to) => Array.from({ length: to - from }, (_, i) => String(from + i));

test("the help tells of the keys, and each does what it says", async () => {
  await visit(page, reports.address("credentials", "view=requests&sel=60.140.80.110"));
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  await help.waitFor();
  const told = (await help.locator("dt kbd").allInnerTexts()).flatMap((k, i, all) => (k === "..." ? range(Number(all[i - 1]) + 1, Number(all[i + 1])) : [k]));
  assert.deepEqual(told.filter((k) => k !== "/").sort(), Object.keys(keys).sort());
  assert.equal(await page.evaluate(() => document.activeElement.closest("dialog") !== null), true, "the keyboard is in it");
  await page.keyboard.press("c"); // the page beneath rests
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  assert.match(await addressOf(page), /#view=requests&sel=60\.140\.80\.110$/, "nothing else was changed");
  for (const [key, [where, says]] of Object.entries(keys)) {
    const chart = where.startsWith("chart");
    await go(page, chart ? `view=requests&${where.slice(6)}` : where);
    if (chart) await page.locator(".brush").focus();
    await page.keyboard.press({ "←": "ArrowLeft", "→": "ArrowRight", "↑": "ArrowUp", "↓": "ArrowDown", Esc: "Escape" }[key] ?? key);
    await soon(async () => assert.match(await page.evaluate(() => location.hash), says, key), 5000);
  }
  await go(page, "view=flames");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
});

test("what was lost, and when recording rested, is told beneath the chart", async () => {
  const key = () => page.locator(".plot + .key").innerText();
  await visit(page, reports.address("surround-vote", "view=requests"));
  assert.match(await key(), /facts were lost/);
  await visit(page, reports.address("demo", "view=requests"));
  assert.doesNotMatch(await key(), /facts were lost|recording rested/);
  const gap = join(reports.dir, "gap.txt");
  writeFileSync(gap, readFileSync(join(root, "internal/timeline/build/testdata/gap.txt"), "utf8").split(/-- (?:recording|expect) --\n/)[1]);
  await visit(page, reports.address("gap", "view=requests", ["report", gap]));
  assert.match(await key(), /recording rested/);
});

reports.nothingWrong();
