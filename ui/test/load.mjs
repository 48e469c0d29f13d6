// Loads a module of the page's program, as it is built for browsers.
import { join } from "node:path";
import { build } from "esbuild";

export const src = new URL("../src/", import.meta.url).pathname;

export async function load(path) {
  const out = await build({ entryPoints: [join(src, path)], bundle: true, write: false, format: "esm", target: "es2022" });
  return import("data:text/javascript;base64," + Buffer.from(out.outputFiles[0].text).toString("base64"));
}
