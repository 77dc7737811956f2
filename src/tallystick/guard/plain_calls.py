"""The list of plain calls, which hooks let through by themselves while no recorder answers.

Owns what is on the list of a store, and when it has none: where a policy, a plugin or a setting of the user may say more than
the shipped policies do, hooks cannot know it. Must not know how a hook compares a call with the list (hook_looks.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.catalog.loading import Entry, load
from tallystick.errors import JournalError
from tallystick.guard.policies import Policies, detectors
from tallystick.hook_looks import LIST, signature
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.policy.settings import Profile, Settings

_NO_RULE = {"keep_megabytes": Settings().keep_megabytes, "answers_allow": Settings().answers_allow}
"""Settings by which nothing is judged."""


class _Allowed(Entry, frozen=True):
    """What may be on the command line of a program, or after its verb."""

    letters: str = ""
    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    numbers: bool = False
    paths: bool = False


class _Paths(Entry, frozen=True):
    hints: tuple[str, ...]
    names: tuple[str, ...]
    endings: tuple[str, ...]
    system: tuple[str, ...]
    most_bytes: int


class _Arguments(Entry, frozen=True):
    command: tuple[str, ...]
    path: tuple[str, ...]
    beside: tuple[str, ...]


class _Repository(Entry, frozen=True):
    words: tuple[str, ...]


class _PlainCalls(Entry, frozen=True):
    """catalog/plain_calls.toml."""

    agents: tuple[str, ...]
    programs: Mapping[str, _Allowed]
    verbs: Mapping[str, Mapping[str, _Allowed]]
    paths: _Paths
    repository: _Repository
    arguments: _Arguments


def keep_plain_calls(home: Home, policies: Policies) -> None:
    """Write the list for the policies that are in force, or remove it. Where that fails, hooks do without."""
    path = home.folder / LIST
    settings = signature(str(home.folder))
    with suppress(JournalError, OSError):
        if _is_as_shipped(policies):
            replace_file(path, [msgspec.json.encode({"settings": settings, **_content()})])
        else:
            path.unlink(missing_ok=True)


def _is_as_shipped(policies: Policies) -> bool:
    """Whether nothing of the user or of a plugin adds to what the standard profile says."""
    set_by_user = msgspec.structs.replace(policies.settings, profile=Profile.STANDARD, is_interactive=True, **_NO_RULE)
    is_known = policies.settings.profile in (Profile.STANDARD, Profile.OBSERVE)
    return is_known and set_by_user == Settings() and not policies.own and not detectors() and policies.error is None


def _content() -> dict[str, object]:
    facts = load("plain_calls", _PlainCalls)
    tools = {name: {kind: AGENTS[name].tools.get(kind, ()) for kind in ("shell", "read")} for name in facts.agents}
    paths, arguments = facts.paths, facts.arguments
    return {
        "tools": tools,
        "programs": _command_lines(facts.programs),
        "verbs": {name: _command_lines(verbs) for name, verbs in facts.verbs.items()},
        "paths": {
            "hints": paths.hints,
            "names": paths.names,
            "endings": paths.endings,
            "system": paths.system,
            "most_bytes": paths.most_bytes,
        },
        "git_words": facts.repository.words,
        "arguments": {"command": arguments.command, "path": arguments.path, "beside": arguments.beside},
    }


def _command_lines(allowed: Mapping[str, _Allowed]) -> dict[str, object]:
    return {
        name: {
            "letters": one.letters,
            "options": one.options,
            "words": one.words,
            "numbers": one.numbers,
            "paths": one.paths,
        }
        for name, one in allowed.items()
    }
