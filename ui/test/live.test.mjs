// Drives the page of a recording that is being made: how it goes, what there is so far, and the whole.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open, soon } from "./browser.mjs";

const dwell = new URL("../../bin/dwell", import.meta.url).pathname;
const skip = process.getuid() !== 0 && !process.env.CI && "recording needs root";
const dir = mkdtempSync(join(tmpdir(), "dwell-live-"));
// It ends with who started it, however that ended.
const service = `const parent = process.ppid; setInterval(() => process.ppid !== parent && process.exit(), 500);
require("http").createServer((q, a) => setTimeout(() => a.end("ok"), 5)).listen(Number(process.argv[1]), "127.0.0.1")`;

let browser, page, port;
const wrong = [];
const running = [];

before(async () => {
  if (skip) return;
  browser = await open();
  page = await browser.context.newPage();
  page.on("pageerror", (e) => wrong.push(e.message));
  port = await new Promise((got) => {
    const s = createServer().listen(0, "127.0.0.1", () => { const { port } = s.address(); s.close(() => got(port)); });
  });
});

after(async () => {
  for (const p of running) p.kill("SIGKILL");
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

// Starts a program that ends with the tests; said is what it has printed to standard error.
function started(...command) {
  const p = spawn(command[0], command.slice(1), { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
  running.push(p);
  p.said = "";
  p.stderr.on("data", (d) => { p.said += d; });
  return p;
}

const said = async (p, what) => (await soon(() => { assert.match(p.said, what); return what.exec(p.said); }))[0];

// Sends requests to the service until it is told to stop.
function asking() {
  let over = false;
  const loop = async () => { while (!over) await fetch(`http://127.0.0.1:${port}/thing`).then((a) => a.text(), () => new Promise((later) => setTimeout(later, 20))); };
  loop();
  return () => { over = true; };
}

const count = async () => Number(await page.locator('[data-of="requests.count"]').first().getAttribute("value"));
const ready = (timeout = 20000) => page.waitForSelector("html[data-ready=yes]", { timeout });

// From the page that waits to what there is so far, and to the whole recording.
async function followed(recorder) {
  const address = await said(recorder, /http:\/\/127\S+/);
  const stop = asking();
  try {
    await page.goto(address);
    await soon(async () => assert.match(await page.locator("h1").innerText(), /^Recording \d+s · [1-9]/)); // it comes again by itself
    await soon(async () => {
      await page.goto(address + "so-far");
      await ready(1000); // or it waits, and is asked again
      assert.ok((await count()) > 0, "none of its requests is over yet");
    });
    assert.match(await page.locator(".who").innerText(), /, its first [\d.]+\sm?s/);
    const some = await count();
    for (let i = 0; i < 20; i++) await (await fetch(`http://127.0.0.1:${port}/more`)).text();
    recorder.kill("SIGINT");
    await said(recorder, /served to browsers/);
    await page.goto(address);
    await ready();
    assert.doesNotMatch(await page.locator(".who").innerText(), /its first/);
    assert.ok((await count()) > some, `${await count()} requests in all, ${some} before`);
    assert.equal((await page.request.get(address + "so-far")).status(), 404);
  } finally {
    stop();
  }
}

test("attach --view: how it goes, what there is so far, and then the whole", { skip }, async () => {
  const server = started(process.execPath, "-e", service, String(port));
  try {
    await followed(started(dwell, "attach", String(server.pid), "--view", "-o", join(dir, "attached")));
  } finally {
    server.kill("SIGKILL");
  }
});

test("run --view does the same for a program that it starts", { skip }, async () => {
  await followed(started(dwell, "run", "--view", "-o", join(dir, "run"), "--", process.execPath, "-e", service, String(port)));
});

test("demo --view shows the slow variant when it has played", { skip }, async () => {
  const demo = started(dwell, "demo", "--view", "--for", "2s");
  await page.goto(await soon(() => { assert.match(demo.said, /http:\/\/127\S+\nserved/); return /http:\/\/127\S+/.exec(demo.said)[0]; }, 120000));
  await ready();
  assert.match(await page.locator("h1").innerText(), /connection-not-reused|new connection|connect/i);
  assert.ok((await count()) > 10);
});

test("nothing went wrong on these pages", () => assert.deepEqual(wrong, []));
