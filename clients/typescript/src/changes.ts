/** The stream of changes, connected again whenever it breaks. */

import { ConnectionFailed } from "./errors.js";
import { readEvents } from "./events.js";
import type { Transport } from "./transport.js";
import { isTransient, pauseMs, sleep } from "./transport.js";

/** The gateway sends a comment at least every 15 s. After so long without a byte the connection is given up. */
const SILENCE_MS = 45_000;
/** The longest pause grows no further: 8 s and jitter. */
const MOST_ATTEMPTS = 16;

export interface Following {
  query: Record<string, unknown>;
  /** The id of the last change that was seen; the stream goes on behind it. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Every change as its parsed data. Ends only with an error that another attempt can't mend, or with the signal's reason. */
export async function* follow<Change>(transport: Transport, path: string, following: Following): AsyncGenerator<Change, void, undefined> {
  const { query, signal } = following;
  let last = following.after;
  let attempt = 0;
  let asked = 0;
  for (;;) {
    const connection = new AbortController();
    const end = () => connection.abort(signal!.reason);
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener("abort", end, { once: true });
    let watch: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(watch);
      watch = setTimeout(() => connection.abort(new ConnectionFailed(`the stream was silent for ${SILENCE_MS} ms`)), SILENCE_MS);
    };
    let failure: unknown;
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last !== undefined) headers["Last-Event-ID"] = last;
      const response = await transport.open(path, query, headers, connection.signal);
      alive();
      const events = readEvents(response.body!, (ms) => (asked = Math.min(ms, 60_000)), alive);
      for await (const event of events) {
        attempt = 0;
        // Kept before the change is handed over: the caller who stops there has it.
        if (event.id !== null) last = event.id;
        if (!event.data) continue;
        clearTimeout(watch); // The time that the caller takes is not the gateway's.
        yield JSON.parse(event.data) as Change;
        alive();
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!isTransient(error)) throw error;
      failure = error;
    } finally {
      clearTimeout(watch);
      signal?.removeEventListener("abort", end);
      connection.abort();
    }
    await sleep(Math.max(asked, pauseMs(attempt, failure)), signal);
    attempt = Math.min(attempt + 1, MOST_ATTEMPTS);
  }
}
