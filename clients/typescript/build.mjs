// Builds dist/: ES modules, CommonJS, types for both, and one minified file for pages without a bundler.

import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
rmSync("dist", { recursive: true, force: true });
const tsc = (...options) => execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", ...options], { stdio: "inherit" });
tsc();
tsc("--module", "CommonJS", "--moduleResolution", "Node10", "--verbatimModuleSyntax", "false", "--outDir", "dist/cjs");
writeFileSync("dist/cjs/package.json", '{"type":"commonjs"}\n');
await build({ entryPoints: ["src/index.ts"], outfile: "dist/slowwave.min.js", bundle: true, minify: true, format: "esm", target: "es2022" });
