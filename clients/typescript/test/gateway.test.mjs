// Against a real gateway, of which SLOWWAVE_URL and SLOWWAVE_KEY are the address and a key with all rights. Something
// must work for it: a memory is made of each line of a user, and requests are answered.

import assert from "node:assert/strict";
import test from "node:test";
import { Conflict, InvalidRequest, NotAllowed, NotFound, Recorder, Slowwave, TooLarge } from "slowwave";

const { SLOWWAVE_URL: url, SLOWWAVE_KEY: key } = process.env;
const options = { skip: url ? false : "SLOWWAVE_URL names no gateway", timeout: 20_000 };
const memory = url && new Slowwave({ url, key });

const fresh = () => `agent/${crypto.randomUUID().slice(0, 8)}`;

async function until(read, seconds = 10) {
  for (const end = Date.now() + seconds * 1000; ; ) {
    const found = await read();
    if (found) return found;
    if (Date.now() > end) throw new Error("it did not come true in time");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** An agent that was told these lines, of which there are memories now: the newest first. */
async function told(...lines) {
  const agent = fresh();
  const messages = lines.map((content, place) => ({ role: "user", content, at: new Date(Date.UTC(2026, 2, 1 + place, 12)) }));
  await memory.turnCompleted(agent, "call-1", messages);
  const memories = await until(async () => {
    const found = await memory.memories(agent).take(100);
    return found.length === lines.length && found;
  });
  return { agent, memories };
}

test("a turn is recorded once, however often it is sent", options, async () => {
  const agent = fresh();
  const turn = [{ role: "user", content: "Invoices go to Rita." }, { role: "assistant", content: "Noted." }, { role: "system", content: "Be kind." }];
  const receipt = await memory.turnCompleted(agent, "call-1", turn, { key: "turn-1" });
  assert.deepEqual([receipt.added, receipt.repeated, receipt.ignored, receipt.stored], [2, 0, 1, "postgres"]);
  const again = await memory.turnCompleted(agent, "call-1", turn, { key: "turn-1" });
  assert.deepEqual([again.added, again.repeated, again.last_seq], [0, 2, 2]);
});

test("milestones, prompts and ends of sessions are taken", options, async () => {
  const agent = fresh();
  assert.equal((await memory.taskEvent(agent, "call-1", "run_finished", "The report is ready.", { run: "r-1", at: new Date() })).added, 1);
  for (const end of ["sessionIdle", "sessionCompacted", "sessionReset"]) assert.equal((await memory[end](agent, "call-1")).added, 0);
  assert.ok(Array.isArray(await memory.promptArrived(agent, "call-2")));
  const { sentence } = await memory.why(agent, "call-1");
  assert.match(sentence, /\w+/);
});

test("a note is noted once", options, async () => {
  const agent = fresh();
  const noted = await memory.remember(agent, "Maya lives in Lisbon.", { importance: 0.8, key: "n-1" });
  const again = await memory.remember(agent, "Maya lives in Lisbon.", { importance: 0.8, key: "n-1" });
  assert.deepEqual([noted.added, again.added, noted.id === again.id], [true, false, true]);
});

test("what was said in one session is in the next one's context", options, async () => {
  const { agent, memories } = await told("Invoices go to Rita.", "Lunch is at noon.");
  const { text } = await memory.context(agent, { session: "call-2", query: "Where do invoices go?", max_tokens: 400 });
  assert.match(text, /Invoices go to Rita/);
  const [hit] = await memory.search(agent, "Where do invoices go?", { limit: 1 });
  assert.match(hit.content, /Rita/);
  assert.equal(await memory.used(agent, [memories[0].id], { session: "call-2" }), 1);
  assert.ok((await memory.agents({ limit: 200 }).take(1000)).some((one) => one.agent === agent));
});

test("memories are listed page by page, and read one by one", options, async () => {
  const { agent, memories } = await told("Invoices go to Rita.", "The printer is on floor two.", "Lunch is at noon.");
  assert.deepEqual(memories.map((one) => one.content), ["Lunch is at noon.", "The printer is on floor two.", "Invoices go to Rita."]);
  const pages = [];
  for await (const page of memory.memories(agent, { limit: 2 }).pages()) pages.push(page.items.length);
  assert.deepEqual(pages, [2, 1]);
  const then = await memory.memories(agent, { as_of: new Date("2026-03-01T13:00:00Z") }).take(10);
  assert.deepEqual(then.map((one) => one.content), ["Invoices go to Rita."]);
  assert.deepEqual(await memory.memory(memories[0].id), memories[0]);
  const { sources, changes } = await memory.explain(memories[0].id);
  assert.deepEqual([sources[0].session, sources[0].content, changes[0].action], ["call-1", "Lunch is at noon.", "created"]);
});

test("a correction is a run, and a run can be undone", options, async () => {
  const { agent, memories: [one] } = await told("Invoices go to Rita.");
  const done = await memory.correct(one.id, { content: "Invoices go to Ruth.", revision: one.revision, reason: "a slip" });
  assert.equal(done.memory.content, "Invoices go to Ruth.");
  await assert.rejects(memory.correct(one.id, { content: "To nobody.", revision: one.revision }), Conflict);
  assert.ok((await memory.run(done.run)).items.length > 0);
  assert.ok((await memory.runs().take(50)).some((run) => run.id === done.run));
  assert.equal((await memory.undo(done.run)).undone, done.run);
  assert.deepEqual((await memory.memories(agent).take(10)).map((left) => left.content), ["Invoices go to Rita."]);
});

test("an archived memory is in no answer", options, async () => {
  const { agent, memories: [one] } = await told("Invoices go to Rita.");
  assert.equal((await memory.archive(one.id, { reason: "a joke" })).memory.status, "archived");
  assert.deepEqual(await memory.memories(agent).take(10), []);
  assert.equal((await memory.memory(one.id)).status, "archived");
});

test("a forget shows first, and deletes when confirmed", options, async () => {
  const { agent, memories: [one] } = await told("Invoices go to Rita.");
  const preview = await memory.forget({ agent, session: "call-1" });
  assert.equal(preview.counts.memories, 1);
  assert.equal((await memory.memory(one.id)).id, one.id);
  await assert.rejects(memory.confirmForget({ id: preview.id, confirm: "something else" }), InvalidRequest);
  const forgotten = await memory.confirmForget(preview);
  assert.deepEqual([forgotten.counts.memories, forgotten.problems], [1, []]);
  await assert.rejects(memory.memory(one.id), NotFound);
});

test("days and reviews are listed", options, async () => {
  const { agent } = await told("Invoices go to Rita.");
  assert.ok(Array.isArray(await memory.days(agent).take(5)));
  assert.ok(Array.isArray(await memory.reviews({ tier: "high" }).take(5)));
  assert.equal(typeof (await memory.status()).dirty_sessions, "number");
});

test("changes come while the stream is open, and from a place on", options, async () => {
  const seen = [];
  const over = new AbortController();
  const agent = fresh();
  const reading = (async () => {
    for await (const change of memory.changes({ agent, signal: over.signal })) if (seen.push(change) === 2) break;
  })();
  let said = 0;
  await Promise.race([reading, until(async () => {
    // The stream tells what comes after it was opened: something is said until it has told of it.
    if (seen.length < 2) await memory.turnCompleted(agent, "call-1", [{ role: "user", content: `Invoice ${said++} goes to Rita.` }]);
    return seen.length >= 2;
  })]);
  await reading;
  assert.deepEqual([seen[0].type, seen[0].memory.agent], ["created", agent]);
  for await (const change of memory.changes({ agent, after: seen[0].id })) {
    assert.deepEqual(change, seen[1]);
    break;
  }
});

test("a recorder records what it was told", options, async () => {
  const agent = fresh();
  const recorder = new Recorder(memory, { whenFull: "drop-oldest" });
  for (let turn = 0; turn < 20; turn++) recorder.turnCompleted(agent, `call-${turn % 3}`, [{ role: "user", content: `Line ${turn}.` }]);
  assert.equal(await recorder.close(), true);
  assert.deepEqual(recorder.stats, { waiting: 0, sent: 20, lost: 0 });
  const found = await until(async () => {
    const memories = await memory.memories(agent).take(100);
    return memories.length === 20 && memories;
  });
  const first = found.filter((one) => one.sources[0].session === "call-0").sort((a, b) => a.sources[0].seq - b.sources[0].seq);
  assert.deepEqual(first.map((one) => one.content), [0, 3, 6, 9, 12, 15, 18].map((turn) => `Line ${turn}.`));
});

test("what can't be done is told as an error of its kind", options, async () => {
  await assert.rejects(memory.memory("0190a1b2-0000-7000-8000-000000000000"), NotFound);
  await assert.rejects(memory.turnCompleted("atlas", "s", [{ role: "nobody", content: "?" }]), (error) => error instanceof InvalidRequest && /role/.test(error.detail));
  await assert.rejects(memory.turnCompleted("atlas", "s", [{ role: "user", content: "x".repeat(2 << 20) }]), TooLarge);
  const agent = fresh();
  await memory.turnCompleted(agent, "s", [{ role: "user", content: "Hi." }]);
  await assert.rejects(memory.turnCompleted(agent, "s", [{ role: "user", content: "Hi." }], { scope: "room:office" }), (error) => error instanceof Conflict && error.problem === "scope-conflict");
  const stranger = new Slowwave({ url, key: `sw_aaaaaaaa_${"A".repeat(43)}` });
  await assert.rejects(stranger.memories("atlas").page(), NotAllowed);
});
