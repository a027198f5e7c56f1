import assert from "node:assert/strict";
import test from "node:test";
import { ApiError, Conflict, ConnectionFailed, CursorExpired, InvalidRequest, NotAllowed, NotFound, RateLimited, RequestFailed, Slowwave, SlowwaveError, TimedOut, TooLarge, Unavailable } from "slowwave";
import { hangUp, json, problem, serving } from "./server.mjs";

const RECEIPT = { added: 1, repeated: 0, ignored: 0, last_seq: 1, due: false, reason: null, stored: "postgres" };

/** Runs `check` with a client of a server that gives these answers. */
async function against(answers, check, settings = {}) {
  const server = await serving(...answers);
  try {
    await check(new Slowwave({ url: server.url, key: "sw_test", ...settings }), server.seen);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

const turn = (memory, options) => memory.turnCompleted("atlas", "monday", [{ role: "user", content: "Hi" }], options);

test("a request carries the key, its fields and an idempotency key", () =>
  against([json(200, RECEIPT)], async (memory, seen) => {
    assert.deepEqual(await turn(memory, { scope: "room:office" }), RECEIPT);
    const [{ method, url, headers, body }] = seen;
    assert.deepEqual([method, url], ["POST", "/v1/agents/atlas/sessions/monday/turns"]);
    assert.equal(headers.authorization, "Bearer sw_test");
    assert.match(headers["idempotency-key"], /^[0-9a-f-]{36}$/);
    assert.deepEqual(JSON.parse(body), { scope: "room:office", messages: [{ role: "user", content: "Hi" }] });
  }));

test("names are encoded, and an empty or a dotted one is refused", () =>
  against([json(200, { sentence: "nothing" })], async (memory, seen) => {
    await memory.why("github.com/acme/shop", "a?b#c d");
    assert.equal(seen[0].url, "/v1/agents/github.com%2Facme%2Fshop/sessions/a%3Fb%23c%20d/why");
    for (const name of ["", ".", ".."]) assert.throws(() => memory.why("atlas", name), SlowwaveError);
  }));

test("a retry repeats the same idempotency key", () =>
  against([hangUp, problem(503, "postgres-away"), json(200, RECEIPT)], async (memory, seen) => {
    await turn(memory);
    assert.equal(seen.length, 3);
    assert.equal(new Set(seen.map((one) => one.headers["idempotency-key"])).size, 1);
    assert.equal(new Set(seen.map((one) => one.body)).size, 1);
  }));

test("a key of the caller's is sent as it is", () =>
  against([json(200, RECEIPT)], async (memory, seen) => {
    await turn(memory, { key: "monday-turn-7" });
    assert.equal(seen[0].headers["idempotency-key"], "monday-turn-7");
    assert.equal(JSON.parse(seen[0].body).key, undefined);
  }));

test("Retry-After is waited for", () =>
  against([problem(429, "rate-limited", { "Retry-After": "1" }), json(200, RECEIPT)], async (memory, seen) => {
    const begun = Date.now();
    await turn(memory);
    assert.ok(Date.now() - begun >= 1000);
    assert.equal(seen.length, 2);
  }));

test("a pause that is too long is left to the caller", () =>
  against([problem(429, "rate-limited", { "Retry-After": "3600" })], async (memory, seen) => {
    await assert.rejects(turn(memory), (error) => error instanceof RateLimited && error.retryAfter === 3600);
    assert.equal(seen.length, 1);
  }));

test("a request that is under way already is asked for again", () =>
  against([problem(409, "in-progress"), json(200, RECEIPT)], async (memory, seen) => {
    await turn(memory);
    assert.equal(seen.length, 2);
  }));

test("retries end", () =>
  against([problem(503, "postgres-away")], async (memory, seen) => {
    await assert.rejects(turn(memory), Unavailable);
    assert.equal(seen.length, 2);
  }, { maxRetries: 1 }));

for (const [status, name, kind] of [
  [400, "not-json", InvalidRequest],
  [401, "key-refused", NotAllowed],
  [403, "right-missing", NotAllowed],
  [404, "not-found", NotFound],
  [409, "scope-conflict", Conflict],
  [410, "cursor-expired", CursorExpired],
  [413, "too-large", TooLarge],
  [422, "invalid-request", InvalidRequest],
  [500, "internal", Unavailable],
]) {
  test(`${status} ${name} is a ${kind.name}, and not tried again`, () =>
    against([problem(status, name, {}, { cure: "do it well", errors: [{ where: "role", what: "is missing" }] })], async (memory, seen) => {
      await assert.rejects(turn(memory), (error) => {
        assert.ok(error instanceof kind && error instanceof ApiError);
        assert.equal(error.name, kind.name);
        const { status: got, problem: called, detail, cure, errors, requestId } = error;
        assert.deepEqual([got, called, detail, cure, requestId], [status, name, `${name} it is`, "do it well", "r-1"]);
        assert.deepEqual(errors, [{ where: "role", what: "is missing" }]);
        return true;
      });
      assert.equal(seen.length, 1);
    }));
}

test("an error page of a proxy is an error, too", () =>
  against([(response) => response.writeHead(404).end("<html>nothing here</html>")], (memory) =>
    assert.rejects(turn(memory), (error) => error instanceof NotFound && error.detail.includes("nothing here"))));

test("an answer that is not JSON is refused", () =>
  against([(response) => response.end("<html>")], (memory) => assert.rejects(turn(memory), ConnectionFailed), { maxRetries: 0 }));

test("an answer that does not come in time is given up", () =>
  against([() => {}], (memory) => assert.rejects(turn(memory), TimedOut), { timeoutMs: 50, maxRetries: 0 }));

test("a body that does not come in time is given up", () =>
  against([(response) => response.write("{")], (memory) => assert.rejects(turn(memory), TimedOut), { timeoutMs: 50, maxRetries: 0 }));

test("a signal ends a call, and the pause before a retry", () =>
  against([problem(503, "postgres-away", { "Retry-After": "30" })], async (memory) => {
    const gone = new Error("the user is gone");
    await assert.rejects(turn(memory, { signal: AbortSignal.abort(gone) }), gone);
    const control = new AbortController();
    setTimeout(() => control.abort(gone), 50);
    await assert.rejects(turn(memory, { signal: control.signal }), gone);
  }));

test("a redirection is not followed, so the key goes nowhere else", async () => {
  const other = await serving(json(200, RECEIPT));
  try {
    await against([(response) => response.writeHead(307, { Location: `${other.url}/v1` }).end()], (memory) =>
      assert.rejects(turn(memory), ConnectionFailed), { maxRetries: 0 });
    assert.equal(other.seen.length, 0);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test("a list reads page by page, as far as the loop goes", () =>
  against([json(200, { items: [1, 2], next_cursor: "c/1" }), json(200, { items: [3], next_cursor: null })], async (memory, seen) => {
    const list = memory.memories("atlas", { limit: 2, as_of: new Date("2026-03-01T12:00:00Z") });
    for await (const one of list) if (one === 1) break;
    assert.equal(seen.length, 1);
    assert.equal(seen[0].url, "/v1/agents/atlas/memories?limit=2&as_of=2026-03-01T12%3A00%3A00.000Z");
    assert.deepEqual(await list.page("c/1"), { items: [3], next_cursor: null });
    assert.match(seen[1].url, /&cursor=c%2F1$/);
  }));

test("all pages make the whole list", () =>
  against([json(200, { items: [1, 2], next_cursor: "c" }), json(200, { items: [3], next_cursor: null })], async (memory) => {
    assert.deepEqual(await memory.runs().take(10), [1, 2, 3]);
  }));

test("what a worker does later is waited for", () => {
  const waiting = { id: "7", kind: "forget", state: "waiting", result: null, error: null };
  const done = { ...waiting, state: "done", result: { receipt: 3 } };
  return against([json(202, waiting), json(200, waiting), json(200, done)], async (memory, seen) => {
    assert.deepEqual(await memory.confirmForget({ id: "6", confirm: "atlas" }), { receipt: 3, id: "7" });
    assert.deepEqual(seen.map((one) => one.url), ["/v1/forgets/6/confirm", "/v1/requests/7", "/v1/requests/7"]);
  });
});

test("what a worker could not do is an error", () => {
  const failed = { id: "7", kind: "undo", state: "failed", result: null, error: "run 8 depends on it" };
  return against([json(202, { ...failed, state: "waiting" }), json(200, failed)], (memory) =>
    assert.rejects(memory.undo(4), (error) => error instanceof RequestFailed && error.message === "run 8 depends on it"));
});

test("settings that can't work are refused at once", () => {
  assert.throws(() => new Slowwave({ url: "localhost:8700", key: "sw_x" }), /url must begin with http/);
  assert.throws(() => new Slowwave({ url: "http://localhost:8700", key: "" }), /slowwave admin keys add/);
});
