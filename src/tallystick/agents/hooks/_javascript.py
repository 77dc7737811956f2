"""Hooks that run inside an agent written in JavaScript: the part that delivers.

Owns the text that opencode's plugin and pi's extension have in common. It says to the recorder what hook.py says
(`service/wire.py`), over the same socket; if nobody answers it runs hook.py, which owns what happens then.
"""

from __future__ import annotations

import json

from tallystick.agents.hooks import HookCommand

MARK = "Tallystick records what this agent does"
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
let delivered = 0

// One answer: { code, stdout, stderr }. Silence when anything fails: the agent goes on.
async function deliver(said) {
  const data = Buffer.from(JSON.stringify(said, (_, value) => (typeof value === "bigint" ? String(value) : value)))
  const now = Date.now()
  const id = `${process.pid}.${now}.${++delivered}`
  const words = ["TALLY1", data.length, @AGENT@, "-", VERSION, now + "000000", id, MONITOR]
  try {
    return await overSocket(Buffer.concat([Buffer.from(words.join(" ") + "\n"), data]))
  } catch {
    return await throughHook(data).catch(() => ({ code: 0, stdout: "", stderr: "" }))
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
    if (!existsSync(WORDS[0]) || !existsSync(WORDS[3])) return done({ code: 0, stdout: "", stderr: "" })
    const hook = spawn(WORDS[0], WORDS.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
    const answer = { code: 0, stdout: "", stderr: "" }
    hook.stdout.on("data", (part) => (answer.stdout += part))
    hook.stderr.on("data", (part) => (answer.stderr += part))
    hook.on("error", failed)
    hook.on("close", (code) => done({ ...answer, code: code ?? 0 }))
    hook.stdin.on("error", () => {})
    hook.stdin.end(data)
  })
}

// The reason why a call is refused, else undefined.
async function refusal(said) {
  const answer = await deliver(said)
  if (answer.code === 2) return answer.stderr.trim() || "refused"
  try {
    return JSON.parse(answer.stdout).refuse
  } catch {
    return undefined
  }
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


def is_ours(content: bytes) -> bool:
    """Whether a file was made here."""
    return MARK.encode() in content[:200]
