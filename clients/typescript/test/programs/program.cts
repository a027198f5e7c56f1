// Compiled, never run: the types as a program of CommonJS sees them.

import slowwave = require("slowwave");

const memory = new slowwave.Slowwave({ url: "http://localhost:8700", key: "sw_x" });
const noted: Promise<slowwave.Noted> = memory.remember("atlas", "Maya lives in Lisbon.", { importance: 0.8, at: new Date() });
void noted;
