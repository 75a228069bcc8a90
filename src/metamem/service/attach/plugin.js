// metamem: memory for opencode. Written by `metamem attach opencode`; `metamem detach opencode` removes it.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const COMMANDS = __COMMANDS__
const MOST_SESSIONS = 200
const MOST_CALLS = 500
const SHELL = "bash"
const WAIT = 400 // ms; the hook keeps to a shorter time by itself

function hook(moment, data) {
  if (!COMMANDS[moment]) return Promise.resolve("")
  return new Promise((resolve) => {
    let told = ""
    const child = spawn("/bin/sh", ["-c", COMMANDS[moment]], { stdio: ["pipe", "pipe", "ignore"] })
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

// A map that forgets its oldest entries.
function remember(map, most, key, value) {
  if (!map.has(key) && map.size >= most) map.delete(map.keys().next().value)
  map.set(key, value)
  return value
}

export const Metamem = async ({ directory }) => {
  const sessions = new Map() // of each: the briefing, the last prompt, and what was recalled for it
  const calls = new Map() // of each: what there is to say to its result, when that is known
  const known = (id) => sessions.get(id) ?? remember(sessions, MOST_SESSIONS, id, {})
  const about = (id, event) => ({ session_id: id, cwd: directory, hook_event_name: event })
  const noted = (id, event) => ({ ...about(id, event), transcript_path: database() })
  // Nobody waits here: the answer is waited for when the next request is put together.
  const ask = (moment, call, data) => {
    if (!COMMANDS[moment] || !call) return
    const told = calls.get(call) ?? remember(calls, MOST_CALLS, call, {})
    told[moment] ??= hook(moment, data) // a result may be told twice; once is enough
  }
  const said = async (call) => {
    const { before, after } = calls.get(call) ?? {}
    return (await before) || (await after)
  }

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
      session.briefing ??= await hook("start", about(input.sessionID, "SessionStart"))
      if (session.briefing) output.system.push(session.briefing)
      if (session.prompt && session.recalled === undefined) {
        const given = { ...about(input.sessionID, "UserPromptSubmit"), prompt: session.prompt }
        session.recalled = await hook("prompt", given)
      }
      if (session.recalled) output.system.push(session.recalled)
    },
    "tool.execute.before": async (input, output) => {
      if (input?.tool !== SHELL) return
      const event = noted(input.sessionID, "tool.execute.before")
      ask("before", input.callID, { ...event, input, output })
    },
    // Comes for commands, however they ended, and else for what worked.
    "tool.execute.after": async (input, output) => {
      if (input?.tool !== SHELL) return
      const event = noted(input.sessionID, "tool.execute.after")
      const { title, output: text, metadata } = output ?? {}
      const told = { title, output: text, metadata: { exit: metadata?.exit } }
      ask("after", input.callID, { ...event, input, output: told })
    },
    // The same: what was said to a call stands behind its result in every request.
    "experimental.chat.messages.transform": async (_, output) => {
      for (const message of output?.messages ?? [])
        for (const part of message.parts ?? []) {
          const told = part.type === "tool" ? await said(part.callID) : ""
          const field = { error: "error", completed: "output" }[part.state?.status]
          if (told && field && !part.state[field]?.includes(told))
            part.state = { ...part.state, [field]: `${part.state[field]}\n\n${told}` }
        }
    },
    event: async ({ event }) => {
      const part = event?.properties?.part
      if (event?.type === "message.part.updated" && part?.type === "tool") {
        if (part.state?.status === "error")
          ask("after", part.callID, { ...noted(part.sessionID, event.type), part })
        return
      }
      const id = event?.properties?.sessionID
      if (id && event.type === "session.compacted") known(id).briefing = undefined
      if (id && (event.type === "session.idle" || event.type === "session.compacted"))
        await hook("capture", noted(id, event.type))
    },
  }
}
