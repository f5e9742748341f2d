// Builds the widgets' bundles, or bundles and runs their unit tests.
//
//   node build.mjs                 each widget's module and style sheet → ../static
//   node build.mjs --outdir DIR    the same into DIR (a test compares it with the committed files)
//   node build.mjs --test [NAME…]  every *.test.ts, or those whose path holds NAME
//   node build.mjs --run FILE      one TypeScript file, with this process's input and output
//
// The result depends on the sources and on the pinned esbuild only: no dates, hashes or machine paths.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

const shared = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
};

// Bundle → its folder; the editor's module lies at the top.
const modules = { editor: "index.ts", viewer: "viewer/index.ts", tokens: "tokens/index.ts", planner: "planner/index.ts", buckets: "buckets/index.ts", capture: "capture/index.ts", quiz: "quiz/index.ts", page: "page/index.ts", page_viewer: "page/viewer.ts", page_planner: "page/planner.ts", page_buckets: "page/buckets.ts", page_tokens: "page/tokens.ts", page_capture: "page/capture.ts" };
const sheets = { editor: "editor.css", viewer: "viewer/viewer.css", tokens: "tokens/tokens.css", planner: "planner/planner.css", buckets: "buckets/buckets.css", capture: "capture/capture.css", quiz: "quiz/quiz.css" };
const tested = ["model", "view", "viewer", "knobs", "tokens", "planner", "buckets", "capture", "quiz", "page"];

async function buildBundle(outdir) {
  await build({
    ...shared,
    entryPoints: modules,
    outdir,
    platform: "browser",
    legalComments: "none",
    // Saved pages may define an AMD loader; the bundle must not take itself for an AMD module.
    define: { "define.amd": "false" },
  });
  await build({ ...shared, entryPoints: sheets, outdir });
}

function testFiles(folder) {
  if (!existsSync(join(here, folder))) return [];
  return readdirSync(join(here, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}

async function runTests(names) {
  const files = tested.flatMap(testFiles)
    .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
    .sort();
  if (files.length === 0) throw new Error("no test file matches");
  return runInNode(files, ["--test"]);
}

async function runInNode(files, options) {
  const outdir = mkdtempSync(join(tmpdir(), "stepviz-node-"));
  try {
    await build({
      ...shared,
      entryPoints: files,
      outbase: here,
      outdir,
      outExtension: { ".js": ".mjs" },
      platform: "node",
      packages: "external",
      sourcemap: "inline",
    });
    const built = files.map((file) => join(outdir, file.replace(/\.ts$/, ".mjs")));
    const run = spawnSync(process.execPath, ["--enable-source-maps", ...options, ...built], {
      cwd: here, // test files find the shared cases from here
      stdio: "inherit",
    });
    return run.status ?? 1;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

const [option, ...rest] = process.argv.slice(2);
if (option === "--test") {
  process.exitCode = await runTests(rest);
} else if (option === "--run" && rest.length === 1) {
  process.exitCode = await runInNode(rest, []);
} else if (option === "--outdir" && rest.length === 1) {
  await buildBundle(resolve(rest[0]));
} else if (option === undefined) {
  await buildBundle(resolve(here, "../static"));
} else {
  console.error("usage: node build.mjs [--outdir DIR | --test [NAME…] | --run FILE]");
  process.exitCode = 2;
}
