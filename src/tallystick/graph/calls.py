"""What a recorded call means to do: its tool and arguments, and the shell text among them, read together.

Owns where the readers of `tools` and `shell` meet. Must not know rows. Nothing is looked up on disk: years later the files
are others, and the same journal has to give the same graph. What a script holds that is run is known if the session wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import argv_effects, effects
from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import Code, ToolCall, Uses
from tallystick.model.intent import Domain, Effects, Flow, Intent, Operation
from tallystick.model.paths import home_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_REMEMBERED = 4096
_SCRIPT_UNREAD = "script: "
"""How `shell` begins the target of what a script does whose text it was not given."""


def uses_of_call(step: Recorded, folder: str | None, agent: str) -> Uses:
    """What a call's own tool does; commands, programs and code are left to be read."""
    tool, server = step.member("tool"), step.member("server")
    args: Json = step.values.get("content.args")
    return uses_of(
        ToolCall(
            tool=tool if isinstance(tool, str) else "",
            args=args,
            folder=folder,
            home=home_of(folder),
            agent=agent,
            server=server if isinstance(server, str) else None,
        )
    )


ReadText: TypeAlias = Callable[[str], str | None]
"""What a file holds, by its absolute path, as far as that is known."""


def effects_of(uses: Uses, folder: str | None, read_text: ReadText | None = None) -> Effects:
    """Everything that a call means to do. `read_text` gives the texts of scripts that it runs."""
    told = _effects(uses, uses.folder or folder, None)
    if read_text is not None and any(intent.target.startswith(_SCRIPT_UNREAD) for intent in told.intents):
        return _effects(uses, uses.folder or folder, read_text)
    return told


def content_of(told: Effects, path: str) -> str | None:
    """All that a call left in a file, where its text tells that."""
    written = [intent.content for intent in told.intents if intent.target == path and intent.content is not None]
    if written:
        return written[-1]
    return None


def _effects(uses: Uses, where: str | None, read_text: ReadText | None) -> Effects:
    if not (uses.commands or uses.programs or uses.codes):
        return Effects(intents=uses.intents, flows=uses.flows)
    script, program = (_script, _program) if read_text is None else _with_files(read_text)
    intents, flows, opaque = [*uses.intents], [*uses.flows], list[str]()
    for read in (
        *(script(text, where) for text in uses.commands),
        *(program(tuple(words), where) for words in uses.programs),
        *(_code(code, where) for code in uses.codes),
    ):
        flows += [Flow(flow.source + len(intents), flow.target + len(intents)) for flow in read.flows]
        intents += read.intents
        opaque += read.opaque
    return Effects(intents=tuple(intents), flows=tuple(flows), opaque=tuple(dict.fromkeys(opaque)))


@lru_cache(_REMEMBERED)
def _script(text: str, folder: str | None) -> Effects:
    return effects(text, _environment(folder))


@lru_cache(_REMEMBERED)
def _program(words: tuple[str, ...], folder: str | None) -> Effects:
    return argv_effects(words, _environment(folder))


def _code(code: Code, folder: str | None) -> Effects:
    """Code in a language of its own, read as what its program would run."""
    if code.program is not None:
        return _program(code.program, folder)
    target = f"code: {code.language}"
    return Effects(intents=(Intent(domain=Domain.UNKNOWN, operation=Operation.UNKNOWN, target=target),))


def _with_files(
    read_text: ReadText,
) -> tuple[Callable[[str, str | None], Effects], Callable[[tuple[str, ...], str | None], Effects]]:
    """The same two readers where texts of files are at hand. Nothing is remembered: the files may be others next time."""
    return (
        lambda text, folder: effects(text, _environment(folder, read_text)),
        lambda words, folder: argv_effects(words, _environment(folder, read_text)),
    )


def _environment(folder: str | None, read_text: ReadText | None = None) -> Environment:
    if folder is not None:
        known = {"PWD": folder}
    else:
        known = {}
    variables = {"HOME": home_of(folder) or "~", **known}
    return Environment(variables=variables, folder=folder, read_text=read_text)
