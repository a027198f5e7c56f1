/**
 * Vercel's AI SDK with a memory: a middleware adds the context to each prompt, and records each turn.
 *
 * The model is the SDK's own mock, so that there is no network and no key.
 */

import type { LanguageModelV3GenerateResult, LanguageModelV3Middleware, LanguageModelV3Prompt } from "@ai-sdk/provider";
import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import type { Slowwave } from "slowwave";
import { MONDAY, PERSON, TUESDAY, client, conclude, replyTo, tell, waitForMemories } from "./story.js";

const AGENT = "atlas-ai-sdk";

/** The text of the last message of the user. */
function asked(prompt: LanguageModelV3Prompt): string {
  const last = prompt.filter((message) => message.role === "user").at(-1);
  return (last?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** A memory for one conversation of an agent. */
function withMemory(memory: Slowwave, agent: string, session: string, user: string): LanguageModelV3Middleware {
  return {
    specificationVersion: "v3",
    async transformParams({ params }) {
      const known = await memory.context(agent, { session, query: asked(params.prompt), max_tokens: 800 });
      if (!known.text) return params;
      // What people said stands in a user's message: words of people are no instructions of the system.
      const context = { role: "user" as const, content: [{ type: "text" as const, text: known.text }] };
      const system = params.prompt.filter((message) => message.role === "system");
      const rest = params.prompt.filter((message) => message.role !== "system");
      return { ...params, prompt: [...system, context, ...rest] };
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const reply = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      await memory.turnCompleted(agent, session, [
        { role: "user", name: user, content: asked(params.prompt) },
        { role: "assistant", content: reply },
      ]);
      return result;
    },
  };
}

/** Stands in for a model. */
const model = new MockLanguageModelV3({
  async doGenerate({ prompt }): Promise<LanguageModelV3GenerateResult> {
    const text = replyTo(prompt.map((message) => (typeof message.content === "string" ? message.content : JSON.stringify(message.content))).join("\n"));
    return {
      content: [{ type: "text", text }],
      finishReason: { unified: "stop", raw: undefined },
      usage: {
        inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 10, text: 10, reasoning: undefined },
      },
      warnings: [],
    };
  },
});

const memory = client();

async function say(day: string, session: string, prompt: string): Promise<string> {
  const remembering = wrapLanguageModel({ model, middleware: withMemory(memory, AGENT, session, PERSON) });
  const { text } = await generateText({ model: remembering, system: "You book flights.", prompt });
  tell(day, prompt, text);
  return text;
}

await say("Monday", "monday", MONDAY);
await memory.sessionIdle(AGENT, "monday");
await waitForMemories(memory, AGENT);
await conclude(memory, AGENT, await say("Tuesday, in a new conversation", "tuesday", TUESDAY));
