// metamem: memory for opencode. Written by `metamem attach opencode`; `metamem detach opencode` removes it.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const COMMANDS = __COMMANDS__
const MOST_SESSIONS = 200
const WAIT = 400 // ms; the hook keeps to a shorter time by itself

function hook(kind, data) {
  return new Promise((resolve) => {
    let told = ""
    const child = spawn("/bin/sh", ["-c", COMMANDS[kind]], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), WAIT)
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(told ? JSON.parse(told).hookSpecificOutput.additionalContext : "")
      } catch {
        resolve("")
      }
    }
    child.on("error", done)
    child.on("close", done)
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part) => (told += part))
    child.stdin.end(JSON.stringify(data))
  })
}

function database() {
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share")
  return join(data, "opencode", "opencode.db")
}

export const Metamem = async ({ directory }) => {
  const sessions = new Map() // of each: the briefing, the last prompt, and what was recalled for it
  const known = (id) => {
    if (!sessions.has(id)) {
      if (sessions.size >= MOST_SESSIONS) sessions.delete(sessions.keys().next().value)
      sessions.set(id, {})
    }
    return sessions.get(id)
  }
  const about = (id, event) => ({ session_id: id, cwd: directory, hook_event_name: event })
  const capture = (id, event) =>
    hook("capture", { ...about(id, event), transcript_path: database() })

  return {
    "chat.message": async (input, output) => {
      const parts = (output?.parts ?? []).filter((p) => p.type === "text" && !p.synthetic)
      const session = known(input.sessionID)
      session.prompt = parts.map((p) => p.text).join("\n")
      session.recalled = undefined
    },
    // The system prompt is put together anew for every request: what was told stays in its place.
    "experimental.chat.system.transform": async (input, output) => {
      if (!input.sessionID) return
      const session = known(input.sessionID)
      session.briefing ??= await hook("briefing", about(input.sessionID, "SessionStart"))
      if (session.briefing) output.system.push(session.briefing)
      if (session.prompt && session.recalled === undefined) {
        const asked = { ...about(input.sessionID, "UserPromptSubmit"), prompt: session.prompt }
        session.recalled = await hook("recall", asked)
      }
      if (session.recalled) output.system.push(session.recalled)
    },
    event: async ({ event }) => {
      const id = event?.properties?.sessionID
      if (id && event.type === "session.compacted") known(id).briefing = undefined
      if (id && (event.type === "session.idle" || event.type === "session.compacted"))
        await capture(id, event.type)
    },
  }
}
