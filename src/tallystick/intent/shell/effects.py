"""A shell text → all that it means to do, and how data moves among it.

Owns intents of commands, redirects, wrappers, and of scripts and code that are run, put together in order. Must not know any
program (`programs` does) or language (`code` does), nor open a file: functions for that are given.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from tallystick.catalog.loads import LOADING
from tallystick.intent.actions import Action, Actions, Done, Read, Reading
from tallystick.intent.code.languages import glimpse_code, read_code
from tallystick.intent.programs import actions_of
from tallystick.intent.shell import wrappers
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.feeds import WRITTEN_OUT
from tallystick.intent.shell.holding import INTO_VARIABLES
from tallystick.intent.shell.intents import Frame, Site
from tallystick.intent.shell.names import canonical
from tallystick.intent.shell.output import NOTHING, Output, output_of, written_by
from tallystick.intent.shell.read import read_argv, read_script
from tallystick.intent.shell.running import MOST_INTENTS, Running, program_name
from tallystick.intent.shell.scope import CHANGES_FOLDER
from tallystick.intent.shell.targets import Target, name_of
from tallystick.model.intent import Chance, Domain, Effects, Intent, Operation
from tallystick.model.script import HOLE, Command, Redirect, Role, Script, Word, unmarked

_COPYING = frozenset({Operation.COPY_SOURCE, Operation.RENAME})
_EDITS = frozenset({Operation.EDIT, Operation.WRITE, Operation.APPEND})
_LOOKS_UP = (("which",), ("whence",), ("command", "-v"), ("type", "-P"))


def effects(text: str, environment: Environment) -> Effects:
    """What a shell text means to do. Never raises: what cannot be told is an intent of Domain.UNKNOWN.

    A `cd` is taken to succeed, unless what follows says otherwise (`cd a || …`). What stands after `&&` in the last statement
    surely runs if the text succeeds; after `||`, in conditions' bodies, loops, traps and functions that nothing calls it may.
    """
    return read_effects(text, environment).effects


def read_effects(text: str, environment: Environment) -> Reading:
    """The same, with what it was found in."""
    engine = _Engine(environment)
    return engine.reading(read_script(unmarked(text), engine.environment))


def argv_effects(words: Iterable[str], environment: Environment) -> Effects:
    """What a program that is started without a shell means to do."""
    return read_argv_effects(words, environment).effects


def read_argv_effects(words: Iterable[str], environment: Environment) -> Reading:
    """The same, with what it was found in."""
    engine = _Engine(environment)
    return engine.reading(read_argv(map(unmarked, words), engine.environment))


def read_file_effects(path: str, text: str, language: str, environment: Environment) -> Reading:
    """What a file does when it is run or loaded, its text given; where it is run is the environment's folder."""
    engine = _Engine(environment)
    return engine.file(path, unmarked(text), language)


class _Engine(Running):
    """Makes the intents of one text."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._scripts: list[Script] = []
        self._done: list[Done] = []

    def reading(self, script: Script) -> Reading:
        """All intents and flows of a script, and what was read."""
        return Reading(self._effects(script), tuple(self._scripts), tuple(self._snippets), tuple(self._done))

    def file(self, path: str, text: str, language: str) -> Reading:
        """The same of a text in any language."""
        self.files.open.append(path)
        around = Command(words=(), folder=self.environment.folder)
        site = Site(around, Frame(), 0, self.plumbing.pipe(), self.plumbing.pipe(), [], [], (), NOTHING, [])
        self._language(site, language, text, ())
        return Reading(self._told(), tuple(self._scripts), tuple(self._snippets), tuple(self._done))

    def _effects(self, script: Script) -> Effects:
        self._script(script, Frame())
        return self._told()

    def _told(self) -> Effects:
        if "syntax" in self.opaque:  # where the grammar lost its way, quotes may be others than they seem
            self.found = [replace(intent, content=None) if intent.content else intent for intent in self.found]
        flows = self.plumbing.flows()
        if self.plumbing.is_cut or len(self.found) >= MOST_INTENTS:
            self.opaque["size"] = None
            self.found.append(Intent(domain=Domain.UNKNOWN, operation=Operation.UNKNOWN, target="size: cut here"))
        return Effects(intents=tuple(self.found), flows=flows, opaque=tuple(self.opaque))

    def _shell_text(self, text: str, environment: Environment, parameters: tuple[Word, ...], frame: Frame) -> None:
        self._script(read_script(text, environment, parameters), frame)

    def _script(self, script: Script, frame: Frame) -> None:
        self._scripts.append(script)
        outs: list[int] = []
        ins: list[int] = []
        told: list[Output] = []
        plumbing = self.plumbing
        for n, command in enumerate(script.commands):
            if len(self.found) >= MOST_INTENTS:
                return
            into, out = plumbing.pipe(), plumbing.pipe()
            outs.append(out)
            ins.append(into)
            number = frame.command
            if number is None:
                number = n
            site = Site(command, frame, number, into, out, outs, ins, script.commands, NOTHING, told)
            site.fed = self._input(site, told)
            told.append(self._command(site))
        unread = tuple((name, Word(value)) for name, value in script.assigned if name in LOADING and value)
        if unread:  # variables that only a later program looks at
            around = Command(words=(), folder=self.environment.folder, variables=unread, chance=Chance.MAYBE)
            self._loads(
                Site(around, frame, frame.command or 0, plumbing.pipe(), plumbing.pipe(), [], [], (), NOTHING, []),
                "",
                (),
            )
        for n in script.outputs:
            if frame.stdout is not None:
                plumbing.connect(outs[n], frame.stdout)
        said = {command.reason for command in script.commands}
        for reason in script.opaque:
            if reason not in said and reason != "program":
                self.opaque[reason] = None
                self.unknown(reason, (), frame)

    def _read(self, language: str, text: str, *, is_whole: bool) -> Read:
        home = self.environment.variables.get("HOME")
        if is_whole:
            return read_code(language, text, home=home)
        return glimpse_code(text, home=home)

    def _input(self, site: Site, told: list[Output]) -> Output:
        """Connect what reaches a command's standard input."""
        command, plumbing = site.command, self.plumbing
        bound = [redirect for redirect in command.redirects if not redirect.writes and redirect.descriptor in ("", "0")]
        if bound:
            return Output(carried=self._held(site, bound[-1].target, told))
        if command.input is not None and not command.inputs:
            for n in command.input.commands:
                plumbing.connect(site.outs[n], site.into)
            return written_by([command.input])
        for n in command.inputs:
            plumbing.connect(site.outs[n], site.into)
        if command.inputs:
            return Output.joined([told[n] for n in command.inputs])
        if site.frame.stdin is not None:
            plumbing.connect(site.frame.stdin, site.into)
        return NOTHING

    def _command(self, site: Site) -> Output:
        """Make a command's intents; what is known of its output."""
        command = site.command
        bound = [redirect for redirect in command.redirects if redirect.writes and _is_output(redirect)]
        onward = site.out
        if bound or command.is_diverted:
            site.out = self.plumbing.pipe()
        for redirect in command.redirects:
            if not redirect.writes or redirect.operator == "<>":
                self._redirect(site, redirect, NOTHING, False)
        match command.role:
            case Role.PROGRAM:
                output = self._program(site)
            case Role.UNTOLD:
                output = self._untold(site)
            case Role.CALL:
                output = NOTHING
            case _:
                self.plumbing.connect(site.into, site.out)
                is_bare = command.role is Role.GROUP and not command.inputs and command.input is None
                output = Output("") if is_bare and len(command.redirects) == len(bound) else site.fed  # `> file`
                self._wrapper(site)
        for redirect in command.redirects:
            if not redirect.writes or redirect.operator == "<>":
                continue
            is_bound = bool(bound) and redirect is bound[-1]
            self._redirect(site, redirect, output if is_bound else NOTHING, is_bound)
        site.out = onward
        if bound or command.is_diverted:
            return NOTHING
        return output

    def _program(self, site: Site) -> Output:
        command = site.command
        if not command.words:
            return NOTHING
        command = site.command = _looked_up(command, site.commands)
        first = command.words[0]
        if not first.is_known:
            target = name_of(first).text or "?"
            self.opaque["program"] = None
            self.add(site, _run(first), Target(target, False))
            self._pour(site, (first,), self.missing(site, f"program: {target}", command.words))
            self._made(site, (first,), "sh")
            return NOTHING
        plain = _as_listed(command)
        name = plain.program
        if name in CHANGES_FOLDER:
            return Output("", False)
        self.add(site, _run(first), Target(name_of(Word(program_name(command))).text))
        if wrappers.is_wrapper(name):
            self._around(site, name, plain.arguments)
        actions = actions_of(plain, home=self.environment.variables.get("HOME"))
        self._done.append(Done(command, actions))
        self._act(site, actions, name)
        self._loads(site, name, plain.arguments)
        self._run(site, name, plain, actions)
        if name == "parallel":
            self._lines(site, plain.arguments)
        is_told = self._recipe(site, name, plain)
        if actions.is_unknown and not is_told and not wrappers.is_wrapper(name):
            self.missing(site, f"program: {name_of(first).text}", command.words)
            self.plumbing.connect(site.into, site.out)
        if name in INTO_VARIABLES:
            self.plumbing.connect(site.into, site.out)
        if name in WRITTEN_OUT:
            for n in _made_from(command):
                self.plumbing.connect(site.outs[n], site.out)
        output = output_of(name, plain, actions, site.fed)
        return output if output.text is not None else replace(output, carried=self._carried(site, name, plain, actions))

    def _act(self, site: Site, actions: Actions, name: str) -> None:
        plumbing = self.plumbing
        nodes = self._nodes(site, actions, name)
        for n in actions.prints:
            if n < len(nodes):
                plumbing.connect(nodes[n], site.out)
        if actions.reads_input:
            plumbing.connect(site.into, site.out)
        made_from = _made_from(site.command)
        for action, node in zip(actions.actions, nodes, strict=False):
            if action.from_input:
                plumbing.connect(site.into, node)
            is_edit = action.operation in _EDITS and name in WRITTEN_OUT
            if action.domain is Domain.NETWORK or is_edit:  # what is in its words goes along
                for n in made_from:
                    plumbing.connect(site.outs[n], node)

    def _nodes(self, site: Site, actions: Actions, name: str) -> list[int]:
        """The places of a command's actions, data going among them; what is copied is kept in mind."""
        copied = {n: self._held(site, each.target) for n, each in enumerate(actions.actions) if _is_copied(each, name)}
        nodes = [self._action(site, action) for action in actions.actions[:MOST_INTENTS]]
        for source, target in actions.flows:
            if source < len(nodes) and target < len(nodes):
                self.plumbing.connect(nodes[source], nodes[target])
                if source in copied:
                    self._keep(site, actions.actions[target].target, copied[source])
        return nodes


def _run(program: Word) -> Action:
    return Action(domain=Domain.PROCESS, operation=Operation.RUN, target=program)


def _is_copied(action: Action, name: str) -> bool:
    """Whether what an action reads is written elsewhere as it is."""
    return action.operation in _COPYING or (name == "dd" and action.operation is Operation.READ)


def _is_output(redirect: Redirect) -> bool:
    return redirect.descriptor in ("", "1") or redirect.operator.startswith("&")


def _looked_up(command: Command, commands: tuple[Command, ...]) -> Command:
    """The command with the program that `$(which rm)` stands for; itself where it begins with something else."""
    first = command.words[0]
    if first.text != HOLE or len(first.commands) != 1 or first.commands[0] >= len(commands):
        return command
    *asked, name = commands[first.commands[0]].words or (first,)
    is_asked = (
        tuple(word.text for word in asked) in _LOOKS_UP and name.is_known and name.text[:1] not in ("-", "/", ".")
    )
    if is_asked:
        return replace(command, words=(name, *command.words[1:]))
    return command


def _as_listed(command: Command) -> Command:
    """A command as the tables of programs want it: by its usual name, and with its input only if that is known."""
    name = program_name(command)
    usual = canonical(name)
    fed = ""
    if command.input is not None and command.input.is_known:
        fed = command.input.plain
    if usual == name:
        words = command.words
    else:
        words = (Word(usual), *command.words[1:])
    if command.trusted and fed == command.fed and words is command.words:
        return command
    return replace(command, trusted=True, fed=fed, words=words)


def _made_from(command: Command) -> list[int]:
    """The commands whose output is in the words of a command, as text."""
    return [n for word in command.words if word.commands and not word.is_stream for n in word.commands]
