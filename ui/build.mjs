// Builds the page's program and its looks into internal/web/dist, the same bytes from
// the same sources on every machine.
import { build } from "esbuild";
import { statSync } from "node:fs";

const out = new URL("../internal/web/dist/", import.meta.url).pathname;
await build({
  entryPoints: { app: "src/main.tsx" }, outdir: out, bundle: true, minify: true, charset: "utf8", legalComments: "eof",
  format: "iife", target: "es2022", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning",
});
const most = 200 * 1024;
for (const name of ["app.js", "app.css"]) {
  const bytes = statSync(out + name).size;
  console.log(`${name} ${bytes} bytes`);
  if (bytes > most) throw new Error(`${name} has more than ${most} bytes`);
}
