// Bundles the extension (`--production`: small, without a source map) or, with `--tests`, its unit tests.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const shared = { bundle: true, platform: "node", target: "node20", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const tests = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts"));
  await build({ ...shared, entryPoints: tests.map((name) => `test/unit/${name}`), outdir: "build/unit", format: "cjs" });
} else {
  const production = process.argv.includes("--production");
  await build({
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    format: "cjs",
    external: ["vscode"],
    minify: production,
    sourcemap: !production,
  });
}
