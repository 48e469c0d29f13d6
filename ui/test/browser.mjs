// Starts Debian's Chromium for the tests, with a profile of its own each time.
import { chromium } from "playwright-core";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function open() {
  const profile = mkdtempSync(join(tmpdir(), "dwell-page-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, viewport: { width: 1280, height: 900 }, timezoneId: "UTC",
    ignoreDefaultArgs: ["--disable-ipc-flooding-protection"], // as few changes of the address are taken as in anybody's browser
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

/** Waits until what the address or a key changed is drawn, long lists to their end. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => {
  const look = () => (document.querySelector("[aria-busy=true]") ? requestAnimationFrame(look) : done());
  requestAnimationFrame(() => requestAnimationFrame(look));
}));

/** Goes to another view of the page that is shown, by its address, and waits until it is drawn. */
export async function go(page, hash) {
  await page.evaluate((hash) => new Promise((done) => {
    if (location.hash.slice(1) === hash) return done();
    addEventListener("hashchange", done, { once: true });
    location.hash = hash;
  }), hash);
  await drawn(page);
}

/** The address as the page has it: page.url() learns of a change some time later. */
export const addressOf = (page) => page.evaluate(() => location.href);

/** Repeats an assertion until it holds; if it does not within some seconds, fails as it does. */
export async function soon(assertion, within = 20000) {
  for (const end = Date.now() + within; ; await new Promise((later) => setTimeout(later, 25))) {
    try {
      return await assertion();
    } catch (e) {
      if (Date.now() > end) throw e;
    }
  }
}
