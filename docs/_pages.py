"""What stands in docs/agents and docs/exports between cog's marks: tables read off the code, and commands really run.

Owns those tables, and a home folder with the sample histories, the recordings of the tests and a few hand-made lines, where
each page's commands run. The store that commands read has a clock that stands and seeds that count, so a page comes out the
same each time it is made, alone or with others.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC
from functools import cache
from hashlib import sha256
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

from tallystick import agents
from tallystick.agents import Adapter, Shape
from tallystick.capture.discover import discover, recognise
from tallystick.exports import exporters, headless
from tallystick.exports._ledger_check import CANNOT_PROVE, WITHOUT_CONTENT
from tallystick.exports._ledger_forms import PRIMARY, Escapes, Genesis, HashText, KeyOrder, Nulls, Root, Separators
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.setup.demo import lay_out_samples

_RECORDINGS = Path(__file__).parent.parent / "tests" / "recordings"
_FOLDERS = {"copilot": "copilot-cli", "gemini": "gemini-cli", "qwen": "qwen-code"}
"""The folder of an agent's recordings, where it is not its name."""
_READ = {Shape.LINES: "line by line", Shape.DOCUMENT: "whole", Shape.SQLITE: "row by row (SQLite)"}
_DAMAGE = {
    Shape.LINES: ("bad_line", "duplicate_key", "half_line", "line_too_long", "unsealable"),
    Shape.DOCUMENT: ("bad_line", "duplicate_key", "unsealable"),
    Shape.SQLITE: ("bad_line", "unsealable"),
}
"""The kinds of loss that have nothing to do with an agent: docs/agents/README.md explains them."""
_WIDTH = 100
_RECORDED = "2026-11-22T09:00:00.000000Z"

_HAND_MADE = {
    ".cursor/projects/home-dev-project/agent-transcripts/5c1d/5c1d.jsonl": """\
{"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\\nAdd up the stock.\\n</user_query>"}]}}
{"role": "assistant", "message": {"content": [{"type": "text", "text": "One moment."}, {"type": "tool_use", "name": \
"Shell", "input": {"command": "make stock"}}]}}
{"role": "assistant", "message": {"content": [{"type": "text", "text": "There are 41."}]}}
{"type": "turn_ended", "status": "success"}
""",
    "SWE-agent/trajectories/dev/batch-1/stock-1/stock-1.traj": """\
{"environment": "swe_main",
 "history": [{"role": "system", "content": "You fix bugs."},
             {"role": "user", "content": "The stock does not add up."},
             {"role": "assistant", "content": "I look at it.", "action": "cat stock.py"},
             {"role": "user", "content": "total = 40"}],
 "trajectory": [{"action": "cat stock.py", "observation": "total = 40", "execution_time": 0.2, "state": "{}"}],
 "info": {"exit_status": "submitted", "model_stats": {"tokens_sent": 900, "tokens_received": 40, "api_calls": 1}}}
""",
}
"""For agents of which there is no recording: lines written for the page."""


# Tables ---------------------------------------------------------------------------------------------------------------


def _adapter(module: str) -> Adapter:
    return agents.adapters()[import_module(f"tallystick.agents.{module}").NAME]


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _versions(adapter: Adapter) -> list[str]:
    """The versions of an agent whose files are recorded for the tests."""
    folder = _RECORDINGS / _FOLDERS.get(adapter.NAME, _agent_of(adapter))
    found = sorted(path.name for path in folder.glob("*/")) if folder.is_dir() else []
    if adapter.NAME.endswith("-export"):
        return []
    is_legacy = adapter.NAME.endswith("-legacy")
    return [name for name in found if name.endswith("-legacy") == is_legacy]


def _agent_of(adapter: Adapter) -> str:
    """The agent whose page tells of an adapter: its older form, and what it exports, are on the same."""
    return adapter.NAME.removesuffix("-legacy").removesuffix("-export")


def facts(*modules: str) -> str:
    """What the code of one or two adapters says about them, as a table."""
    found = [_adapter(module) for module in modules]
    rows = [
        ("name", [f"`{adapter.NAME}`" for adapter in found]),
        ("looked for below the home folder", [_code(adapter.locate()) or "nowhere" for adapter in found]),
        ("read", [_READ[adapter.SHAPE] for adapter in found]),
        *([("files read beside it", [_code(a.COMPANIONS) for a in found])] if found[0].COMPANIONS else []),
        ("an id means the same event in", ["all its sessions" if a.GLOBAL_IDS else "one session" for a in found]),
        ("recorded for the tests", [", ".join(_versions(adapter)) or "none" for adapter in found]),
        ("losses of [any such file](README.md#what-any-file-can-lose)", [_code(_DAMAGE[a.SHAPE]) for a in found]),
    ]
    lines = ["| |" + " |" * len(found), "|---" * (1 + len(found)) + "|"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows)])


def index() -> str:
    """All adapters: where their files lie, how they are read, and which versions are recorded."""
    lines = ["| agent | looked for below the home folder | read | recorded versions |", "|---|---|---|---|"]
    for module in agents.NAMES:
        adapter = _adapter(module)
        page = _agent_of(adapter)
        places = "<br>".join(f"`{glob}`" for glob in adapter.locate())
        versions = ", ".join(_versions(adapter)) or "none"
        lines.append(f"| [{adapter.NAME}]({page}.md) | {places} | {_READ[adapter.SHAPE]} | {versions} |")
    return "\n".join(lines)


def passed_over(*modules: str) -> str:
    """The types of lines that are counted under their own name, from the tables in the code."""
    kinds: set[str] = set()
    for module in modules:
        named = vars(import_module(f"tallystick.agents.{module}"))
        kinds |= {kind for name, found in named.items() if name.endswith("BOOKKEEPING") for kind in found}
    return _folded(f"{_code(sorted(kinds))}.")


def _folded(text: str) -> str:
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > 118:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def losses(name: str) -> str:
    """What an export format cannot carry, as a list."""
    return "\n".join(f"- {loss}" for loss in exporters()[name].LOSSES)


def variants() -> str:
    """The open points of the ledger's description, with the reading that is written and the others that are known."""
    points = (
        ("order of a record's members", KeyOrder, PRIMARY.body.keys),
        ("between members", Separators, PRIMARY.body.separators),
        ("characters beyond ASCII", Escapes, PRIMARY.body.escapes),
        ("members that are null", Nulls, PRIMARY.body.nulls),
        ("`self_hash` in the chain", HashText, PRIMARY.chain.own),
        ("the `context_hash` before it", HashText, PRIMARY.chain.previous),
        ("before the first record", Genesis, PRIMARY.chain.genesis),
        ("no parent", Root, PRIMARY.root),
    )
    lines = ["| point | written | also known |", "|---|---|---|"]
    for point, readings, first in points:
        lines.append(f"| {point} | {first} | {', '.join(reading for reading in readings if reading != first)} |")
    return "\n".join(lines)


def cannot_prove() -> str:
    """What a ledger's hashes say nothing about, as a list."""
    return "\n".join(f"- {what}" for what in (*CANNOT_PROVE, WITHOUT_CONTENT))


def members(table: str) -> str:
    """The members of the headless agent's events, from the table that the export goes by."""
    return _folded(f"{_code(vars(headless)[table])}.")


# Commands -------------------------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    folder = Path(mkdtemp(prefix="tally-pages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _home() -> Path:
    """A home folder in which each agent has left something. Where samples ship with the package, it is those."""
    home = _folder() / "home"
    for path in sorted(_RECORDINGS.glob("*/*/")):
        if path.parent.name not in ("claude-code", "codex", "gptme", "headless"):
            shutil.copytree(path, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("README.md"))
    lay_out_samples(home)
    for name, text in _HAND_MADE.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


@cache
def _store() -> Path:
    """A store with all of it, the same on every machine."""
    home, numbers = Home(_folder() / "store"), count()

    def seeds() -> bytes:
        return sha256(b"%d" % next(numbers)).digest()

    Archive.make(home, clock=lambda: _RECORDED, seeds=seeds)
    archive = Archive(home, clock=lambda: _RECORDED, seeds=seeds)
    adapters = agents.adapters()
    elsewhere = recognise([_home() / "trajectory.json"], adapters)  # where mini-swe-agent was told to leave it
    Importer(archive, adapters, UTC).run([*discover(_home(), adapters), *elsewhere])
    archive.close()
    return home.folder


def _environment(store: Path) -> dict[str, str]:
    here = str(Path(sys.executable).parent)
    return {
        "HOME": str(_home()),
        "TALLY_HOME": str(store),
        "PATH": f"{here}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "COLUMNS": str(_WIDTH),
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }


def _run(command: str) -> list[str]:
    """What a command prints, run by the shell in the home folder. An import is shown as the first one into its store."""
    store = Path(mkdtemp(dir=_folder())) if re.search(r"\btally import\b", command) else _store()
    done = subprocess.run(
        ["sh", "-c", command], env=_environment(store), cwd=_home(), capture_output=True, text=True, check=False
    )
    if not done.stdout or done.returncode not in (0, 1):
        raise RuntimeError(f"{command}: exit code {done.returncode}: {done.stderr}")
    return [line.rstrip() for line in done.stdout.splitlines()]


def shown(*commands: str, most: int = 10) -> str:
    """Commands and what they print, at most so many lines of each, as a code block."""
    lines = ["```console"]
    for command in commands:
        printed = _run(command)
        left_out = [f"… {len(printed) - most} more lines"] if len(printed) > most + 1 else []
        lines += [f"$ {command}", *(printed[:most] if left_out else printed), *left_out]
    return "\n".join([*lines, "```"])
