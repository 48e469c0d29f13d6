// Starts Debian's Chromium for the tests, with a profile of its own each time.
import { chromium } from "playwright-core";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function open() {
  const profile = mkdtempSync(join(tmpdir(), "dwell-page-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, viewport: { width: 1280, height: 900 }, timezoneId: "UTC",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Opens an address and waits until the page is drawn. */
export async function visit(page, url) {
  await page.goto("about:blank");
  await page.goto(url);
  await page.waitForSelector("html[data-ready=yes]", { timeout: 20000 });
}

/** Waits until what the address or a key changed is drawn. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
