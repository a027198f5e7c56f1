/** What both examples tell: Maya talks to the agent on Monday, and on Tuesday another conversation knows it. */

import { Slowwave } from "slowwave";

declare const process: { env: Record<string, string | undefined> };

export const PERSON = "Maya";
export const MONDAY = "I always prefer window seats when I fly.";
export const TUESDAY = "Please find me a flight to Oslo.";
const KNOWS_NOTHING = "I found a flight to Oslo. Which seat would you like?";
const REMEMBERS = "I found a flight to Oslo, with a window seat, as you prefer.";
const DEADLINE_MS = 60_000;

/** A client of the gateway that SLOWWAVE_URL and SLOWWAVE_KEY name. */
export function client(): Slowwave {
  const { SLOWWAVE_URL: url, SLOWWAVE_KEY: key } = process.env;
  if (!url || !key) throw new Error("set SLOWWAVE_URL and SLOWWAVE_KEY, or run `make example NAME=typescript`");
  return new Slowwave({ url, key });
}

/** Stands in for a model: a rule that only reads what it is given. */
export function replyTo(prompt: string): string {
  if (!prompt.includes(TUESDAY)) return "Thanks, I will keep that in mind.";
  return prompt.includes("window seats") ? REMEMBERS : KNOWS_NOTHING;
}

/** Wait until workers have made a memory of what the agent heard. */
export async function waitForMemories(memory: Slowwave, agent: string): Promise<void> {
  for (const end = Date.now() + DEADLINE_MS; (await memory.memories(agent).take(1)).length === 0; ) {
    if (Date.now() > end) throw new Error("the workers have made no memory within a minute");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Print one exchange. */
export function tell(day: string, question: string, answer: string): void {
  console.log(`\n${day}\n  ${PERSON}:  ${question}\n  Atlas: ${answer}`);
}

/** Print what the agent knows, and where from; an error if the answer shows none of it. */
export async function conclude(memory: Slowwave, agent: string, answer: string): Promise<void> {
  const known = (await memory.search(agent, "window seats")).filter((hit) => hit.kind === "memory");
  if (answer !== REMEMBERS || known.length === 0) throw new Error(`on Tuesday the agent said: ${answer}`);
  console.log("\nWhat the agent knows, and where that was said:");
  for (const hit of known) {
    console.log(`  ${hit.content}  (${hit.sources.map(([session, seq]) => `session ${session}, event ${seq}`).join(", ")})`);
  }
}
