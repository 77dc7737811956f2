"""A call that is judged → everything that its arguments, and the texts that it runs, say it will do.

Owns where the readers of `tools` and `shell` meet before a call runs. Unlike the index, which must give the same graph years
later, it reads scripts as they are on disk now. Must not know what matters of what it finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.intent.actions import Reading, Snippet
from tallystick.intent.shell.blanks import spelled
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import read_argv_effects, read_effects
from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import Code, ToolCall, Uses
from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Effects, Flow, Intent, Operation
from tallystick.model.paths import folder_of
from tallystick.model.script import unmarked
from tallystick.model.step import Json
from tallystick.policy.calls.embedded_commands import calls_in, commands_in, read_typed, windows_texts
from tallystick.policy.calls.loading import loaded
from tallystick.policy.calls.reading import CallReading, is_archive
from tallystick.policy.world import Content, Files


def read_call(
    call: Call, files: Files, *, home: str, workspace: str | None, variables: Iterable[tuple[str, str]] = ()
) -> CallReading:
    """Read a call. Never raises for what an agent gave.

    Args:
        workspace: the folder that the agent works in as a whole; None: where the call runs.
        variables: of the agent's environment, besides HOME and PWD.
    """
    return CallReader(files, home=home, workspace=workspace, variables=variables).read(call)


class CallReader:
    """Reads calls in one world. Never raises for what an agent gave."""

    def __init__(
        self, files: Files, *, home: str, workspace: str | None, variables: Iterable[tuple[str, str]] = ()
    ) -> None:
        """As `read_call` takes it."""
        self._files, self._home, self._workspace = files, home, workspace
        self._variables = {**dict(variables), "HOME": home}

    def read(self, call: Call) -> CallReading:
        """All that a call does."""
        return self._read(call, _as_read(_uses(call, self._home)))

    def parts(self, reading: CallReading) -> Iterator[CallReading]:
        """Each text of a call that runs several, as it would be alone: what one does is not hidden by the others."""
        texts = reading.uses.commands
        for text in texts[:_MOST_PARTS] if len(texts) > 1 else ():
            yield self._read(reading.call, msgspec.structs.replace(reading.uses, commands=(text,)))

    def _read(self, call: Call, uses: Uses) -> CallReading:
        folder = uses.folder or folder_of(call.cwd)
        patterns: list[str] = []
        asked: list[str] = []
        environment = _environment(self._files, folder, self._variables, patterns, asked)
        readings = [
            *(read_effects(text, environment) for text in uses.commands),
            *(read_argv_effects(words, environment) for words in uses.programs),
            *(reading for code in uses.codes for reading in _code(code, environment)),
        ]
        readings += [read_argv_effects(words, environment) for words in windows_texts(uses.commands, readings)]
        typed = list(read_typed(uses.typed, environment))
        readings += [reading for _, reading in typed]
        loads = loaded(readings, self._files, environment, frozenset(asked))
        readings += loads.readings
        return CallReading(
            call=call,
            home=self._home,
            folder=folder,
            workspace=self._workspace or folder_of(call.cwd),
            uses=uses,
            effects=_packed(_joined(Effects(intents=uses.intents, flows=uses.flows), readings), readings),
            scripts=tuple(script for reading in readings for script in reading.scripts),
            snippets=tuple(snippet for reading in readings for snippet in reading.snippets),
            done=tuple(done for reading in readings for done in reading.done),
            texts=(
                *uses.commands,
                *(" ".join(words) for words in uses.programs),
                *(code.text for code in uses.codes),
                *(text for text, _ in typed),
            ),
            modules=loads.modules,
            patterns=tuple(patterns),
        )


_MOST_PARTS = 32
"""Texts of one call that are read alone as well."""


def _uses(call: Call, home: str) -> Uses:
    """What the tool does, with what tools do that its script calls."""
    uses = _uses_of(call.tool, call.args, call, home)
    for code in uses.codes if uses.codes and call.tool.endswith("exec") else ():
        for tool, args in calls_in(code.text):
            inner = _uses_of(tool, args, call, home)
            uses = _with(uses, inner)
    return uses


def _as_read(uses: Uses) -> Uses:
    """The same with its texts as they are read: all that is looked for in them is looked for in what was found in them."""
    return msgspec.structs.replace(
        uses,
        commands=tuple(each for text in uses.commands for each in spelled(unmarked(text))),
        programs=tuple(tuple(map(unmarked, words)) for words in uses.programs),
        codes=tuple(msgspec.structs.replace(code, text=unmarked(code.text)) for code in uses.codes),
    )


def _uses_of(tool: str, args: Json, call: Call, home: str) -> Uses:
    return uses_of(ToolCall(tool=_text(tool), args=args, folder=call.cwd, home=home, agent=call.agent))


def _with(uses: Uses, inner: Uses) -> Uses:
    count = len(uses.intents)
    moved = (Flow(flow.source + count, flow.target + count) for flow in inner.flows)
    return msgspec.structs.replace(
        uses,
        intents=(*uses.intents, *inner.intents),
        flows=(*uses.flows, *moved),
        commands=(*uses.commands, *inner.commands),
        programs=(*uses.programs, *inner.programs),
        typed=(*uses.typed, *inner.typed),
    )


def _text(tool: str) -> str:
    """A tool's name that any text can hold."""
    return tool.encode("utf-8", "replace").decode("utf-8")


_OF_PROJECT = ("PWD", *(name for facts in AGENTS.values() for name in facts.variables.project))


def _environment(
    files: Files, folder: str | None, variables: dict[str, str], patterns: list[str], asked: list[str]
) -> Environment:
    here = dict.fromkeys(_OF_PROJECT, folder) if folder is not None else {}

    def read_text(path: str) -> str | None:
        if not path.endswith(".ipynb"):  # its cells are for `loading` to read
            asked.append(path)
        found = files.content(path)
        return found.text if isinstance(found, Content) else None

    def matches(pattern: str) -> Sequence[str]:
        patterns.append(pattern)
        return files.matches(pattern)

    return Environment(variables={**variables, **here}, folder=folder, glob=matches, read_text=read_text)


def _code(code: Code, environment: Environment) -> Iterator[Reading]:
    """Code in a language of its own, read as what its program would run. In notebooks there are shell commands as well."""
    if code.language == "python":
        commands, text = commands_in(code.text)
        yield from (read_effects(command, environment) for command in commands)
        code = Code(code.language, text)
    if code.program is not None:
        yield read_argv_effects(code.program, environment)
        return
    target = f"code: {code.language}"
    untold = Intent(domain=Domain.UNKNOWN, operation=Operation.UNKNOWN, target=target)
    yield Reading(Effects(intents=(untold,)), snippets=(Snippet(code.language, code.text),))


def _packed(effects: Effects, readings: Sequence[Reading]) -> Effects:
    """What code reads goes into the archive that it makes: `shutil.make_archive("a", "zip", "config")`."""
    if not any(reading.snippets for reading in readings):
        return effects
    into = {flow.target for flow in effects.flows}
    made = [k for k, one in enumerate(effects.intents) if k not in into and is_archive(one)][:_MOST_ARCHIVES]
    found = [
        Flow(n, k)
        for n, one in enumerate(effects.intents if made else ())
        if one.operation is Operation.READ and one.domain is Domain.FILE
        for k in made
        if one.command == effects.intents[k].command
    ]
    return Effects(intents=effects.intents, flows=(*effects.flows, *found), opaque=effects.opaque) if found else effects


_MOST_ARCHIVES = 8


def _joined(first: Effects, readings: Iterable[Reading]) -> Effects:
    intents, flows, opaque = [*first.intents], [*first.flows], [*first.opaque]
    for reading in readings:
        read = reading.effects
        flows += [Flow(flow.source + len(intents), flow.target + len(intents)) for flow in read.flows]
        intents += read.intents
        opaque += read.opaque
    return Effects(intents=tuple(intents), flows=tuple(flows), opaque=tuple(dict.fromkeys(opaque)))
