// Starts Debian's Chromium for the tests, and finds its way about in the page.
import { chromium } from "playwright-core";

/** Starts a browser that several processes may use. */
export const start = () => chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true,
  ignoreDefaultArgs: ["--disable-ipc-flooding-protection"], // as few changes of the address are taken as in anybody's browser
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** A context of its own, with nothing in it, of the browser that all tests share (all.mjs), or else of one for it alone. */
export async function open() {
  const own = process.env.DWELL_BROWSER ? null : await start();
  const browser = await chromium.connect(process.env.DWELL_BROWSER ?? own.wsEndpoint());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: "UTC" });
  return {
    context,
    async close() {
      await browser.close();
      await own?.close();
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
