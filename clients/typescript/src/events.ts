/** Server-sent events, read from a stream of `fetch`. */

import { ConnectionFailed, SlowwaveError } from "./errors.js";

export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

/** An event with more characters is refused: a broken server must not fill the memory. */
const MOST_CHARACTERS = 4_000_000;

/**
 * Read events as the HTML standard defines them. `onRetry` gets the pause that the server asks for; `onBytes` is called
 * for every piece that arrives, comments included. The stream is cancelled when the caller stops reading. A stream that
 * breaks off ends with ConnectionFailed. An event without data only tells the id to go on behind.
 */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
  onRetry: (ms: number) => void = () => {},
  onBytes: () => void = () => {},
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let data: string[] = [];
  let size = 0;
  let event = "";
  let id: string | null = null;
  let told: string | null = null;

  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new ConnectionFailed("the stream broke off", { cause });
      });
      onBytes();
      // An event without its empty line is not complete: it is dropped with the connection.
      if (done) return;
      text += decoder.decode(value, { stream: true });
      // A CR at the end may be the first half of a CRLF.
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop()!;
      for (const line of lines) {
        if (line === "") {
          if (data.length || id !== told) yield { id, event: event || "message", data: data.join("\n") };
          told = id;
          data = [];
          size = 0;
          event = "";
          continue;
        }
        const [, field, said] = /^([^:]*):? ?([^]*)$/.exec(line)!;
        if (field === "data") {
          data.push(said!);
          size += said!.length;
        } else if (field === "event") event = said!;
        else if (field === "id" && !said!.includes("\0")) id = said!;
        else if (field === "retry" && /^\d+$/.test(said!)) onRetry(Number(said));
      }
      if (size + text.length > MOST_CHARACTERS) {
        throw new SlowwaveError(`an event has more than ${MOST_CHARACTERS} characters`);
      }
    }
  } finally {
    // Not awaited: a connection that is gone may never answer.
    reader.cancel().catch(() => {});
  }
}
