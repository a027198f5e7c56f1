// Compiled, never run: the types as a program of ES modules sees them.

import { type Change, Conflict, type Hit, Recorder, Slowwave } from "slowwave";

const memory = new Slowwave({ url: "http://localhost:8700", key: "sw_x", timeoutMs: 5_000 });
const receipt = await memory.turnCompleted("atlas", "monday", [{ role: "user", content: "Hi", at: new Date(), tool_calls: [] }], { scope: "room:office", key: "k" });
const stored: "postgres" | "queued" | "spool" = receipt.stored;
const hits: Hit[] = await memory.search("atlas", "seat", { limit: 3, min_relevance: 0.2 });
const text: string = (await memory.context("atlas", { session: "monday", max_tokens: 500 })).text;
for await (const one of memory.memories("atlas", { status: "active", as_of: new Date() })) one.revision?.toFixed();
for await (const change of memory.changes({ agent: "atlas", signal: AbortSignal.timeout(10) })) ((_: Change) => {})(change);
const preview = await memory.forget({ agent: "atlas", session: "monday" });
const counts: Record<string, number> = (await memory.confirmForget(preview)).counts;
const recorder = new Recorder(memory, { whenFull: "drop-oldest", onLost: (call, why) => void [call.key, why instanceof Conflict] });
recorder.turnCompleted("atlas", "monday", [{ role: "user", content: "Hi" }]);
void [stored, hits, text, counts];

// @ts-expect-error: what is done when the queue is full is a choice
new Recorder(memory, {});
// @ts-expect-error: no such event
await memory.taskEvent("atlas", "monday", "run_started", "…");
// @ts-expect-error: no such option
await memory.search("atlas", "seat", { most: 3 });
