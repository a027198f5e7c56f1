/** Requests with a time limit, retries and idempotency keys. */

import { ApiError, ConnectionFailed, SlowwaveError, TimedOut, errorOf } from "./errors.js";

export interface Settings {
  /** Where the gateway answers, for example `http://localhost:8700`. A path in it is kept. */
  url: string;
  /** A key of the gateway, `sw_…`. */
  key: string;
  /** Used in place of the global `fetch`. */
  fetch?: typeof fetch;
  /** How long one attempt may take, its body included. Default: 30,000. */
  timeoutMs?: number;
  /** How often a request is sent again after a transient failure. Default: 3. */
  maxRetries?: number;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  /** The idempotency key: the same call with the same key is done once. Without one, the client makes one. */
  key?: string;
}

export interface Call extends WriteOptions {
  query?: Record<string, unknown>;
  /** JSON text, or a value of which the JSON is sent. */
  body?: unknown;
  /** Since when the call has waited: what was forgotten after that stays forgotten. */
  taken?: string;
}

export interface Answered {
  status: number;
  headers: Headers;
  body: any;
}

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 8_000;
/** If the gateway asks for a longer pause, the caller gets the error at once and decides. */
const LONGEST_PAUSE_MS = 60_000;
const TRANSIENT = new Set([408, 429, 502, 503, 504]);

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return TRANSIENT.has(error.status) || error.problem === "in-progress";
  return error instanceof ConnectionFailed;
}

/** The pause before attempt `attempt` (from 0): it doubles, with jitter, and is at least what the gateway asks for. */
export function pauseMs(attempt: number, error?: unknown): number {
  const limit = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  const asked = error instanceof ApiError && error.retryAfter ? error.retryAfter * 1000 : 0;
  return asked + limit * (0.5 + Math.random() / 2);
}

/** Wait; rejects with the signal's reason. A `background` wait doesn't keep a Node process alive. */
export function sleep(ms: number, signal?: AbortSignal, background = false): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    if (background) (timer as { unref?: () => void }).unref?.();
    signal?.addEventListener("abort", end, { once: true });
  });
}

export class Transport {
  readonly #url: string;
  readonly #key: string;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;

  constructor(settings: Settings) {
    const { url, key, timeoutMs = 30_000, maxRetries = 3 } = settings;
    if (!/^https?:\/\//.test(url)) throw new SlowwaveError(`url must begin with http:// or https://, got ${JSON.stringify(url)}`);
    if (!key) throw new SlowwaveError("key must be a key of the gateway, sw_…: `slowwave admin keys add` makes one");
    this.#url = url.replace(/\/+$/, "");
    this.#key = key;
    // Browsers refuse a fetch that is called as a method of another object.
    this.#fetch = settings.fetch ?? ((input, init) => fetch(input, init));
    this.#timeoutMs = timeoutMs;
    this.#maxRetries = maxRetries;
  }

  /** Send a request until it is answered, and read the answer's JSON. Retries repeat the same idempotency key. */
  async send(method: string, path: string, call: Call = {}): Promise<Answered> {
    const headers: Record<string, string> = { Accept: "application/json" };
    let body: string | undefined;
    if (method !== "GET") headers["Idempotency-Key"] = call.key ?? crypto.randomUUID();
    if (call.taken) headers["Slowwave-Taken"] = call.taken;
    if (call.body !== undefined) {
      headers["Content-Type"] = "application/json";
      body = typeof call.body === "string" ? call.body : JSON.stringify(call.body);
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(method, this.#address(path, call.query), headers, body, call.signal);
      } catch (error) {
        const pause = pauseMs(attempt, error);
        if (attempt >= this.#maxRetries || !isTransient(error) || pause > LONGEST_PAUSE_MS) throw error;
        await sleep(pause, call.signal);
      }
    }
  }

  /** Begin an answer that goes on: its body is the caller's to read. `timeoutMs` counts until the headers are there. */
  async open(path: string, query: Record<string, unknown>, extra: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const limit = limited(this.#timeoutMs, signal);
    try {
      const response = await this.#request("GET", this.#address(path, query), extra, undefined, limit.signal);
      if (!response.ok) throw errorOf(response.status, await response.text(), response.headers);
      return response;
    } catch (error) {
      throw limit.reasonOf(error);
    } finally {
      limit.clear();
    }
  }

  async #once(method: string, address: string, headers: Record<string, string>, body: string | undefined, signal?: AbortSignal): Promise<Answered> {
    const limit = limited(this.#timeoutMs, signal);
    try {
      const response = await this.#request(method, address, headers, body, limit.signal);
      const text = await response.text();
      if (!response.ok) throw errorOf(response.status, text, response.headers);
      return { status: response.status, headers: response.headers, body: text ? parsed(text) : undefined };
    } catch (error) {
      throw limit.reasonOf(error);
    } finally {
      limit.clear();
      limit.release();
    }
  }

  #request(method: string, address: string, headers: Record<string, string>, body: string | undefined, signal: AbortSignal): Promise<Response> {
    // A key must not follow a redirection to another host.
    const all = { ...headers, Authorization: `Bearer ${this.#key}` };
    return this.#fetch(address, { method, headers: all, signal, redirect: "error", ...(body === undefined ? {} : { body }) });
  }

  #address(path: string, query: Record<string, unknown> = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined || value === null) continue;
      for (const one of Array.isArray(value) ? value : [value]) {
        search.append(name, one instanceof Date ? one.toISOString() : String(one));
      }
    }
    const text = search.toString();
    return this.#url + path + (text && `?${text}`);
  }
}

/** A path of which the values are encoded: a name may hold any character. */
export function path(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return parts.reduce((whole, part, place) => whole + encoded(values[place - 1]!) + part);
}

function encoded(value: string | number): string {
  if (value === "" || value === undefined || value === null) throw new SlowwaveError("a name or an id is empty");
  const text = encodeURIComponent(value);
  // URLs treat these two as steps between folders, percent-encoded or not.
  if (text === "." || text === "..") throw new SlowwaveError(`a name can't be ${JSON.stringify(text)}`);
  return text;
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConnectionFailed(`the answer is not JSON: ${JSON.stringify(text.slice(0, 200))}`, { cause });
  }
}

/** A signal that ends after `ms` or with the caller's own; and what an error that it caused is to be called. */
function limited(ms: number, caller?: AbortSignal) {
  const controller = new AbortController();
  const end = () => controller.abort(caller!.reason);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    controller.abort();
  }, ms);
  if (caller?.aborted) end();
  else caller?.addEventListener("abort", end, { once: true });
  return {
    signal: controller.signal,
    clear: () => clearTimeout(timer),
    release: () => caller?.removeEventListener("abort", end),
    reasonOf(error: unknown): unknown {
      if (caller?.aborted) return caller.reason;
      if (late) return new TimedOut(`no answer within ${ms} ms`, { cause: error });
      if (error instanceof SlowwaveError) return error;
      const why = error instanceof Error ? error.message : String(error);
      return new ConnectionFailed(`the gateway can't be reached: ${why}`, { cause: error });
    },
  };
}
