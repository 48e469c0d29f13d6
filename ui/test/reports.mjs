// Pages of the incident cases' recordings, made when they are first asked for, and a browser that shows them.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { addressOf, open, soon, visit } from "./browser.mjs";
import { Documents } from "./figures.mjs";

export const root = new URL("../../", import.meta.url).pathname;
export const dwell = join(root, "bin/dwell");
export const recordings = {
  demo: "cmd/dwell/bundled/bad.txt", credentials: "cases/credentials/recording-refresh-bad.txt", "keep-alive": "cases/keep-alive/recording-bad.txt",
  "price-api": "cases/price-api/recording-entropy-bad.txt", statsd: "cases/statsd/recording-ruby-bad.txt", "surround-vote": "cases/surround-vote/recording-restart-bad.txt",
};
export const cases = Object.keys(recordings).filter((name) => name !== "demo");
export const pair = (name) => [recordings[name], recordings[name].replace(/bad\.txt$/, "fixed.txt")];
export const printed = (...args) => execFileSync(dwell, args, { cwd: root, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();
export const json = (...args) => JSON.parse(printed(...args));
export const lines = (...args) => printed(...args).trim().split("\n").filter(Boolean).map((l) => JSON.parse(l));

/** A page's model, with what is packed in it as it is in the browser. */
function unpacked(model) {
  if (typeof model.latency === "string") model.latency = JSON.parse(gunzipSync(Buffer.from(model.latency, "base64")));
  return model;
}

/** Has dwell write a page into a directory, unless it is there, or another process is at it, which is waited for. */
function written(dir, name, args) {
  const path = join(dir, name + ".html");
  try {
    mkdirSync(join(dir, name + ".making"));
  } catch (e) {
    if (e.code !== "EEXIST") throw e;
    for (const end = Date.now() + 60000; !existsSync(path); pause(20)) assert.ok(Date.now() < end, `nobody writes ${path}`);
    return path;
  }
  execFileSync(dwell, [...args, "-o", path + ".part"], { cwd: root });
  renameSync(path + ".part", path);
  return path;
}

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** The model of a page of a recording, without a browser. */
export function model(name) {
  const dir = mkdtempSync(join(tmpdir(), "dwell-model-"));
  try {
    return unpacked(JSON.parse(/id="data">(.*?)<\/script>/s.exec(readFileSync(written(process.env.DWELL_PAGES ?? dir, name, ["report", recordings[name]]), "utf8"))[1]));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A page that is served, until it is closed. */
export async function served(name) {
  const server = spawn(dwell, ["view", recordings[name]], { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  const address = await new Promise((got, failed) => {
    server.stderr.on("data", (d) => /http:\S+\n/.test((said += d)) && got(/http:\S+/.exec(said)[0]));
    server.once("exit", () => failed(new Error(said)));
  });
  return { address, close: () => server.kill("SIGINT") };
}

/** What a test file needs: a page in a browser, and addresses of pages. Nothing may go wrong on them, and no request may leave them. */
export class Reports {
  dir = mkdtempSync(join(tmpdir(), "dwell-report-"));
  shared = process.env.DWELL_PAGES ?? this.dir;
  told = new Map();
  asked = [];
  wrong = [];

  /** Starts the browser, and gives its first page. */
  async open() {
    this.browser = await open();
    this.browser.context.on("request", (r) => [`file://${this.dir}/`, `file://${this.shared}/`, "http://127.0.0.1:"].some((own) => r.url().startsWith(own)) || this.asked.push(r.url()));
    this.page = await this.opened();
    return this.page;
  }

  async close() {
    await this.browser?.close();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Another page in the browser. */
  async opened() {
    const page = await this.browser.context.newPage();
    page.on("pageerror", (e) => this.wrong.push(e.message));
    page.on("console", (m) => m.type() === "error" && this.wrong.push(m.text()));
    return page;
  }

  /** The address of a page, of a case's recording or of a file that dwell is to write with these arguments. */
  address(name, hash = "", args = ["report", recordings[name]]) {
    return `file://${written(args.some((a) => a.startsWith(this.dir)) ? this.dir : this.shared, name, args)}#${hash}`;
  }

  async model() { return unpacked(JSON.parse(await this.page.evaluate(() => document.getElementById("data").textContent))); }

  /** What dwell prints of a recording, to hold a page of it against. */
  async documents(name) {
    if (!this.told.has(name)) this.told.set(name, new Documents(printed, recordings[name], await this.model()));
    return this.told.get(name);
  }

  /** Who opens the page's address reads the same. */
  async sameElsewhere() {
    const other = await this.opened();
    await visit(other, await addressOf(this.page));
    await soon(async () => assert.equal(await other.locator("main").innerText(), await this.page.locator("main").innerText()));
    await other.close();
  }

  /** The last test of a file. */
  nothingWrong() {
    test("no request left the page, and nothing went wrong on it", () => {
      assert.deepEqual(this.asked, []);
      assert.deepEqual(this.wrong, []);
    });
  }
}
