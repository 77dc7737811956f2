"""The agents of these tests: which, in which version, and where they lie once installed.

`python -m tools.live.install [AGENT…]` installs them apart from everything else, into `.agents/` or into the folder that
TALLY_AGENTS names. Owns names, versions and places. Must not know how an agent is run.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]

_MACHINE = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(
    platform.machine().lower(), "x64"
)
PLATFORM = f"{'darwin' if sys.platform == 'darwin' else 'linux'}-{_MACHINE}"
"""How npm names this kind of machine."""


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent, the packages that make it, and the file that shows that it is there (below its folder; may be a glob)."""

    name: str
    """As the reader of its histories calls it."""
    folder: str
    version: str
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    program: str


_SITE = "lib/python3*/site-packages"

AGENTS: tuple[Agent, ...] = (
    Agent(
        name="claude-code",
        folder="claude",
        version="2.1.330",
        npm=("@anthropic-ai/claude-code@2.1.330",),
        program=f"node_modules/@anthropic-ai/claude-code-{PLATFORM}/claude",
    ),
    Agent(
        name="codex",
        folder="codex",
        version="0.169.0",
        npm=("@openai/codex@0.169.0",),
        program=f"node_modules/@openai/codex-{PLATFORM}/vendor/*/bin/codex",
    ),
    Agent(
        name="gemini",
        folder="gemini",
        version="0.61.0",
        npm=("@google/gemini-cli@0.61.0",),
        program="node_modules/@google/gemini-cli/bundle/gemini.js",
    ),
    Agent(
        name="opencode",
        folder="opencode",
        version="1.18.33",
        npm=("opencode-ai@1.18.33",),
        program=f"node_modules/opencode-{PLATFORM}/bin/opencode",
    ),
    Agent(
        name="copilot",
        folder="copilot",
        version="1.0.102",
        npm=("@github/copilot@1.0.102",),
        program=f"node_modules/@github/copilot-{PLATFORM}/copilot",
    ),
    Agent(name="gptme", folder="gptme", version="0.35.1", pip=("gptme==0.35.1",), program="bin/gptme"),
    Agent(
        name="qwen",
        folder="qwen",
        version="0.24.4",
        npm=("@qwen-code/qwen-code@0.24.4",),
        program="node_modules/@qwen-code/qwen-code/cli.js",
    ),
    Agent(
        name="cline",
        folder="cline",
        version="3.0.65",
        npm=("cline@3.0.65",),
        program=f"node_modules/@cline/cli-{PLATFORM}/bin/cline",
    ),
    Agent(
        name="pi",
        folder="pi",
        version="0.73.1",
        npm=("@mariozechner/pi-coding-agent@0.73.1",),
        program="node_modules/@mariozechner/pi-coding-agent/dist/cli.js",
    ),
    Agent(
        name="mini-swe-agent",
        folder="mini",
        version="2.4.6",
        pip=("mini-swe-agent==2.4.6", "mcp"),  # its litellm imports mcp
        program="bin/mini",
    ),
    Agent(name="hermes", folder="hermes", version="0.19.0", pip=("hermes-agent[mcp]==0.19.0",), program="bin/hermes"),
    Agent(name="aider", folder="aider", version="0.86.2", pip=("aider-chat==0.86.2",), program="bin/aider"),
)

NAMED = ("claude-code", "codex", "gemini", "opencode", "copilot", "gptme")
"""The agents without which the tests say nothing: they must run where they are installed."""

NODE = Agent(
    name="node",
    folder="node22",
    version="22",
    npm=(f"node-{PLATFORM}@22",),
    program=f"node_modules/node-{PLATFORM}/bin/node",
)
"""Runs the agents that are JavaScript: one of them wants a newer node than many systems have."""

OPENCODE_PLUGIN = Agent(
    name="opencode-plugin",
    folder="opencode_plugin",
    version="1.18.33",
    npm=("@opencode-ai/plugin@1.18.33",),
    program="node_modules/@opencode-ai/plugin/package.json",
)
"""opencode fetches this at its first start; without a network it tries for more than a minute."""


def place() -> Path:
    """The folder below which each agent has a folder."""
    return Path(os.environ.get("TALLY_AGENTS") or ROOT / ".agents").resolve()


def program(agent: Agent) -> Path | None:
    """The agent's program; None: it is not installed."""
    found = sorted((place() / agent.folder).glob(agent.program))
    return found[0] if found else None


def agent_named(name: str) -> Agent:
    """An agent by its name."""
    return next(agent for agent in AGENTS if agent.name == name)


def install(agent: Agent) -> int:
    """Install one agent; the exit code of npm or pip."""
    folder = place() / agent.folder
    folder.mkdir(parents=True, exist_ok=True)
    if agent.npm:
        # No scripts: none of them needs one, and a package cannot run anything by being installed.
        words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *agent.npm]
        return subprocess.run(words, cwd=folder, check=False).returncode
    venv.create(folder, with_pip=True)
    words = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *agent.pip]
    return subprocess.run(words, check=False).returncode


def main(names: list[str]) -> int:
    """Install what is missing; 1 when one of the named agents could not be."""
    wanted = [agent for agent in (NODE, OPENCODE_PLUGIN, *AGENTS) if not names or agent.name in names]
    failed = [agent.name for agent in wanted if program(agent) is None and install(agent) != 0]
    for agent in wanted:
        state = "failed" if agent.name in failed else str(program(agent))
        sys.stdout.write(f"{agent.name:16} {agent.version:10} {state}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
