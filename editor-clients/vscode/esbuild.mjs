// Bundles the extension (`--production`: small, without a source map) or its tests: those that run in Node (`--tests`),
// those that run in the editor's extension host (`--host-tests`).
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const shared = { bundle: true, platform: "node", target: "node20", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const tests = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts"));
  await build({ ...shared, entryPoints: tests.map((name) => `test/unit/${name}`), outdir: "build/unit", format: "cjs" });
} else if (process.argv.includes("--host-tests")) {
  await build({ ...shared, entryPoints: ["test/host/index.ts"], outfile: "build/host.js", format: "cjs", external: ["vscode"] });
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
