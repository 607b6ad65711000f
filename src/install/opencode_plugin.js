// Written by `ahp install opencode`; `ahp uninstall opencode` takes it away.
// OpenCode has no hook commands: this plugin runs the command below for each event, and does what it answers.
import { spawn } from "node:child_process"

const command = __COMMAND__
const events = new Set(__EVENTS__)
const limit = __LIMIT__

function run(event, payload, directory) {
  return new Promise((resolve, reject) => {
    const child = spawn(`${command} ${event}`, { cwd: directory, shell: "/bin/sh", stdio: ["pipe", "pipe", "pipe"] })
    let out = ""
    let err = ""
    const timer = setTimeout(() => child.kill("SIGKILL"), limit)
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => reject(error))
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code === 2) return resolve({ decision: "block", reason: err.trim() || "blocked by ahp" })
      if (code !== 0) return reject(new Error(err.trim() || `it ended with ${code}`))
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch (error) {
        reject(error)
      }
    })
    child.stdin.end(JSON.stringify({ ...payload, event, directory }))
  })
}

async function ask(event, payload, directory) {
  if (!events.has(event)) return {}
  try {
    return await run(event, payload, directory)
  } catch (error) {
    // A gate that is silently not there is worse than one that says that it is broken.
    return {
      decision: "block",
      reason: `ahp could not be asked (${error.message}): run \`ahp install opencode\` again, or \`ahp uninstall opencode\``,
    }
  }
}

// A subagent has a session of its own: what it does counts for the one that the person talks to.
const parents = new Map()

async function rooted(client, payload) {
  let root = payload.sessionID
  for (let depth = 0; root && depth < 16; depth++) {
    if (!parents.has(root)) {
      const found = await client?.session.get({ path: { id: root } }).catch(() => undefined)
      if (!found?.data) break
      parents.set(root, found.data.parentID)
    }
    if (!parents.get(root)) break
    root = parents.get(root)
  }
  return root === payload.sessionID ? payload : { ...payload, parentID: root }
}

export const Ahp = async ({ client, directory }) => ({
  event: async ({ event }) => {
    if (event.type.startsWith("session.")) await ask(event.type, event, directory)
  },
  "chat.message": async (input, output) => {
    const answer = await ask("chat.message", await rooted(client, { ...input, message: output.message, parts: output.parts }), directory)
    if (answer.decision === "block") throw new Error(answer.reason)
    const last = output.parts.findLast((part) => part.type === "text")
    // A part of its own would need an id of OpenCode's making: the words go behind the person's.
    if (answer.context && last) last.text += `\n\n${answer.context}`
  },
  "tool.execute.before": async (input, output) => {
    const answer = await ask("tool.execute.before", await rooted(client, { ...input, args: output.args }), directory)
    if (answer.decision === "block") throw new Error(answer.reason)
    if (answer.args) {
      for (const key of Object.keys(output.args)) if (!(key in answer.args)) delete output.args[key]
      Object.assign(output.args, answer.args)
    }
  },
  "tool.execute.after": async (input, output) => {
    const answer = await ask("tool.execute.after", await rooted(client, { ...input, ...output }), directory)
    const words = answer.decision === "block" ? answer.reason : answer.context
    if (words) output.output = `${output.output}\n\n${words}`
  },
  "experimental.session.compacting": async (input, output) => {
    const answer = await ask("experimental.session.compacting", input, directory)
    if (answer.context) output.context.push(answer.context)
  },
})
