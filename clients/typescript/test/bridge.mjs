// Lets another program call the client: reads calls as lines of JSON, and answers each with a line.
//
// A call names a request of the HTTP API; it is made by the method of the client that stands for that request. Used by
// the suite that runs the same cases over every transport.

import { createInterface } from "node:readline";
import { ApiError, RequestFailed, Slowwave } from "slowwave";

const [url, key] = process.argv.slice(2);
const memory = new Slowwave({ url, key });

const page = (list, query) => list.page(query.cursor);
const SESSION = "/v1/agents/:/sessions/:";
const METHODS = {
  [`POST ${SESSION}/turns`]: ([agent, session], { messages, ...rest }) => memory.turnCompleted(agent, session, messages, rest),
  [`POST ${SESSION}/task-events`]: ([agent, session], { event, text, ...rest }) => memory.taskEvent(agent, session, event, text, rest),
  [`POST ${SESSION}/prompt`]: async ([agent, session], rest) => ({ boosted: await memory.promptArrived(agent, session, rest) }),
  [`POST ${SESSION}/idle`]: ([agent, session], rest) => memory.sessionIdle(agent, session, rest),
  [`POST ${SESSION}/compacted`]: ([agent, session], rest) => memory.sessionCompacted(agent, session, rest),
  [`POST ${SESSION}/reset`]: ([agent, session], rest) => memory.sessionReset(agent, session, rest),
  [`GET ${SESSION}/why`]: ([agent, session]) => memory.why(agent, session),
  "POST /v1/agents/:/notes": ([agent], { content, ...rest }) => memory.remember(agent, content, rest),
  "POST /v1/agents/:/context": ([agent], rest) => memory.context(agent, rest),
  "POST /v1/agents/:/search": async ([agent], { query, ...rest }) => ({ hits: await memory.search(agent, query, rest) }),
  "POST /v1/agents/:/used": async ([agent], { memories, ...rest }) => ({ marked: await memory.used(agent, memories, rest) }),
  "GET /v1/agents/:/memories": ([agent], query) => page(memory.memories(agent, query), query),
  "GET /v1/memories/:": ([id]) => memory.memory(id),
  "GET /v1/memories/:/explain": ([id]) => memory.explain(id),
  "PATCH /v1/memories/:": ([id], rest) => memory.correct(id, rest),
  "POST /v1/memories/:/archive": ([id], rest) => memory.archive(id, rest),
  "POST /v1/forgets": (_, target) => memory.forget(target),
  "POST /v1/forgets/:/confirm": ([id], { confirm, ...rest }) => memory.confirmForget({ id, confirm }, rest),
  "POST /v1/runs/:/undo": ([run], rest) => memory.undo(run, rest),
  "GET /v1/status": () => memory.status(),
};
const ROUTES = Object.entries(METHODS).map(([route, method]) => [new RegExp(`^${route.replaceAll(":", "([^/]+)")}$`), method]);

async function answer({ method, path, body, query, key }) {
  for (const [route, call] of ROUTES) {
    const found = route.exec(`${method} ${path}`);
    if (found) return call(found.slice(1).map(decodeURIComponent), { ...query, ...body, ...(key ? { key } : {}) });
  }
  return memory.call(method, path, { body: body ?? undefined, query: query ?? undefined, key: key ?? undefined });
}

function failure(error) {
  if (error instanceof ApiError) {
    const { status, title, detail, problem, retryAfter } = error;
    return { status, body: { type: `/problems/${problem}`, title, status, detail }, retryAfter };
  }
  if (error instanceof RequestFailed) return { failed: error.request };
  return { status: 0, body: { detail: `${error.name}: ${error.message}` } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  void answer(asked)
    .then((body) => ({ status: 200, body }), failure)
    .then((told) => console.log(JSON.stringify({ id: asked.id, ...told })));
}
