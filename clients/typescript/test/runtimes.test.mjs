import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import * as module from "slowwave";
import { json, serving } from "./server.mjs";

test("modules and CommonJS export the same names", () => {
  const common = createRequire(import.meta.url)("slowwave");
  assert.deepEqual(Object.keys(common).sort(), Object.keys(module).sort());
});

test("the client runs with nothing but what browsers and edge runtimes have, too", async () => {
  const built = await build({ entryPoints: ["dist/slowwave.min.js"], bundle: true, format: "iife", globalName: "slowwave", write: false });
  const common = { fetch, AbortController, TextDecoder, URLSearchParams, crypto, setTimeout, clearTimeout };
  const context = createContext({ ...common });
  runInContext(built.outputFiles[0].text, context);
  const { Slowwave, Recorder } = runInContext("slowwave", context);
  const server = await serving(
    json(200, { hits: [] }),
    json(200, { items: [], next_cursor: null }),
    (response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).write('id: 1\ndata: {"a":1}\n\n'),
    json(200, {}),
  );
  try {
    const memory = new Slowwave({ url: server.url, key: "sw_x" });
    assert.equal((await memory.search("atlas", "seat")).length, 0);
    assert.equal((await memory.memories("atlas").take(5)).length, 0);
    for await (const change of memory.changes()) {
      assert.equal(change.a, 1);
      break;
    }
    const recorder = new Recorder(memory, { whenFull: "reject" });
    recorder.sessionIdle("atlas", "monday");
    assert.equal(await recorder.close(), true);
  } finally {
    await server[Symbol.asyncDispose]();
  }
});

test("the sources name no module of Node", async () => {
  assert.doesNotMatch(await readFile("dist/slowwave.min.js", "utf8"), /\b(process|Buffer|globalThis|window|require)\b/);
});
