/** `Slowwave`: the routes of the gateway as methods. */

import { follow } from "./changes.js";
import { RequestFailed } from "./errors.js";
import type { Page } from "./pages.js";
import { List } from "./pages.js";
import type { Call, CallOptions, Settings, WriteOptions } from "./transport.js";
import { Transport, path, sleep } from "./transport.js";
import type * as t from "./types.js";

/** Paging of a list. limit: the items of one page, 1 to 200. */
export interface ListOptions extends CallOptions {
  limit?: number;
}

export interface ChangesOptions extends CallOptions {
  /** Only changes in the agents' own scopes; `*` stands for any characters. */
  agent?: string | string[];
  /** Only changes in these rooms and teams: `room:NAME`, `team:*`. */
  scope?: string | string[];
  /** The id of the last change that you have seen: the stream goes on behind it. `0-0`: all so far. Default: from now on. */
  after?: string;
}

/** How long the client waits for a worker, after the gateway itself has waited 5 s. */
const WORKER_MS = 120_000;

/**
 * The memory of the agents that a key reaches. One instance serves any number of calls at once.
 *
 * Fields that travel have the names of the HTTP API (`max_tokens`, `valid_from`); what steers the client itself is
 * written in camel case (`timeoutMs`). Every method takes `signal`, and every method that writes takes `key`, the
 * idempotency key; without one it makes one, so its own retries are safe.
 */
export class Slowwave {
  readonly #transport: Transport;

  constructor(settings: Settings) {
    this.#transport = new Transport(settings);
  }

  /**
   * Record what one turn added: usually a user's message and the reply.
   *
   * `scope`: `room:NAME` or `team:NAME` for a shared memory; a session keeps the scope that it began with.
   */
  turnCompleted(agent: string, session: string, messages: t.Message[], options: t.TurnFields & WriteOptions = {}): Promise<t.Receipt> {
    return this.#write(path`/v1/agents/${agent}/sessions/${session}/turns`, options, { messages });
  }

  /** Record a milestone of a task. A later milestone of the same `run` replaces an earlier one in the day's summary. */
  taskEvent(agent: string, session: string, event: t.TaskEventName, text: string, options: t.TaskEventFields & WriteOptions = {}): Promise<t.Receipt> {
    return this.#write(path`/v1/agents/${agent}/sessions/${session}/task-events`, options, { event, text });
  }

  /** Somebody wrote to `agent` in `session`: its other sessions are processed first. Answers which ones. */
  async promptArrived(agent: string, session: string, options: WriteOptions = {}): Promise<string[]> {
    return (await this.#write<{ boosted: string[] }>(path`/v1/agents/${agent}/sessions/${session}/prompt`, options)).boosted;
  }

  /** The conversation went quiet: process it now. */
  sessionIdle(agent: string, session: string, options: WriteOptions = {}): Promise<t.Receipt> {
    return this.#write(path`/v1/agents/${agent}/sessions/${session}/idle`, options);
  }

  /** The host cut the conversation's history short: process it now. */
  sessionCompacted(agent: string, session: string, options: WriteOptions = {}): Promise<t.Receipt> {
    return this.#write(path`/v1/agents/${agent}/sessions/${session}/compacted`, options);
  }

  /** The conversation ends here, another begins: process it now. */
  sessionReset(agent: string, session: string, options: WriteOptions = {}): Promise<t.Receipt> {
    return this.#write(path`/v1/agents/${agent}/sessions/${session}/reset`, options);
  }

  /** Note something in the agent's working memory. The next cycle makes a memory of it if it is marked or important. */
  remember(agent: string, content: string, options: t.NoteFields & WriteOptions = {}): Promise<t.Noted> {
    return this.#write(path`/v1/agents/${agent}/notes`, options, { content });
  }

  /** Read what the agent should know before its first word in a session. `text` goes into the prompt. */
  context(agent: string, options: t.ContextFields & CallOptions = {}): Promise<t.Context> {
    return this.#write(path`/v1/agents/${agent}/context`, options);
  }

  /** Find memories and passages of conversations that answer the query, best first. */
  async search(agent: string, query: string, options: t.SearchFields & CallOptions = {}): Promise<t.Hit[]> {
    return (await this.#write<{ hits: t.Hit[] }>(path`/v1/agents/${agent}/search`, options, { query })).hits;
  }

  /** Tell that a reply of the agent used these memories. Answers how many of them the agent may read. */
  async used(agent: string, memories: string[], options: { session?: string } & WriteOptions = {}): Promise<number> {
    return (await this.#write<{ marked: number }>(path`/v1/agents/${agent}/used`, options, { memories })).marked;
  }

  /** The agents that the key reaches, by name. */
  agents(options: ListOptions = {}): List<t.Agent> {
    return this.#list("/v1/agents", options);
  }

  /** The memories of an agent, or of a room or a team that it shares, the newest first. */
  memories(agent: string, options: t.MemoryFilter & ListOptions = {}): List<t.Memory> {
    return this.#list(path`/v1/agents/${agent}/memories`, options);
  }

  /** Read one memory, archived ones too. */
  memory(id: string, options: CallOptions = {}): Promise<t.Memory> {
    return this.#read(path`/v1/memories/${id}`, options);
  }

  /** Read a memory with who said it, and every change since. */
  explain(id: string, options: CallOptions = {}): Promise<t.Explanation> {
    return this.#read(path`/v1/memories/${id}/explain`, options);
  }

  /** Say a memory in other words, or give it another type. The run that did it can be undone. */
  correct(id: string, correction: t.CorrectionFields & WriteOptions): Promise<t.Corrected> {
    return this.#write(path`/v1/memories/${id}`, correction, {}, "PATCH");
  }

  /** Take a memory out of all answers. It stays readable by its id, and the run can be undone. */
  archive(id: string, options: t.ArchiveFields & WriteOptions = {}): Promise<t.Corrected> {
    return this.#write(path`/v1/memories/${id}/archive`, options);
  }

  /** The days of an agent, the newest first. */
  days(agent: string, options: { since?: string } & ListOptions = {}): List<t.Day> {
    return this.#list(path`/v1/agents/${agent}/days`, options);
  }

  /** One day of an agent (`2026-03-05`), with the newest or the given version of its summary. */
  day(agent: string, day: string, options: { scope?: string; version?: number } & CallOptions = {}): Promise<t.DayStory> {
    return this.#read(path`/v1/agents/${agent}/days/${day}`, options);
  }

  /** Say what a session waits for, in a sentence. */
  why(agent: string, session: string, options: CallOptions = {}): Promise<t.Why> {
    return this.#read(path`/v1/agents/${agent}/sessions/${session}/why`, options);
  }

  /** Say how the tenant stands: what waits, and what went wrong. */
  status(options: CallOptions = {}): Promise<t.Status> {
    return this.#read("/v1/status", options);
  }

  /** Say what a forget would delete. Nothing is deleted until `confirmForget` gets this preview. */
  forget(target: t.ForgetTarget & WriteOptions): Promise<t.ForgetPreview> {
    return this.#settled("/v1/forgets", target);
  }

  /** Delete what a preview showed, for good. */
  confirmForget(preview: Pick<t.ForgetPreview, "id" | "confirm">, options: WriteOptions = {}): Promise<t.Forgotten> {
    return this.#settled(path`/v1/forgets/${preview.id}/confirm`, options, { confirm: preview.confirm });
  }

  /** The runs over scopes that the key reaches, the newest first. */
  runs(options: t.RunFilter & ListOptions = {}): List<t.Run> {
    return this.#list("/v1/runs", options);
  }

  /** One run with a page of its changes. */
  run(id: number, options: ListOptions & { cursor?: string } = {}): Promise<t.RunStory> {
    return this.#read(path`/v1/runs/${id}`, options);
  }

  /** Take a run back. The undo is a run itself, and can be undone. */
  undo(run: number, options: t.UndoFields & WriteOptions = {}): Promise<t.Undone> {
    return this.#settled(path`/v1/runs/${run}/undo`, options);
  }

  /** Questions that wait for an answer, those with most at stake first. */
  reviews(options: t.ReviewFilter & ListOptions = {}): List<t.Review> {
    return this.#list("/v1/reviews", options);
  }

  /** One question, with the answers that may be given and what each would do. */
  review(number: number, options: CallOptions = {}): Promise<t.ReviewDetail> {
    return this.#read(path`/v1/reviews/${number}`, options);
  }

  /** Answer a question. Give `seen` of the question that you read: if a memory changed since, `Conflict` is thrown. */
  decide(number: number, decision: t.Decision & WriteOptions): Promise<t.Decided> {
    return this.#write(path`/v1/reviews/${number}/decision`, decision);
  }

  /**
   * Changes of memories as they are committed: `for await (const change of memory.changes({agent}))`.
   *
   * The stream connects again whenever it breaks and goes on behind the last change that it saw, so none is lost; one
   * may come twice, with the same id. It ends with `signal`, or with an error that another attempt can't mend.
   */
  changes(options: ChangesOptions = {}): AsyncGenerator<t.Change, void, undefined> {
    const { signal, after, ...query } = options;
    return follow<t.Change>(this.#transport, "/v1/changes", { query, after, signal });
  }

  /** Call any other route, webhooks and keys for example. Answers the JSON of its body. */
  async call<Answer = unknown>(method: string, route: string, call: Call = {}): Promise<Answer> {
    return (await this.#transport.send(method, route, call)).body;
  }

  #read<Answer>(route: string, { signal, ...query }: CallOptions & object): Promise<Answer> {
    return this.call("GET", route, { query, ...(signal && { signal }) });
  }

  #list<Item>(route: string, options: CallOptions & object): List<Item> {
    return new List((cursor) => this.#read<Page<Item>>(route, { ...options, cursor } as CallOptions));
  }

  async #write<Answer>(route: string, options: WriteOptions, fields: object = {}, method = "POST"): Promise<Answer> {
    return (await this.#send(route, options, fields, method)).body;
  }

  #send(route: string, { signal, key, ...rest }: WriteOptions, fields: object, method = "POST") {
    return this.#transport.send(method, route, { body: { ...rest, ...fields }, ...(key !== undefined && { key }), ...(signal && { signal }) });
  }

  /** Ask for something that a worker does, and wait until it has. */
  async #settled<Answer>(route: string, options: WriteOptions, fields: object = {}): Promise<Answer> {
    const { signal } = options;
    let { status, body } = await this.#send(route, options, fields);
    const until = Date.now() + WORKER_MS;
    for (let pause = 250; status === 202 && !("result" in body && body.state === "done"); pause = Math.min(pause * 2, 2_000)) {
      if (body.state === "failed") throw new RequestFailed(body.error ?? "the worker did not say why", body);
      if (Date.now() > until) {
        throw new RequestFailed(`no worker has answered within ${WORKER_MS / 1000} s: GET /v1/requests/${body.id} says how it stands`, body);
      }
      await sleep(pause, signal);
      body = await this.#read<t.GatewayRequest>(path`/v1/requests/${body.id}`, signal ? { signal } : {});
    }
    return status === 202 ? { ...body.result, id: body.id } : body;
  }
}
