"""Skills, commands and sub-agents: text with front matter that gives itself rights, or runs something when it is read.

Owns reading the front matter as far as it matters here, and the rules on it. Must not know where skills lie; their text is
read by `instructions` besides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tallystick.agents.settings import Hit
from tallystick.agents.settings.commands import downloads_and_runs
from tallystick.agents.settings.rules import rule_named

BROAD_TOOLS = rule_named("skills.broad-tools")
BYPASS = rule_named("skills.bypass-permissions")
RUNS = rule_named("skills.runs-when-read")
RUNS_DOWNLOAD = rule_named("skills.downloads-when-read")
SCRIPT_DOWNLOADS = rule_named("programs.download-and-run")
DUPLICATE = rule_named("skills.duplicate-name")

_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TOOLS = re.compile(r"^(?:allowed-tools|tools)[ \t]*:[ \t]*(.*(?:\r?\n[ \t]*-[ \t].*)*)", re.MULTILINE)
_ANY_SHELL = re.compile(r"(?<![\w.])Bash(?:\(\s*(?:\*|:\*|\*:\*)?\s*\))?(?![\w(])")
_ALLOWED = re.compile(r"^allowed-tools[ \t]*:", re.MULTILINE)
_MODE = re.compile(r"^permissionMode[ \t]*:[ \t]*[\"']?bypassPermissions\b", re.MULTILINE)
_NAME = re.compile(r"^name[ \t]*:[ \t]*[\"']?([^\"'\r\n]{1,200}?)[\"']?[ \t]*\r?$", re.MULTILINE)
_INLINE = re.compile(r"(?:^|(?<=\s))!`([^`\n]{1,2000})`")
_FETCHES = re.compile(r"\b(?:curl|wget)\b")
_MOST_EACH = 5


def look(text: str) -> Iterator[Hit]:
    """What is risky in a skill beyond its words."""
    front = _FRONT.match(text)
    if front:
        yield from _front(text, front)
    for _, found in zip(range(_MOST_EACH), _INLINE.finditer(text), strict=False):
        fetches = _FETCHES.search(found[1]) or downloads_and_runs(found[1])
        line = text.count("\n", 0, found.start(1)) + 1
        yield Hit(rule=RUNS_DOWNLOAD if fetches else RUNS, line=line, said=found[1])


def name_of(text: str) -> str | None:
    """The name that a skill gives itself."""
    front = _FRONT.match(text)
    found = None
    if front:
        found = _NAME.search(front[1])
    if found:
        return found[1].strip()
    return None


def duplicates(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Of skills, each with its name and its file, those whose name another one has: the file and the name."""
    files: dict[str, list[str]] = defaultdict(list)
    for name, file in named:
        files[name].append(file)
    for name, found in files.items():
        yield from ((file, name) for file in found[1:])


def _front(text: str, front: re.Match[str]) -> Iterator[Hit]:
    """`tools` of a sub-agent only says which tools there are; `allowed-tools` lets them run."""
    tools = _TOOLS.search(front[1])
    if tools and _ALLOWED.match(tools[0]) and (shell := _ANY_SHELL.search(tools[1])):
        at = front.start(1) + tools.start(1) + shell.start()
        yield Hit(rule=BROAD_TOOLS, line=text.count("\n", 0, at) + 1, said=shell[0])
    if mode := _MODE.search(front[1]):
        yield Hit(rule=BYPASS, line=text.count("\n", 0, front.start(1) + mode.start()) + 1, said=mode[0])
