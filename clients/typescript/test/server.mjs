// A server that answers as a test says, for what a real gateway does not do when asked: failures and broken streams.

import { createServer } from "node:http";

/** Answers each request with the next of `answers`; the last one stays. Keeps what came. */
export async function serving(...answers) {
  const seen = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      answer(response, seen.at(-1));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    seen,
    url: `http://127.0.0.1:${server.address().port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const json = (status, body, headers = {}) => (response) => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};

export const problem = (status, name, headers = {}, more = {}) =>
  json(status, { type: `/problems/${name}`, title: name, status, detail: `${name} it is`, request_id: "r-1", ...more }, headers);

export const hangUp = (response) => response.socket.destroy();

/** Begins a stream of events with these pieces, and leaves it open. */
export const streaming = (...pieces) => (response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const piece of pieces) response.write(piece);
};

/** The same, but the connection breaks behind the last piece. */
export const breaking = (...pieces) => (response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(pieces.join(""), () => response.socket.destroy());
};

export async function until(holds, seconds = 10) {
  for (const end = Date.now() + seconds * 1000; !holds(); ) {
    if (Date.now() > end) throw new Error("it did not come true in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
