"""Hooks that run inside an agent written in JavaScript: the part that delivers.

Owns the text that opencode's plugin and pi's extension have in common. It says to the recorder what hook.py says
(`service/wire.py`), over the same socket; if no one answers it runs hook.py, which owns what happens then.
"""

from __future__ import annotations

import json

from tallystick.agents.hooks import HookCommand
from tallystick.agents.hooks.plugin import MARK

_VERSION = "0.1.0"

_DELIVER = r"""
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { connect } from "node:net"
import { homedir } from "node:os"

const WORDS = @WORDS@
const VERSION = @VERSION@
const HOME = @HOME@ ?? process.env.TALLY_HOME ?? homedir() + "/.tally"
const SOCKET = HOME + "/run/recorder.sock"
const MONITOR = (process.env.TALLY_SESSION ?? "-").replace(/\s/g, "") || "-"
const PATIENCE_MS = 1000
const HOOK_MS = 4000
const SILENCE = { code: 0, stdout: "", stderr: "" }
const DEEPEST = 40
const MOST_VALUES = 100000
let delivered = 0

// One answer: { code, stdout, stderr }. Silence when anything fails: the agent goes on.
async function deliver(said) {
  try {
    const data = Buffer.from(written(said))
    const now = Date.now()
    const id = `${process.pid}.${now}.${++delivered}`
    const words = ["TALLY1", data.length, @AGENT@, "-", VERSION, now + "000000", id, MONITOR]
    const request = Buffer.concat([Buffer.from(words.join(" ") + "\n"), data])
    return await overSocket(request).catch(() => throughHook(data))
  } catch {
    return SILENCE
  }
}

// JSON of what an agent holds, which may be anything: what JSON has no form for is left out, or named.
function written(said) {
  try {
    return JSON.stringify(said, (_, value) => (typeof value === "bigint" ? String(value) : value))
  } catch {
    return JSON.stringify(copied(said, [], { left: MOST_VALUES }))
  }
}

function copied(value, above, budget) {
  if (typeof value === "bigint") return String(value)
  if (typeof value === "function") return undefined // a toJSON that throws would throw again
  if (typeof value !== "object" || value === null) return value
  if (above.includes(value)) return "(circular)"
  if (above.length >= DEEPEST || budget.left-- <= 0) return "(left out)"
  const within = [...above, value]
  const inside = (get) => attempt(() => copied(get(), within, budget))
  if (Array.isArray(value)) return value.map((_, index) => inside(() => value[index]) ?? null)
  if (value instanceof Date) return attempt(() => value.toISOString())
  const keys = attempt(() => Object.keys(value)) ?? []
  return Object.fromEntries(keys.map((key) => [key, inside(() => value[key])]))
}

function attempt(get) {
  try {
    return get()
  } catch {
    return undefined
  }
}

function overSocket(request) {
  return new Promise((done, failed) => {
    const connection = connect(SOCKET)
    const parts = []
    const timer = setTimeout(() => connection.destroy(new Error("no answer")), PATIENCE_MS)
    connection.on("connect", () => connection.write(request))
    connection.on("data", (part) => parts.push(part))
    connection.on("error", failed)
    connection.on("close", () => {
      clearTimeout(timer)
      const answer = Buffer.concat(parts)
      const end = answer.indexOf(10)
      const [code, out, error] = answer.subarray(0, Math.max(end, 0)).toString().split(" ").map(Number)
      const rest = answer.subarray(end + 1)
      if (end < 0 || rest.length !== out + error) return failed(new Error("no whole answer"))
      done({ code, stdout: rest.subarray(0, out).toString(), stderr: rest.subarray(out).toString() })
    })
  })
}

function throughHook(data) {
  return new Promise((done, failed) => {
    if (!existsSync(WORDS[0]) || !existsSync(WORDS[3])) return done(SILENCE)
    const hook = spawn(WORDS[0], WORDS.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
    const timer = setTimeout(() => {
      hook.kill("SIGKILL")
      done(SILENCE)
    }, HOOK_MS)
    timer.unref()
    const answer = { code: 0, stdout: "", stderr: "" }
    hook.stdout.setEncoding("utf8")
    hook.stderr.setEncoding("utf8")
    hook.stdout.on("data", (part) => (answer.stdout += part))
    hook.stderr.on("data", (part) => (answer.stderr += part))
    hook.on("error", failed)
    hook.on("close", (code) => {
      clearTimeout(timer)
      done({ ...answer, code: code ?? 0 })
    })
    hook.stdin.on("error", () => {})
    hook.stdin.end(data)
  })
}

// The reason why a call is refused, else undefined.
async function refusal(said) {
  const answer = await deliver(said)
  if (answer.code === 2) return answer.stderr.trim() || "refused"
  const reason = attempt(() => JSON.parse(answer.stdout).deny)
  return typeof reason === "string" ? reason || "refused" : undefined
}
"""


def text(agent: str, hook: HookCommand, body: str) -> bytes:
    """A whole file: what is said of it, the part that delivers, and the agent's own part."""
    filled = (
        _DELIVER.replace("@WORDS@", json.dumps(hook.words(agent)))
        .replace("@VERSION@", json.dumps(_VERSION))
        .replace("@HOME@", json.dumps(hook.home))
        .replace("@AGENT@", json.dumps(agent))
    )
    head = f"// {MARK}. Made by `tally install {agent}`; `tally uninstall {agent}` removes it.\n"
    return (head + filled.lstrip("\n") + "\n" + body.lstrip("\n")).encode()
