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

// How long frames take while a region is dragged, and while the chart is moved, of which so much is shown.
async function frames(page) {
  const box = await page.locator(".brush").boundingBox();
  const dragged = async (what) => {
    await page.mouse.move(box.x + box.width * 0.3, box.y + 30);
    await page.mouse.down();
    await measured(page, what, (i) => page.mouse.move(box.x + box.width * (0.3 + i * 0.008), box.y + 60 + i * 2));
    await page.mouse.up();
  };
  await dragged("choosing among 1,000,000 requests");
  await page.keyboard.press("Escape");
  await page.keyboard.down("Shift");
  for (const shown of ["500,000", "125,000"]) {
    for (const key of shown === "500,000" ? ["w"] : ["w", "w"]) await page.keyboard.press(key);
    await page.keyboard.down("Shift");
    await dragged(`moving among 1,000,000 requests, of which ${shown} are seen`);
    await page.keyboard.up("Shift");
  }
}

async function measured(page, what, step) {
  await page.evaluate(() => {
    window.took = [];
    let last = performance.now();
    const next = (now) => { window.took.push(now - last); last = now; window.frame = requestAnimationFrame(next); };
    window.frame = requestAnimationFrame(next);
  });
  for (let i = 0; i < 60; i++) await step(i);
  const took = await page.evaluate(() => { cancelAnimationFrame(window.frame); return window.took.slice(1).sort((a, b) => a - b); });
  const at = (q) => took[Math.min(took.length - 1, Math.floor(took.length * q))].toFixed(1);
  console.log(`frames while ${what}: median ${at(0.5)} ms, p90 ${at(0.9)} ms, longest ${at(1)} ms, of ${took.length}`);
}
