// Slowwave's memory in OpenCode. Written by `slowwave connect opencode`; `slowwave connect opencode --remove` takes it
// away. The plugin only hands over to `slowwave hook`: what happens to messages is decided there.
import { spawn } from "node:child_process"

const COMMAND = [] // filled in by `slowwave connect`
const ANSWER_MS = 2000 + 1000 * (OPTIONS.includes("--wait") ? Number(OPTIONS[OPTIONS.indexOf("--wait") + 1]) : 0)
const MAX_BYTES = 65536
const MESSAGES = 50

// Runs one hook. Answers its JSON, or {} if it says nothing, fails or takes too long: OpenCode goes on in any case.
function hook(event, payload, directory) {
  return new Promise((resolve) => {
    let out = ""
    let timer
    const end = (value) => {
      clearTimeout(timer)
      resolve(value)
    }
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", "opencode", event, ...OPTIONS], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
      })
      timer = setTimeout(() => {
        child.kill()
        end({})
      }, ANSWER_MS)
      child.on("error", () => end({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (part) => {
        if (out.length < MAX_BYTES) out += part
      })
      child.on("close", () => {
        try {
          end(JSON.parse(out))
        } catch {
          end({})
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      end({})
    }
  })
}

export const Slowwave = async ({ client, directory }) => {
  const record = async (sessionID, trigger) => {
    try {
      const found = await client.session.messages({ path: { id: sessionID }, query: { directory, limit: MESSAGES } })
      const messages = (found.data ?? []).slice(-MESSAGES)
      await hook("messages", { sessionID, directory, messages, trigger }, directory)
    } catch {
      // The session is gone, or OpenCode is about to end.
    }
  }
  return {
    event: async ({ event }) => {
      const properties = event.properties ?? {}
      if (event.type === "session.idle") await record(properties.sessionID, null)
      if (event.type === "session.compacted") await record(properties.sessionID, "compaction")
      if (event.type === "session.deleted" && properties.info?.id)
        await hook("messages", { sessionID: properties.info.id, directory, messages: [], trigger: "reset" }, directory)
    },
    "chat.message": async (input, output) => {
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = typed.map((part) => part.text).join("\n")
      const { context } = await hook("prompt", { sessionID: input.sessionID, directory, prompt }, directory)
      if (!context) return
      // Behind what was typed: OpenCode makes the session's title from the beginning of the message.
      output.parts.push({
        id: `prt_slowwave${Date.now().toString(36)}`,
        sessionID: input.sessionID,
        messageID: output.message.id,
        type: "text",
        text: context,
        synthetic: true,
      })
    },
  }
}
