import assert from "node:assert/strict";
import test from "node:test";
import { NotAllowed, Slowwave, SlowwaveError } from "slowwave";
import { breaking, hangUp, problem, serving, streaming } from "./server.mjs";

async function against(answers, check) {
  const server = await serving(...answers);
  try {
    await check(new Slowwave({ url: server.url, key: "sw_test" }), server.seen);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

async function first(count, changes) {
  const found = [];
  for await (const change of changes) if (found.push(change) === count) break;
  return found;
}

test("changes come as they are streamed", () =>
  against([streaming("retry: 10\n\n", ": ping\n\n", 'id: 1\nevent: created\ndata: {"a":1}\n\n', 'id: 2\ndata: {"a":2}\n\n')], async (memory, seen) => {
    assert.deepEqual(await first(2, memory.changes({ agent: "atlas" })), [{ a: 1 }, { a: 2 }]);
    assert.equal(seen[0].url, "/v1/changes?agent=atlas");
    assert.equal(seen[0].headers.accept, "text/event-stream");
    assert.equal(seen[0].headers["last-event-id"], undefined);
  }));

test("a broken stream goes on behind the last change", () =>
  against([breaking('id: 1\ndata: {"a":1}\n\nid: 2\ndata: {"a"'), hangUp, problem(503, "postgres-away"), streaming('id: 2\ndata: {"a":2}\n\n')], async (memory, seen) => {
    assert.deepEqual(await first(2, memory.changes({ after: "0" })), [{ a: 1 }, { a: 2 }]);
    assert.deepEqual(seen.map((one) => one.headers["last-event-id"]), ["0", "1", "1", "1"]);
  }));

test("an id without data moves the place to go on behind", () =>
  against([breaking('id: 7\n\n'), streaming('id: 8\ndata: {"a":8}\n\n')], async (memory, seen) => {
    assert.deepEqual(await first(1, memory.changes()), [{ a: 8 }]);
    assert.equal(seen[1].headers["last-event-id"], "7");
  }));

test("pieces, line ends and characters may be cut anywhere", async () => {
  const whole = Buffer.from('\uFEFFid: 1\r\ndata: {"said":\rdata: "Olá, 我"}\r\n\r\ndata:{"said":2}\n\n:\n\ndata\nid: a\0b\n\n');
  for (const size of [1, 2, 3, 5, 7, whole.length]) {
    const pieces = [];
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size));
    const stream = async (response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const piece of pieces) {
        response.write(piece);
        await new Promise(setImmediate);
      }
    };
    await against([(response) => void stream(response)], async (memory) => {
      assert.deepEqual(await first(2, memory.changes()), [{ said: "Olá, 我" }, { said: 2 }]);
    });
  }
});

test("an answer that can't be mended ends the stream", () =>
  against([problem(401, "key-refused")], (memory) => assert.rejects(first(1, memory.changes()), NotAllowed)));

test("an endless event ends the stream", () =>
  against([(response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const more = () => response.writable && response.write(`data: ${"x".repeat(1 << 20)}\n`, more);
    more();
  }], (memory) => assert.rejects(first(1, memory.changes()), (error) => error instanceof SlowwaveError && /more than/.test(error.message))));

test("a signal ends the stream, also while it is silent", () =>
  against([streaming(": ping\n\n")], async (memory) => {
    const over = new Error("over");
    const control = new AbortController();
    setTimeout(() => control.abort(over), 100);
    await assert.rejects(first(1, memory.changes({ signal: control.signal })), over);
    await assert.rejects(first(1, memory.changes({ signal: control.signal })), over);
  }));
