"""What agents call things over ACP, in the words of their own histories.

Owns whose dialect is spoken, and what all agents' calls have in common, so that the tap, the hooks and the transcript of one
agent say the same. Must not know the protocol's messages. Sources: captured traffic of each agent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import cast

from tallystick.agents.kit.dialect import Dialect
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Json

_AGENTS = {said: name for name, facts in AGENTS.items() for said in facts.calls_itself}
WITH_HISTORIES = frozenset(_AGENTS.values())
"""Agents whose own histories we read. They say what each model call used: to count a turn's sum too would count twice."""


def agent_name(said: str) -> str:
    """The agent that calls itself so: the name of its histories if we know it, else its own, as a word of the format."""
    last = said.strip().lower().rsplit("/", 1)[-1]
    word = re.sub(r"[^A-Za-z0-9._:/@#~+-]+|\.\.+", "-", last).strip("-./:@#~+_")[:60]
    return _AGENTS.get(word, word) or "acp"


@cache
def dialect(agent: str) -> Dialect:
    """What an agent says in a way of its own: the module `acp` of its folder, where the catalogue names one."""
    facts = AGENTS.get(agent)
    if facts is None or "acp" not in facts.adapters:
        return Dialect()
    return cast("Dialect", import_module(f"tallystick.agents.{agent.replace('-', '_')}.acp").DIALECT)


def tool_name(agent: str, update: Mapping[str, Json], args: Json) -> str | None:
    """The agent's own name of a tool, as far as one message of the call tells; None if it does not."""
    meta = dict_of(update.get("_meta"))
    told = text_of(dict_of(meta.get("claudeCode")).get("toolName")) or text_of(meta.get("toolName"))
    return told or dialect(agent).tool_name(update, dict_of(args))


def arguments(agent: str, raw: Json) -> tuple[Json, str | None]:
    """The arguments of a call as the model gave them, and the folder it runs in, which some agents put among them."""
    if isinstance(raw, dict):
        return dialect(agent).arguments(raw)
    return raw, None


def exit_code(raw: Json) -> int | None:
    """The exit code of a command, where the raw output has one."""
    members = dict_of(raw)
    shells = [dict_of(item).get("exitCode") for item in list_of(members.get("contents"))]
    told = (members.get("exit_code"), members.get("exitCode"), dict_of(members.get("metadata")).get("exit"), *shells)
    return next((code for code in told if type(code) is int), None)
