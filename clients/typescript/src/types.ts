/** What goes in and comes out, as the OpenAPI document of the gateway says. Names of fields are those of the HTTP API. */

import type { components } from "./generated.js";

type Schemas = components["schemas"];
/** A time: ISO 8601 with a zone, or a Date. */
export type Moment = string | Date;
type WithMoments<Body> = { [Field in keyof Body]: Field extends "at" ? Moment | null : Body[Field] };

/** A message of a chat API. Fields beside these are ignored, but for the calls of tools. */
export interface Message {
  role: string;
  content?: unknown;
  /** Who speaks. */
  name?: string | null;
  /** When it was said. */
  at?: Moment | null;
  metadata?: Record<string, unknown> | null;
  /** Makes a repetition of this message harmless. */
  key?: string | null;
  [other: string]: unknown;
}

export type TurnFields = Omit<Schemas["Turn"], "messages">;
export type TaskEventName = Schemas["TaskMilestone"]["event"];
export type TaskEventFields = WithMoments<Omit<Schemas["TaskMilestone"], "event" | "text">>;
export type NoteFields = WithMoments<Omit<Schemas["Note"], "content">>;
export type ContextFields = Schemas["ContextWanted"];
export type SearchFields = Omit<Schemas["SearchWanted"], "query">;
export type CorrectionFields = Schemas["Correction"];
export type ArchiveFields = Schemas["Archiving"];
export type ForgetTarget = Schemas["ForgetTarget"];
export type UndoFields = Schemas["UndoBody"];
export type Decision = Schemas["ReviewDecision"];

export type Receipt = Schemas["Receipt"];
export type Noted = Schemas["Noted"];
export type Hit = Schemas["Hit"];
export type Context = Schemas["Context"];
export type Memory = Schemas["Memory"];
export type Explanation = Schemas["Explanation"];
export type Corrected = Schemas["Corrected"];
export type Agent = Schemas["Agent"];
export type Day = Schemas["Day"];
export type DayStory = Schemas["DayStory"];
export type Why = Schemas["Why"];
export type Status = Schemas["Status"];
export type ForgetPreview = Schemas["ForgetPreview"];
export type Forgotten = Schemas["Forgotten"];
export type GatewayRequest = Schemas["Request"];
export type Run = Schemas["Run"];
export type RunStory = Schemas["RunStory"];
export type Undone = Schemas["Undone"];
export type Review = Schemas["Review"];
export type ReviewDetail = Schemas["ReviewDetail"];
export type Decided = Schemas["Decided"];
export type Change = Schemas["Change"];
/** The body that a webhook receives. */
export type WebhookMessage = Schemas["WebhookMessage"];

export interface MemoryFilter {
  status?: Memory["status"];
  type?: Memory["type"];
  /** `room:NAME` or `team:NAME`; the agent's own scope if left out. */
  scope?: string;
  /** Only what held then. */
  as_of?: Moment;
  /** As it was known then. */
  known_at?: Moment;
}

export interface RunFilter {
  kind?: string;
  /** `agent:NAME`, `room:NAME` or `team:NAME`. */
  scope?: string;
}

export interface ReviewFilter {
  state?: Review["state"];
  tier?: Review["tier"];
  scope?: string;
}
