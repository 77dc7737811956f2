"""What a command does to an agent: starts one that no one watches, or changes what agents load.

Owns those words. Which programs, options and verbs these are is in the catalogue. Must not know the record's own places:
`guarded` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tallystick.catalog.agents import AGENTS, CONVENTIONS, folder_variables
from tallystick.catalog.agents import programs as programs_of_agents
from tallystick.intent.tools.arguments import strings
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.prompt_injection import tags_of
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "unguarded-agent": "An agent is started that asks nobody, or without its sandbox or its hooks.",
    "moved-agent": "An agent is started that looks for its settings, or the record, in another place.",
    "changes-agent": "An agent gets another server, plugin or setting by a command of its own.",
    "remembers-orders": "Text that orders an agent against its user goes into what it keeps for later sessions.",
}

_NAMES = programs_of_agents()
_PACKAGES = {package: (*facts.programs, facts.name)[0] for facts in AGENTS.values() for package in facts.packages}
_RUNNERS = frozenset(("npx", "bunx", "pnpx", "uvx", "pipx", "npm", "pnpm", "yarn", "bun", "uv"))
_UNGUARDED = frozenset(
    (*CONVENTIONS.unguarded, *(option for facts in AGENTS.values() for option in facts.starts.unguarded))
)
_SHORT = {program: options for facts in AGENTS.values() for program, options in facts.starts.short.items()}


def _values() -> Mapping[str, frozenset[str]]:
    """By option: its values with which an agent asks no one, or runs without its sandbox."""
    found: dict[str, frozenset[str]] = {}
    for facts in AGENTS.values():
        for option, values in facts.starts.values.items():
            found[option] = found.get(option, frozenset()).union(values)
    return found


_SETTINGS = _values()
_OFF = pattern_of("|".join(override for facts in AGENTS.values() for override in facts.starts.overrides), re.IGNORECASE)
_CHANGING = CONVENTIONS.changing
_MOVING = (*folder_variables(), *(name for facts in AGENTS.values() for name in facts.variables.moving))
_MOVES = "|".join(name.replace("*", r"\w{0,20}") for name in _MOVING)
_MOVED = pattern_of(
    rf"\b(?:TALLY_HOME|{_MOVES}|(?<![\w-])HOME)"
    r"=(?!\$\{?HOME\}?(?:\s|$))"
)
_HELP_OPTIONS = frozenset(("--help", "-h", "--version", "-V", "-v"))
_HELP_WORDS = frozenset(("help", "version"))
_MOST_VERBS = 2


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for started in programs(reading):
        found = _agent(started)
        if found is None or _asks_for_help(found[1]):
            continue
        name, words = found
        if _is_unguarded(name, words):
            yield Risk("unguarded-agent", started.spelled)
        if _changes(words):
            yield Risk("changes-agent", started.spelled)
        if any(_MOVED.search(text[: 64 << 10]) for text in reading.texts):
            yield Risk("moved-agent", started.spelled)
    if _remembers(reading.call.tool):
        tags = tags_of("\n".join(text for key, text in strings(reading.call.args) if key not in _OLD))
        if tags:
            yield Risk("remembers-orders", ", ".join(sorted(tags)))


def _agent(started: Started) -> tuple[str, tuple[str, ...]] | None:
    """The agent that is started, and its arguments; also by a program that runs packages."""
    if started.name in _NAMES:
        return started.name, started.words
    if started.name in _RUNNERS:
        for n, word in enumerate(started.words[:6]):
            bare = word if word.startswith("@") and word.count("@") == 1 else word.rpartition("@")[0] or word
            if bare in _PACKAGES:
                return _PACKAGES[bare], started.words[n + 1 :]
    return None


def _asks_for_help(words: tuple[str, ...]) -> bool:
    """Whether a call asks for help or the version and does nothing else: `--help` beside other options may be a prompt."""
    options = [word for word in words if word[:1] == "-"]
    if len(words) - len(options) > _MOST_VERBS or not _HELP_OPTIONS.issuperset(options):
        return False
    return bool(options) or not _HELP_WORDS.isdisjoint(words[:1])


def _is_unguarded(name: str, words: tuple[str, ...]) -> bool:
    for n, word in enumerate(words):
        flag, _, value = word.partition("=")
        if (flag in _UNGUARDED or word in _SHORT.get(name, ())) and value not in ("false", "0"):
            return True
        value = value or (words[n + 1] if n + 1 < len(words) else "")
        if value.lower() in _SETTINGS.get(flag, ()):
            return True
        if flag in ("-c", "--config") and _OFF.search(f"{word}={value}"):
            return True
    return False


def _changes(words: tuple[str, ...]) -> bool:
    operands = [word for word in words[:8] if word[:1] != "-"]
    return len(operands) > 1 and operands[1] in _CHANGING.get(operands[0], ())


# Memories ------------------------------------------------------------------------------------------------------------

_OLD = ("oldstring", "oldtext", "oldstr", "query", "search")
_MEMORY = pattern_of(
    r"memor(?:y|ies|ize)|remember|mem0|knowledge.?graph|\bzep\b|graphiti|supermemory|observations|openmemory",
    re.IGNORECASE,
)
_LOOKS = pattern_of(r"(?:^|_|\b)(?:search|read|get|list|query|find|recall|open|view|delete|remove)", re.IGNORECASE)


def _remembers(tool: str) -> bool:
    """Whether a tool, by its name, keeps something for later sessions."""
    return _MEMORY.search(tool[:400]) is not None and _LOOKS.search(tool.rpartition("__")[2][:400]) is None
