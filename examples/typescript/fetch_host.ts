/**
 * A host without a framework: a function from Request to Response, as edge runtimes, Deno and Bun serve it.
 *
 * It reads the context before the model's call, and records the turn behind the reply.
 */

import { Recorder, type Slowwave } from "slowwave";
import { MONDAY, PERSON, TUESDAY, client, conclude, replyTo, tell, waitForMemories } from "./story.js";

const AGENT = "atlas-fetch";

function host(memory: Slowwave, recorder: Recorder): (request: Request) => Promise<Response> {
  return async (request) => {
    const { session, text } = (await request.json()) as { session: string; text: string };
    const known = await memory.context(AGENT, { session, query: text, max_tokens: 800 });
    const reply = replyTo(`${known.text}\n\n${text}`); // Here a real host calls its model.
    recorder.turnCompleted(AGENT, session, [
      { role: "user", name: PERSON, content: text },
      { role: "assistant", content: reply },
    ]);
    return Response.json({ reply });
  };
}

const memory = client();
// A full queue drops its oldest calls: this host rather answers late questions than none. Edge runtimes end a request's
// work with its answer: there, hand `recorder.flush()` to `waitUntil`.
const recorder = new Recorder(memory, { whenFull: "drop-oldest", onLost: (call, why) => console.error("not recorded", call.key, why) });
const handle = host(memory, recorder);

async function say(day: string, session: string, text: string): Promise<string> {
  const body = JSON.stringify({ session, text });
  const response = await handle(new Request("http://host/chat", { method: "POST", body }));
  const { reply } = (await response.json()) as { reply: string };
  tell(day, text, reply);
  return reply;
}

await say("Monday", "monday", MONDAY);
recorder.sessionIdle(AGENT, "monday");
await recorder.flush();
await waitForMemories(memory, AGENT);
const answer = await say("Tuesday, in a new conversation", "tuesday", TUESDAY);
await recorder.close();
await conclude(memory, AGENT, answer);
