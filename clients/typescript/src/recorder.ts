/** `Recorder`: recording in the background, behind a bounded queue. */

import type { Slowwave } from "./client.js";
import { NotQueued } from "./errors.js";
import { isTransient, path, pauseMs, sleep } from "./transport.js";
import type * as t from "./types.js";

/** drop-oldest: the queue gives up what has waited longest. reject: the call throws `NotQueued`. */
export type WhenFull = "drop-oldest" | "reject";

/** A call that was queued. body: the JSON that is sent, as it was at the time of the call. */
export interface Queued {
  route: string;
  key: string;
  body: string;
  /** When it was queued. */
  taken: string;
}

export interface RecorderSettings {
  whenFull: WhenFull;
  /** The most calls that wait. Default: 1,000. */
  maxCalls?: number;
  /** The most characters of JSON that wait. Default: 16,000,000. */
  maxCharacters?: number;
  /** How many sessions are sent at once. The calls of one session are sent one after the other. Default: 4. */
  concurrency?: number;
  /** Is told of every call that is lost: dropped from a full queue, refused by the gateway, or left over by `close`. */
  onLost?: (call: Queued, why: unknown) => void;
}

interface Job extends Queued {
  /** Calls with the same lane keep their order. */
  lane: string;
  attempt: number;
}

const FLUSH_MS = 30_000;
const AT_ONCE = 4;

/**
 * Records behind the reply: each method returns at once, and the calls are sent in the background, again and again
 * while the gateway can't be reached. What is queued when the process ends is lost: call `close` before.
 */
export class Recorder {
  readonly #memory: Slowwave;
  readonly #settings: Required<Omit<RecorderSettings, "onLost">>;
  readonly #onLost: (call: Queued, why: unknown) => void;
  #jobs: Job[] = [];
  readonly #busy = new Set<string>();
  readonly #sending = new Set<Job>();
  #characters = 0;
  #sent = 0;
  #lost = 0;
  #closed = false;
  readonly #waiters = new Set<() => void>();
  readonly #end = new AbortController();

  constructor(memory: Slowwave, settings: RecorderSettings) {
    this.#memory = memory;
    this.#settings = { maxCalls: 1_000, maxCharacters: 16_000_000, concurrency: AT_ONCE, ...settings };
    this.#onLost = settings.onLost ?? (() => {});
  }

  /** waiting: calls in the queue or under way; sent: that the gateway took; lost: see `onLost`. */
  get stats(): { waiting: number; sent: number; lost: number } {
    return { waiting: this.#jobs.length, sent: this.#sent, lost: this.#lost };
  }

  /** Queue a turn. Messages without `at` are dated now. Throws `NotQueued`. */
  turnCompleted(agent: string, session: string, messages: t.Message[], options: t.TurnFields & { key?: string } = {}): void {
    const { key, ...rest } = options;
    const at = new Date();
    this.#put(agent, session, "turns", { ...rest, messages: messages.map((message) => ({ ...message, at: message.at ?? at })) }, key);
  }

  /** Queue a milestone of a task. Throws `NotQueued`. */
  taskEvent(agent: string, session: string, event: t.TaskEventName, text: string, options: t.TaskEventFields & { key?: string } = {}): void {
    const { key, ...rest } = options;
    this.#put(agent, session, "task-events", { ...rest, event, text, at: rest.at ?? new Date() }, key);
  }

  /** Queue that the conversation went quiet. Throws `NotQueued`. */
  sessionIdle(agent: string, session: string): void {
    this.#put(agent, session, "idle", {});
  }

  /** Queue that the conversation's history was cut short. Throws `NotQueued`. */
  sessionCompacted(agent: string, session: string): void {
    this.#put(agent, session, "compacted", {});
  }

  /** Queue that the conversation ends here. Throws `NotQueued`. */
  sessionReset(agent: string, session: string): void {
    this.#put(agent, session, "reset", {});
  }

  /** Wait until everything that is queued now was sent or lost; false if that took longer than `timeoutMs` (30 s). */
  async flush(timeoutMs = FLUSH_MS): Promise<boolean> {
    const over = new AbortController();
    const late = sleep(timeoutMs, over.signal).then(() => false, () => false);
    try {
      const waited = new Set(this.#jobs);
      while (this.#jobs.some((job) => waited.has(job))) {
        let wake = () => {};
        const next = new Promise<boolean>((resolve) => this.#waiters.add((wake = () => resolve(true))));
        const woken = await Promise.race([next, late]);
        this.#waiters.delete(wake);
        if (!woken) return false;
      }
      return true;
    } finally {
      over.abort();
    }
  }

  /** Take no more calls, and flush. What is left after `timeoutMs` (30 s) is lost, and `onLost` is told; false then. */
  async close(timeoutMs = FLUSH_MS): Promise<boolean> {
    this.#closed = true;
    const done = await this.flush(timeoutMs);
    this.#end.abort(new NotQueued("the recorder was closed"));
    for (const job of [...this.#jobs]) this.#lose(job, this.#end.signal.reason);
    return done;
  }

  #put(agent: string, session: string, what: string, fields: object, key: string = crypto.randomUUID()): void {
    const lane = path`/v1/agents/${agent}/sessions/${session}/`;
    const body = JSON.stringify(fields);
    const job: Job = { lane, route: lane + what, key, body, taken: new Date().toISOString(), attempt: 0 };
    if (this.#closed) throw new NotQueued("the recorder was closed");
    const { whenFull, maxCalls, maxCharacters } = this.#settings;
    if (body.length > maxCharacters) throw new NotQueued(`a call has at most ${maxCharacters} characters, this one has ${body.length}`);
    while (this.#jobs.length >= maxCalls || this.#characters + body.length > maxCharacters) {
      const why = new NotQueued(`the queue is full: ${this.#jobs.length} calls, ${this.#characters} characters`);
      // A call that is under way may have arrived: it is given up last.
      const oldest = this.#jobs.find((one) => !this.#sending.has(one)) ?? this.#jobs[0];
      if (whenFull === "reject" || !oldest) throw why;
      this.#lose(oldest, why);
    }
    this.#jobs.push(job);
    this.#characters += body.length;
    this.#work();
  }

  /** Begin to send what may be sent now: the first call of each session, as many sessions as are sent at once. */
  #work(): void {
    const seen = new Set(this.#busy);
    for (const job of this.#jobs) {
      if (this.#busy.size >= this.#settings.concurrency) return;
      if (!seen.has(job.lane)) {
        seen.add(job.lane);
        void this.#send(job);
      }
    }
  }

  async #send(job: Job): Promise<void> {
    this.#busy.add(job.lane);
    this.#sending.add(job);
    try {
      await this.#memory.call("POST", job.route, { body: job.body, key: job.key, taken: job.taken, signal: this.#end.signal });
      this.#sent += this.#remove(job) ? 1 : 0;
    } catch (error) {
      if (isTransient(error)) await sleep(pauseMs(job.attempt++, error), this.#end.signal, true).catch(() => {});
      else this.#lose(job, error);
    } finally {
      this.#busy.delete(job.lane);
      this.#sending.delete(job);
    }
    this.#work();
  }

  #remove(job: Job): boolean {
    const place = this.#jobs.indexOf(job);
    if (place < 0) return false;
    this.#jobs.splice(place, 1);
    this.#characters -= job.body.length;
    for (const wake of this.#waiters) wake();
    return true;
  }

  #lose(job: Job, why: unknown): void {
    if (!this.#remove(job)) return;
    this.#lost += 1;
    const { route, key, body, taken } = job;
    this.#onLost({ route, key, body, taken }, why);
  }
}
