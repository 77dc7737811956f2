"""How each agent is run without a person, a network or an account: settings, environment, command.

Owns one function an agent. Each makes the agent do what the script says without asking; `docs/agents` says which of the
switches matter to a user. Must not know what the script does, nor that anybody records it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from tools.live import install
from tools.live.box import PORT, Command
from tools.live.wire.neutral import Json

BASE = f"http://127.0.0.1:{PORT}"
MODEL = "fake-model"
KEY = "scripted-0000"
"""What agents send as the key of the API. Not a common word: Copilot masks it wherever it stands."""
PROMPT = "Please do the scripted steps."


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run happens."""

    home: Path
    project: Path
    out: Path

    @property
    def notes(self) -> Path:
        """The file into which our MCP server writes."""
        return self.out / "notes.txt"

    @property
    def mcp_server(self) -> tuple[str, ...]:
        """The command of our MCP server."""
        return (sys.executable, "-I", "-S", str(Path(__file__).with_name("mcp_server.py")), str(self.notes))


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to run an agent once."""

    argv: tuple[str, ...]
    files: dict[str, str] = {}
    env: dict[str, str] = {}
    path: tuple[str, ...] = ()
    before: tuple[Command, ...] = ()


def _program(name: str) -> str:
    found = install.program(install.agent_named(name))
    if found is None:
        raise FileNotFoundError(f"{name} is not installed: make agents")
    return str(found)


def _node() -> str:
    found = install.program(install.NODE)
    if found is None:
        raise FileNotFoundError("node is not installed: make agents")
    return str(found)


def _server(place: Place) -> Json:
    command, *args = place.mcp_server
    return {"command": command, "args": args}


def claude_code(place: Place, prompt: str) -> Launch:
    """Claude Code: `claude -p`, Anthropic Messages."""
    mcp = place.out / "mcp.json"
    return Launch(
        argv=(
            *(_program("claude-code"), "-p", prompt, "--output-format", "stream-json", "--verbose"),
            *("--permission-mode", "bypassPermissions"),
            *("--mcp-config", str(mcp), "--strict-mcp-config"),
        ),
        files={
            f"{place.home}/.claude.json": json.dumps({"hasCompletedOnboarding": True}),
            f"{place.home}/.claude/settings.json": json.dumps({"includeCoAuthoredBy": False}, indent=2) + "\n",
            str(mcp): json.dumps({"mcpServers": {"live": {"type": "stdio", **_server(place)}}}),
        },
        env={
            "ANTHROPIC_BASE_URL": BASE,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",  # it is one: root may do without permissions
            "ENABLE_TOOL_SEARCH": "false",  # else the model must search for the tools of MCP servers first
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
        },
    )


def codex(place: Place, prompt: str) -> Launch:
    """Codex with a shell tool alone: what an unknown model gets."""
    return _codex(place, prompt, "gpt-fake")


def codex_patch(place: Place, prompt: str) -> Launch:
    """Codex with its freeform `apply_patch`."""
    return _codex(place, prompt, "gpt-5.5")


def codex_code(place: Place, prompt: str) -> Launch:
    """Codex in code mode: one tool that runs JavaScript."""
    return _codex(place, prompt, "gpt-6-astra")


def _codex(place: Place, prompt: str, model: str) -> Launch:
    command, *args = place.mcp_server
    config = f"""
model = "{model}"
model_provider = "fake"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "{BASE}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[features]
multi_agent = true

[agents]
max_depth = 3

[projects."{place.project}"]
trust_level = "trusted"

[mcp_servers.live]
command = {json.dumps(command)}
args = {json.dumps(args)}
""".lstrip()
    return Launch(
        argv=(
            *(_program("codex"), "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
            *("--sandbox", "danger-full-access", prompt),
        ),
        files={f"{place.home}/.codex/config.toml": config},
        env={"FAKE_KEY": KEY},
    )


def gemini(place: Place, prompt: str) -> Launch:
    """Gemini CLI: `gemini -p`, generateContent."""
    settings = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "mcpServers": {"live": _server(place) | {"trust": True}},
    }
    return Launch(
        argv=(
            *(_node(), _program("gemini"), "-p", prompt, "--output-format", "stream-json"),
            *("-m", "gemini-2.5-pro", "--approval-mode", "yolo"),
            *("--include-directories", f"{place.home}/.tally"),
        ),
        files={f"{place.home}/.gemini/settings.json": json.dumps(settings, indent=2) + "\n"},
        env={
            "GOOGLE_GEMINI_BASE_URL": BASE,
            "GEMINI_API_KEY": KEY,
            "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NO_BROWSER": "true",
        },
        path=(str(Path(_node()).parent),),
    )


def qwen(place: Place, prompt: str) -> Launch:
    """Qwen Code: `qwen -p`, OpenAI chat."""
    settings = {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "openai"}},
        "mcpServers": {"live": _server(place) | {"trust": True}},
    }
    return Launch(
        argv=(
            *(_node(), _program("qwen"), "-p", prompt, "--output-format", "stream-json"),
            *("--approval-mode", "yolo"),
        ),
        files={f"{place.home}/.qwen/settings.json": json.dumps(settings, indent=2) + "\n"},
        env={
            "OPENAI_BASE_URL": f"{BASE}/v1",
            "OPENAI_API_KEY": KEY,
            "OPENAI_MODEL": MODEL,
            "QWEN_TELEMETRY_ENABLED": "false",
            "NO_BROWSER": "true",
        },
        path=(str(Path(_node()).parent),),
    )


def copilot(place: Place, prompt: str) -> Launch:
    """GitHub Copilot CLI with a provider of one's own: no account is needed. OpenAI chat."""
    mcp = {"mcpServers": {"live": {"type": "local", **_server(place), "tools": ["*"]}}}
    return Launch(
        argv=(
            _program("copilot"),
            "-p",
            prompt,
            "--output-format",
            "json",
            "--no-color",
            "--allow-all-tools",
            "--allow-all-paths",
        ),
        files={
            f"{place.home}/.copilot/settings.json": "{}\n",
            f"{place.home}/.copilot/mcp-config.json": json.dumps(mcp, indent=2) + "\n",
        },
        env={
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{BASE}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_MODEL": MODEL,
        },
    )


def opencode(place: Place, prompt: str) -> Launch:
    """opencode: `opencode run`, OpenAI chat."""
    command, *args = place.mcp_server
    model = {"name": "fake", "limit": {"context": 200000, "output": 8000}, "tool_call": True}
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": f"fake/{MODEL}",
        "small_model": f"fake/{MODEL}",
        "permission": {"*": "allow"},
        "agent": {"general": {"permission": {"task": "allow"}}},  # else a sub-agent starts none
        "enabled_providers": ["fake"],
        "provider": {
            "fake": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "fake",
                "options": {"baseURL": f"{BASE}/v1", "apiKey": KEY},
                "models": {MODEL: model},
            }
        },
        "mcp": {"live": {"type": "local", "command": [command, *args], "enabled": True}},
    }
    config = f"{place.home}/.config/opencode"
    plugin = install.place() / install.OPENCODE_PLUGIN.folder
    return Launch(
        argv=(_program("opencode"), "run", "--format", "json", prompt),
        files={f"{config}/opencode.json": json.dumps(settings, indent=2) + "\n"},
        env={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_SHARE": "1",
        },
        before=(Command(name="opencode-plugin", argv=("cp", "-R", f"{plugin}/.", config)),),
    )


def gptme(place: Place, prompt: str) -> Launch:
    """gptme: `gptme --non-interactive`, OpenAI chat, native tool calls."""
    command, *args = place.mcp_server
    config = f"""
[mcp]
enabled = true
auto_start = true

[[mcp.servers]]
name = "live"
enabled = true
command = {json.dumps(command)}
args = {json.dumps(args)}
""".lstrip()
    return Launch(
        argv=(
            *(_program("gptme"), "--non-interactive", "--no-workspace", "--name", "scripted"),
            *("-m", "openai/gpt-4o-mini", "--system", "You are a scripted agent.", prompt),
        ),
        files={f"{place.home}/.config/gptme/config.toml": config},
        env={
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{BASE}/v1",
            "GPTME_TIKTOKEN_TIMEOUT": "0",
            "TOOL_ALLOWLIST": "shell,save,patch,subagent,ipython,complete,mcp,live.*",
        },
        path=(str(Path(_program("gptme")).parent),),
    )


def cline(place: Place, prompt: str) -> Launch:
    """Cline CLI: `cline --json`, OpenAI chat."""
    program = _program("cline")
    auth = (program, "auth", "-p", "openai-compatible", "-k", KEY, "-m", MODEL, "-b", f"{BASE}/v1")
    mcp = {"mcpServers": {"live": {"transport": {"type": "stdio", **_server(place)}}}}
    return Launch(
        argv=(program, "--json", "-P", "openai-compatible", "-m", MODEL, prompt),
        files={f"{place.home}/.cline/data/settings/cline_mcp_settings.json": json.dumps(mcp)},
        env={"CLINE_TELEMETRY_DISABLED": "1", "CLINE_NO_AUTO_UPDATE": "1", "DO_NOT_TRACK": "1"},
        before=(Command(name="cline-auth", argv=auth, limit_s=60),),
    )


def pi(place: Place, prompt: str) -> Launch:
    """pi: `pi -p`, OpenAI chat. It has neither MCP nor sub-agents."""
    provider = {"baseUrl": f"{BASE}/v1", "api": "openai-completions", "apiKey": KEY, "models": [{"id": MODEL}]}
    return Launch(
        argv=(_node(), _program("pi"), "-p", "--mode", "json", "--provider", "fake", "--model", MODEL, prompt),
        files={f"{place.home}/.pi/agent/models.json": json.dumps({"providers": {"fake": provider}})},
        env={"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"},
        path=(str(Path(_node()).parent),),
    )


def mini(place: Place, prompt: str) -> Launch:
    """mini-swe-agent: `mini`, OpenAI chat through litellm. Its one tool is a shell."""
    return Launch(
        argv=(
            *(_program("mini-swe-agent"), "-y", "--exit-immediately", "-m", f"openai/{MODEL}", "-t", prompt),
            *("-o", f"{place.home}/.config/mini-swe-agent/last_mini_run.traj.json"),
        ),
        env={
            "OPENAI_API_KEY": KEY,
            "OPENAI_API_BASE": f"{BASE}/v1",
            "OPENAI_BASE_URL": f"{BASE}/v1",
            "MSWEA_CONFIGURED": "true",
            "MSWEA_COST_TRACKING": "ignore_errors",
            "MSWEA_GLOBAL_CONFIG_DIR": f"{place.home}/.config/mini-swe-agent",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    )


def hermes(place: Place, prompt: str) -> Launch:
    """Hermes Agent: `hermes chat -q`, OpenAI chat."""
    command, *args = place.mcp_server
    config = f"""
model:
  default: {MODEL}
  provider: custom
  base_url: {BASE}/v1
  api_key: {KEY}
  context_length: 200000
mcp_servers:
  live:
    command: {json.dumps(command)}
    args: {json.dumps(args)}
""".lstrip()
    return Launch(
        argv=(_program("hermes"), "chat", "-Q", "--yolo", "--accept-hooks", "-q", prompt),
        files={f"{place.home}/.hermes/config.yaml": config},
        env={"OPENAI_API_KEY": KEY},
        path=(str(Path(_program("hermes")).parent),),
    )


def aider(place: Place, prompt: str) -> Launch:
    """aider: `aider --message`, OpenAI chat through litellm. It has no tools: edits are text."""
    return Launch(
        argv=(
            *(_program("aider"), "--model", f"openai/{MODEL}", "--edit-format", "whole", "--no-git", "--yes-always"),
            *("--no-check-update", "--analytics-disable", "--no-show-model-warnings", "--no-show-release-notes"),
            *("--no-detect-urls", "--message", prompt),
        ),
        env={"OPENAI_API_KEY": KEY, "OPENAI_API_BASE": f"{BASE}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )


class Recipe(msgspec.Struct, frozen=True):
    """A way to run an agent; Codex has three."""

    name: str
    agent: str
    launch: Callable[[Place, str], Launch]


RECIPES: tuple[Recipe, ...] = (
    Recipe("claude-code", "claude-code", claude_code),
    Recipe("codex", "codex", codex),
    Recipe("codex-patch", "codex", codex_patch),
    Recipe("codex-code", "codex", codex_code),
    Recipe("gemini", "gemini", gemini),
    Recipe("opencode", "opencode", opencode),
    Recipe("copilot", "copilot", copilot),
    Recipe("gptme", "gptme", gptme),
    Recipe("qwen", "qwen", qwen),
    Recipe("cline", "cline", cline),
    Recipe("pi", "pi", pi),
    Recipe("mini-swe-agent", "mini-swe-agent", mini),
    Recipe("hermes", "hermes", hermes),
    Recipe("aider", "aider", aider),
)
