// Prints what a page of very many requests weighs, and how fast it is in a browser: make bench-page.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "./browser.mjs";

const bench = new URL("../../bin/pagebench", import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), "dwell-bench-"));
const file = join(dir, "page.html");
execFileSync(bench, ["-requests", "120000", "-rate", "2000", "-o", file], { stdio: "inherit" });

const server = spawn(bench, ["-requests", "1000000", "-rate", "2000", "-serve"], { stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((got) => server.stdout.once("data", (d) => got(String(d).trim())));
const browser = await open();
try {
  const page = await browser.context.newPage();
  await first(page, `file://${file}#view=requests`, "120,000 requests, from a file");
  await first(page, `${address}#view=requests`, "1,000,000 requests, served");
  await frames(page);
} finally {
  await browser.close();
  server.kill();
  console.log(`file: ${(statSync(file).size / 1e6).toFixed(2)} MB`);
  rmSync(dir, { recursive: true, force: true });
}

// From the address to the drawn chart, best of three.
async function first(page, url, what) {
  const times = [];
  for (let i = 0; i < 3; i++) {
    await page.goto("about:blank");
    await page.goto(url);
    await page.waitForSelector("html[data-ready=yes]", { timeout: 60000 });
    times.push(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))));
  }
  console.log(`first view of ${what}: ${Math.min(...times).toFixed(0)} ms (${times.map((t) => t.toFixed(0)).join(", ")})`);
}

// How long frames take while somebody chooses among all requests, and moves the chart, of which so much is shown:
// while the hand moves, where it rests, and after it has let go.
async function frames(page) {
  const box = await page.locator(".brush").boundingBox();
  const drag = async () => {
    await page.mouse.move(box.x + box.width * 0.3, box.y + 30);
    await page.mouse.down();
    for (let i = 0; i < 60; i++) await page.mouse.move(box.x + box.width * (0.3 + i * 0.008), box.y + 60 + i * 2);
    await page.waitForTimeout(300);
    await page.mouse.move(box.x + box.width * 0.8, box.y + 160);
    await page.mouse.up();
  };
  const all = "1,000,000 requests";
  await measured(page, `choosing among ${all}`, drag);
  await measured(page, `moving what is chosen by keys`, async () => {
    await page.locator(".brush").focus();
    for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowLeft");
  });
  await page.keyboard.press("Escape");
  await measured(page, `pointing at ${all}`, async () => {
    for (let i = 0; i < 60; i++) await page.mouse.move(box.x + box.width * (0.2 + i * 0.01), box.y + 100 + i);
  });
  await measured(page, `zooming into ${all}, and out`, async () => {
    await page.keyboard.down("Control");
    for (let i = 0; i < 40; i++) await page.mouse.wheel(0, i < 20 ? -120 : 120);
    await page.keyboard.up("Control");
  });
  await page.keyboard.press("x");
  for (const [shown, keys] of [["500,000", ["w"]], ["125,000", ["w", "w"]]]) {
    for (const key of keys) await page.keyboard.press(key);
    await measured(page, `moving among ${all}, of which ${shown} are seen`, async () => {
      await page.keyboard.down("Shift");
      await drag();
      await page.keyboard.up("Shift");
    });
  }
}

// Frames as a browser tells of them, which other work on the machine makes longer; and what of processor time the
// page's main thread took at most in one go, which it does not.
async function measured(page, what, act) {
  const cdp = await page.context().newCDPSession(page);
  const events = [];
  cdp.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const over = new Promise((done) => cdp.once("Tracing.tracingComplete", done));
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline"] } });
  await page.evaluate(() => {
    performance.mark("bench");
    window.took = [];
    let last = performance.now();
    const next = (now) => { window.took.push(now - last); last = now; window.frame = requestAnimationFrame(next); };
    window.frame = requestAnimationFrame(next);
  });
  await act();
  await page.waitForTimeout(500);
  const took = await page.evaluate(() => { cancelAnimationFrame(window.frame); return window.took.slice(1).sort((a, b) => a - b); });
  await cdp.send("Tracing.end");
  await over;
  const at = (q) => took[Math.min(took.length - 1, Math.floor(took.length * q))].toFixed(1);
  console.log(`frames while ${what}: median ${at(0.5)} ms, p90 ${at(0.9)} ms, longest ${at(1)} ms, of ${took.length}; most work in one go ${longestTask(events).toFixed(1)} ms`);
}

// The longest task of the page's main thread, in milliseconds of processor time.
function longestTask(events) {
  const main = new Set(events.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`));
  return Math.max(0, ...events.filter((e) => e.name === "RunTask" && main.has(`${e.pid} ${e.tid}`)).map((e) => e.tdur ?? 0)) / 1000;
}
