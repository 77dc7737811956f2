"""Tools that run something: shell commands, code, programs, sub-agents, skills.

Owns the forms in which agents give a command, and what starting an agent is called. Must not know what a command does.
"""

from __future__ import annotations

import json

from tallystick.catalog.agents import CONVENTIONS
from tallystick.intent.tools.arguments import NAMES, has_blank, members_of, objects_among, strings, text_among
from tallystick.intent.tools.draft import Draft
from tallystick.intent.tools.paths import printable
from tallystick.intent.tools.uses import Code
from tallystick.model.intent import Domain, Operation
from tallystick.model.paths import System
from tallystick.model.step import Json

_LANGUAGES = {"js": "javascript", "node": "javascript", "ts": "javascript", "typescript": "javascript", "py": "python",
              "python3": "python", "bash": "sh", "shell": "sh", "zsh": "sh"}  # fmt: skip


def shells(draft: Draft) -> None:
    """A tool that runs shell commands: a text, several, or one program's words."""
    draft.enter_folder()
    given: Json = draft.text
    if given is None:
        given = next((draft.members[name] for name in NAMES.commands if draft.members.get(name)), None)
    take(draft, given, 0, is_several="commands" in draft.members)
    if (
        not draft.commands and not draft.programs
    ):  # under no name that is known, or in no known form: any text may be it
        take(draft, [text for name, text in strings(draft.args) if name not in _TALK], 0)
    if draft.system is System.WINDOWS and draft.agent in CONVENTIONS.powershell_on_windows:
        draft.codes += [Code("powershell", text) for text in draft.commands]
        draft.commands.clear()


def runs_task(draft: Draft) -> None:
    """A tool that makes a task of an editor and runs it: a program with its arguments, or a line for a shell."""
    draft.enter_folder()
    take(draft, draft.members.get("task"), 0)


_TALK = ("description", "explanation", "workdir", "cwd", "directory", "dirpath", "reason", "summary", "risklevel")


def take(draft: Draft, given: Json, depth: int, *, is_several: bool = False) -> None:
    """A command as agents give it: a text, several, one with its arguments, or the words of one program."""
    if isinstance(given, str):
        items = _list_in(given)
        if items is None:
            draft.commands.append(given)
        else:
            take(draft, items, depth + 1)
    elif isinstance(given, dict) and depth < 4:
        members = members_of(given)
        program, rest = members.get("command", members.get("cmd", members.get("argv"))), members.get("args")
        if isinstance(program, str) and isinstance(rest, list) and rest:
            draft.programs.append((program, *map(str, rest)))
        else:
            take(draft, program, depth + 1)
        if isinstance(folder := text_among(members, "workingdirectory", "workdir", "cwd"), str):
            draft.members = {**draft.members, "cwd": folder}
            draft.enter_folder()
    elif isinstance(given, list) and depth < 4:
        _take_list(draft, given, depth, is_several=is_several)


def _take_list(draft: Draft, given: list[Json], depth: int, *, is_several: bool) -> None:
    """The words of one program, or one text after another: a text with white space in the first place is not a program."""
    texts = [item for item in given if isinstance(item, str)]
    if len(texts) > 1 and not has_blank(texts[0].strip()) and not is_several:
        draft.programs.append(tuple(texts))
    else:
        draft.commands += texts
    for item in given:
        if isinstance(item, (dict, list)):
            take(draft, item, depth + 1)


def _list_in(text: str) -> list[Json] | None:
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list) and found and all(isinstance(item, (str, dict)) for item in found):
        return found
    return None


def _code_of(draft: Draft) -> str | None:
    if draft.text is not None:
        return draft.text
    return text_among(draft.members, *NAMES.code)


def _runs(draft: Draft, language: str) -> None:
    draft.enter_folder()
    text = _code_of(draft)
    said = text_among(draft.members, "language", "lang", "kernel")
    if said is not None:
        language = _LANGUAGES.get(said.lower(), said.lower())
    if text is None:
        draft.unknown()
    elif language == "sh":
        draft.commands.append(text)
    else:
        draft.codes.append(Code(language, text))


def runs_python(draft: Draft) -> None:
    """A tool that runs Python, unless its arguments name another language."""
    _runs(draft, "python")


def runs_javascript(draft: Draft) -> None:
    """A tool that runs JavaScript, unless its arguments name another language."""
    _runs(draft, "javascript")


def runs_powershell(draft: Draft) -> None:
    """A tool that runs PowerShell."""
    _runs(draft, "powershell")


def runs_sql(draft: Draft) -> None:
    """A tool that asks a database."""
    text = text_among(draft.members, "query", "sql", "statement") or draft.text
    if text is None:
        draft.unknown()
    else:
        draft.codes.append(Code("sql", text))


def types_into(draft: Draft) -> None:
    """A tool that gives text to a program that runs: what that makes of it is unknown. No text at all only waits."""
    text = text_among(draft.members, "chars", "input", "text", "data", "keys", "command", "content")
    if text is not None:
        draft.typed.append(text)
        draft.unknown(text)


def stops(draft: Draft) -> None:
    """A tool that stops a command that goes on in the background."""
    number = draft.members
    found = next((number[name] for name in NAMES.shells if isinstance(number.get(name), (str, int))), "")
    draft.other(Domain.PROCESS, Operation.SIGNAL, f"shell:{found}"[:200])


def starts_agent(draft: Draft) -> None:
    """A tool that gives a task to another agent."""
    name = text_among(draft.members, *NAMES.agents)
    if name is None and (several := objects_among(draft.members, "tasks", "agents", "subagents")):
        for item in several:
            _start(draft, text_among(item, *NAMES.agents) or draft.tool)
        return
    _start(draft, name or draft.tool)


def _start(draft: Draft, name: str) -> None:
    draft.started.append(printable(name[:200]))
    draft.other(Domain.PROCESS, Operation.RUN, f"agent:{name[:200]}")


def uses_skill(draft: Draft) -> None:
    """A tool that loads a skill, or a prompt that the user keeps as a command."""
    name = text_among(draft.members, *NAMES.skills) or draft.text
    draft.other(Domain.PROCESS, Operation.RUN, f"skill:{(name or draft.tool)[:200]}")


def schedules(draft: Draft) -> None:
    """A tool that has something run later, or again and again."""
    when = text_among(draft.members, "cron", "schedule", "when", "delay", "expression")
    draft.other(Domain.PROCESS, Operation.SCHEDULE, draft.tool, *([when] if when else []))


def nothing(draft: Draft) -> None:
    """A tool that touches nothing outside of the agent: plans, questions, waiting, its own settings."""
