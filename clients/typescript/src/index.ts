export { Slowwave } from "./client.js";
export type { ChangesOptions, ListOptions } from "./client.js";
export * from "./errors.js";
export { List } from "./pages.js";
export type { Page } from "./pages.js";
export { Recorder } from "./recorder.js";
export type { Queued, RecorderSettings, WhenFull } from "./recorder.js";
export type { Call, CallOptions, Settings, WriteOptions } from "./transport.js";
export type * from "./types.js";
