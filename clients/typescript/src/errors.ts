/** Every error that the client throws on purpose, as one tree below `SlowwaveError`. */

import type { GatewayRequest } from "./types.js";

/** The body of an error answer: application/problem+json. */
export interface Problem {
  /** A stable path, `/problems/NAME`. */
  type: string;
  title: string;
  status: number;
  /** What was wrong, as one sentence. */
  detail: string;
  /** What to do about it. */
  cure?: string | null;
  /** The fields that were wrong. */
  errors?: { where: string; what: string }[] | null;
  request_id?: string;
}

/** The root of the tree. */
export class SlowwaveError extends Error {
  override name = "SlowwaveError";
}

/** The gateway could not be reached, or its answer broke off. `cause` is the error of `fetch`. */
export class ConnectionFailed extends SlowwaveError {
  override name = "ConnectionFailed";
}

/** The gateway did not answer within `timeoutMs`. */
export class TimedOut extends ConnectionFailed {
  override name = "TimedOut";
}

/** A `Recorder` takes nothing more: its queue is full, or it was closed. The call was not recorded. */
export class NotQueued extends SlowwaveError {
  override name = "NotQueued";
}

/** A worker could not do what was asked of it, or has not answered yet: `request` says which, and why. */
export class RequestFailed extends SlowwaveError {
  override name = "RequestFailed";
  readonly request: GatewayRequest;

  constructor(message: string, request: GatewayRequest) {
    super(message);
    this.request = request;
  }
}

/** The gateway answered with an error. The fields are those of the problem in its body. */
export class ApiError extends SlowwaveError {
  override name = "ApiError";
  readonly status: number;
  /** The name of the problem: the last part of `type`, for example `scope-conflict`. */
  readonly problem: string;
  readonly title: string;
  readonly detail: string;
  readonly cure: string | null;
  readonly errors: { where: string; what: string }[];
  /** Names the request in the gateway's log. */
  readonly requestId: string | null;
  /** The seconds of the header `Retry-After`, if the gateway sent one. */
  readonly retryAfter: number | null;

  constructor(body: Problem, retryAfter: number | null = null) {
    super(body.cure ? `${body.detail}: ${body.cure}` : body.detail);
    this.status = body.status;
    this.problem = body.type.slice(body.type.lastIndexOf("/") + 1);
    this.title = body.title;
    this.detail = body.detail;
    this.cure = body.cure ?? null;
    this.errors = body.errors ?? [];
    this.requestId = body.request_id ?? null;
    this.retryAfter = retryAfter;
  }
}

/** 400, 415, 422: the request is not valid; `errors` names the fields. */
export class InvalidRequest extends ApiError {
  override name = "InvalidRequest";
}

/** 413: the body or a message is over a limit. */
export class TooLarge extends InvalidRequest {
  override name = "TooLarge";
}

/** 401, 403: the key is not valid, or lacks a right. */
export class NotAllowed extends ApiError {
  override name = "NotAllowed";
}

/** 404: there is no such thing, or the key may not see it. */
export class NotFound extends ApiError {
  override name = "NotFound";
}

/** 409: it can't be done as things are; the object changed since it was read, for example. */
export class Conflict extends ApiError {
  override name = "Conflict";
}

/** 410: changes can't be read from this place on. Read all memories again, and follow the changes from now on. */
export class CursorExpired extends ApiError {
  override name = "CursorExpired";
}

/** 429: the key or its tenant is over a rate limit or quota; `retryAfter` says for how long. */
export class RateLimited extends ApiError {
  override name = "RateLimited";
}

/** 408 and 5xx: the gateway, or a server behind it, can't answer now. */
export class Unavailable extends ApiError {
  override name = "Unavailable";
}

const KINDS: Record<number, typeof ApiError> = {
  400: InvalidRequest,
  401: NotAllowed,
  403: NotAllowed,
  404: NotFound,
  408: Unavailable,
  409: Conflict,
  410: CursorExpired,
  413: TooLarge,
  415: InvalidRequest,
  422: InvalidRequest,
  429: RateLimited,
};

/** The error of an answer. A body that is no problem, as of a proxy, is replaced by one that quotes its beginning. */
export function errorOf(status: number, text: string, headers: Headers): ApiError {
  const kind = KINDS[status] ?? (status >= 500 ? Unavailable : ApiError);
  return new kind(problemOf(status, text, headers), secondsOf(headers.get("Retry-After")));
}

function problemOf(status: number, text: string, headers: Headers): Problem {
  try {
    const body = JSON.parse(text);
    if (typeof body?.type === "string" && typeof body.detail === "string") return { ...body, status };
  } catch {
    // Not JSON: not the gateway's own answer.
  }
  const detail = `the answer has the status ${status} and no problem in its body: ${JSON.stringify(text.slice(0, 200))}`;
  const id = headers.get("X-Request-Id");
  return { type: "/problems/unknown", title: "Unknown", status, detail, ...(id ? { request_id: id } : {}) };
}

/** `Retry-After` in seconds: a number, or the time until a date. */
function secondsOf(header: string | null): number | null {
  if (!header) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}
