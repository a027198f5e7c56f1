import assert from "node:assert/strict";
import test from "node:test";
import { InvalidRequest, NotQueued, Recorder, Slowwave } from "slowwave";
import { hangUp, json, problem, serving, until } from "./server.mjs";

const RECEIPT = { added: 1, repeated: 0, ignored: 0, last_seq: 1, due: false, reason: null, stored: "postgres" };
const text = (one) => JSON.parse(one.body).messages[0].content;
const say = (recorder, session, content, options) => recorder.turnCompleted("atlas", session, [{ role: "user", content }], options);

async function against(answers, settings, check) {
  const server = await serving(...answers);
  const lost = [];
  const memory = new Slowwave({ url: server.url, key: "sw_test", maxRetries: 0 });
  const recorder = new Recorder(memory, { onLost: (call, why) => lost.push([call, why]), ...settings });
  try {
    await check(recorder, server.seen, lost);
  } finally {
    await recorder.close(0);
    await server[Symbol.asyncDispose]();
  }
}

test("calls return at once, and flush waits for them", () =>
  against([json(200, RECEIPT)], { whenFull: "reject" }, async (recorder, seen) => {
    const before = new Date();
    say(recorder, "monday", "one", { key: "k-1", scope: "room:office" });
    recorder.taskEvent("atlas", "monday", "run_finished", "done", { run: "r" });
    recorder.sessionIdle("atlas", "monday");
    assert.deepEqual(recorder.stats, { waiting: 3, sent: 0, lost: 0 });
    assert.equal(await recorder.flush(), true);
    assert.deepEqual(recorder.stats, { waiting: 0, sent: 3, lost: 0 });
    assert.deepEqual(seen.map((one) => one.url.split("/").at(-1)), ["turns", "task-events", "idle"]);
    assert.equal(seen[0].headers["idempotency-key"], "k-1");
    assert.ok(new Date(JSON.parse(seen[0].body).messages[0].at) >= before);
    assert.ok(new Date(seen[2].headers["slowwave-taken"]) >= before);
  }));

test("what was said is sent as it was when it was queued", () =>
  against([json(200, RECEIPT)], { whenFull: "reject" }, async (recorder, seen) => {
    const message = { role: "user", content: "before", at: "2026-03-05T09:00:00Z" };
    recorder.turnCompleted("atlas", "monday", [message]);
    message.content = "after";
    await recorder.flush();
    assert.deepEqual(JSON.parse(seen[0].body).messages, [{ role: "user", content: "before", at: "2026-03-05T09:00:00Z" }]);
  }));

test("a session keeps its order through failures", () =>
  against([hangUp, problem(503, "postgres-away"), json(200, RECEIPT)], { whenFull: "reject" }, async (recorder, seen, lost) => {
    for (const content of ["1", "2", "3"]) say(recorder, "monday", content);
    assert.equal(await recorder.flush(), true);
    assert.deepEqual(seen.map(text), ["1", "1", "1", "2", "3"]);
    assert.equal(new Set(seen.slice(0, 3).map((one) => one.headers["idempotency-key"])).size, 1);
    assert.deepEqual(lost, []);
  }));

test("sessions don't wait for each other, but for the limit", async () => {
  const open = [];
  await against([(response) => open.push(response)], { whenFull: "reject", concurrency: 2 }, async (recorder, seen) => {
    for (const session of ["a", "b", "c"]) say(recorder, session, session);
    await until(() => open.length === 2);
    assert.deepEqual(seen.map(text), ["a", "b"]);
    json(200, RECEIPT)(open[1]);
    await until(() => open.length === 3);
    assert.equal(text(seen[2]), "c");
    for (const one of [open[0], open[2]]) json(200, RECEIPT)(one);
    assert.equal(await recorder.flush(), true);
  });
});

test("a call that the gateway refuses is lost, the next one is not", () =>
  against([problem(422, "invalid-request"), json(200, RECEIPT)], { whenFull: "reject" }, async (recorder, seen, lost) => {
    say(recorder, "monday", "1", { key: "k-1" });
    say(recorder, "monday", "2");
    assert.equal(await recorder.flush(), true);
    assert.deepEqual(recorder.stats, { waiting: 0, sent: 1, lost: 1 });
    assert.equal(lost[0][0].key, "k-1");
    assert.ok(lost[0][1] instanceof InvalidRequest);
  }));

test("a full queue refuses the newest", () =>
  against([() => {}], { whenFull: "reject", maxCalls: 2 }, async (recorder, _seen, lost) => {
    say(recorder, "a", "1");
    say(recorder, "a", "2");
    assert.throws(() => say(recorder, "a", "3"), NotQueued);
    assert.deepEqual([recorder.stats, lost], [{ waiting: 2, sent: 0, lost: 0 }, []]);
  }));

test("a full queue gives up the oldest that is not under way", () =>
  against([() => {}], { whenFull: "drop-oldest", maxCalls: 2 }, async (recorder, seen, lost) => {
    say(recorder, "a", "1");
    await until(() => seen.length === 1);
    say(recorder, "a", "2");
    say(recorder, "a", "3");
    assert.deepEqual(lost.map(([call]) => text(call)), ["2"]);
    assert.deepEqual(recorder.stats, { waiting: 2, sent: 0, lost: 1 });
  }));

test("the characters that wait are bounded, too", () =>
  against([() => {}], { whenFull: "drop-oldest", maxCharacters: 1000 }, async (recorder, _seen, lost) => {
    for (let i = 0; i < 5; i++) say(recorder, "a", "x".repeat(300));
    assert.equal(recorder.stats.waiting, 2);
    assert.equal(lost.length, 3);
    assert.throws(() => say(recorder, "a", "x".repeat(1000)), NotQueued);
  }));

test("flush ends in time, and close tells what is left", () =>
  against([() => {}], { whenFull: "reject" }, async (recorder, _seen, lost) => {
    say(recorder, "a", "1");
    say(recorder, "b", "2");
    assert.equal(await recorder.flush(20), false);
    assert.equal(await recorder.close(20), false);
    assert.deepEqual(lost.map(([call]) => text(call)), ["1", "2"]);
    assert.throws(() => say(recorder, "a", "3"), NotQueued);
    assert.equal(await recorder.close(), true);
  }));
