// Runs all tests, files side by side: more of them than there are processors, as each waits for frames. They share one browser and
// the pages of the recordings. "made" or "live" runs those of recordings that were made or those that record, alone.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "./browser.mjs";

const here = new URL(".", import.meta.url).pathname;
const pages = mkdtempSync(join(tmpdir(), "dwell-pages-"));
const browser = await start();
try {
  const live = ["live.test.mjs"], made = readdirSync(here).filter((name) => name.endsWith(".test.mjs") && !live.includes(name));
  for (const some of { made: [made], live: [live] }[process.argv[2]] ?? [made, live]) { // what records is alone: what it says depends on how busy the processors are
    const seldom = some === made ? { GOGC: "400" } : {}; // dwell, which is asked some hundred times, collects less garbage and takes a third less time
    const tests = spawn(process.execPath, ["--test", "--test-concurrency=3", ...some.map((name) => join(here, name))], { stdio: "inherit", env: { ...process.env, ...seldom, DWELL_PAGES: pages, DWELL_BROWSER: browser.wsEndpoint() } });
    process.exitCode ||= await new Promise((over) => tests.once("exit", (code) => over(code ?? 1)));
  }
} finally {
  await browser.close();
  rmSync(pages, { recursive: true, force: true });
}
