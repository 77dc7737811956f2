"""A shell text → all that it means to do, and how data moves among it.

Owns intents of commands, redirects, wrappers, and of scripts and code that are run, put together in order. Must not know any
program (`programs` does) or language (`code` does), nor open a file: functions for that are given.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from tallystick.model.intent import Chance, Domain, Effects, Intent, Operation
from tallystick.model.script import HOLE, Command, Redirect, Role, Script, Word
from tallystick.shell import wrappers
from tallystick.shell.actions import Action, Actions, Code
from tallystick.shell.code import read_code
from tallystick.shell.commands import Environment
from tallystick.shell.files import Files, language_of
from tallystick.shell.intents import Frame, Intents, Site
from tallystick.shell.names import canonical
from tallystick.shell.output import NOTHING, Output, output_of, written_by
from tallystick.shell.programs import actions_of
from tallystick.shell.read import read_argv, read_script
from tallystick.shell.recipes import BUILD_TOOLS, recipe_of
from tallystick.shell.scope import CHANGES_FOLDER
from tallystick.shell.targets import is_no_file, name_of, path_of, socket_of, spelled, target_of

_MOST_INTENTS = 2000
_MOST_CODES = 100
_MOST_CODE = 48 << 10
"""Characters of all code in languages other than the shell's together."""
_READS = frozenset({Operation.READ, Operation.COPY_SOURCE, Operation.EXECUTE, Operation.LIST, Operation.RENAME})
_INTERPRETERS = frozenset({"python", "node", "perl", "ruby", "php", "deno", "bun"})
_INTO_VARIABLES = frozenset({"read", "mapfile", "readarray"})
_STANDS_FOR_HOLE = "\ue00f"
"""Holes in code that a language's reader gets: it takes them for a character."""


class Snippet(msgspec.Struct, frozen=True):
    """Text in a language other than the shell's that is run."""

    language: str
    """Named as in `actions.Code`."""
    text: str


class Reading(msgspec.Struct, frozen=True):
    """All that was read of a text: what it means to do, and what that was found in."""

    effects: Effects
    scripts: tuple[Script, ...] = ()
    """The text itself, then the shell texts that it runs, each in its place: `sh -c`, scripts, recipes."""
    snippets: tuple[Snippet, ...] = ()
    """Code in other languages that it runs."""


def effects(text: str, environment: Environment) -> Effects:
    """What a shell text means to do. Never raises: what cannot be told is an intent of Domain.UNKNOWN.

    A `cd` is taken to succeed, unless what follows says otherwise (`cd a || …`). What stands after `&&` in the last statement
    surely runs if the text succeeds; after `||`, in conditions' bodies, loops, traps and functions that nothing calls it may.
    """
    return read_effects(text, environment).effects


def read_effects(text: str, environment: Environment) -> Reading:
    """The same, with what it was found in."""
    engine = _Engine(environment)
    return engine.reading(read_script(text, engine.environment))


def argv_effects(words: Iterable[str], environment: Environment) -> Effects:
    """What a program that is started without a shell means to do."""
    return read_argv_effects(words, environment).effects


def read_argv_effects(words: Iterable[str], environment: Environment) -> Reading:
    """The same, with what it was found in."""
    engine = _Engine(environment)
    return engine.reading(read_argv(words, engine.environment))


class _Engine(Intents):
    """Makes the intents of one text."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(Files(environment.read_text))
        is_readable = environment.read_text is not None
        self.environment = replace(environment, read_text=self.files.before) if is_readable else environment
        self._scripts: list[Script] = []
        self._snippets: list[Snippet] = []
        self._codes = 0
        self._code_size = 0

    def reading(self, script: Script) -> Reading:
        """All intents and flows of a script, and what was read."""
        return Reading(self._effects(script), tuple(self._scripts), tuple(self._snippets))

    def _effects(self, script: Script) -> Effects:
        self._script(script, Frame())
        if "syntax" in self.opaque:  # where the grammar lost its way, quotes may be others than they seem
            self.found = [replace(intent, content=None) if intent.content else intent for intent in self.found]
        flows = self.plumbing.flows()
        if self.plumbing.is_cut or len(self.found) >= _MOST_INTENTS:
            self.opaque["size"] = None
            self.found.append(Intent(domain=Domain.UNKNOWN, operation=Operation.UNKNOWN, target="size: cut here"))
        return Effects(intents=tuple(self.found), flows=flows, opaque=tuple(self.opaque))

    def _script(self, script: Script, frame: Frame) -> None:
        self._scripts.append(script)
        outs: list[int] = []
        ins: list[int] = []
        told: list[Output] = []
        plumbing = self.plumbing
        for n, command in enumerate(script.commands):
            if len(self.found) >= _MOST_INTENTS:
                return
            into, out = plumbing.pipe(), plumbing.pipe()
            outs.append(out)
            ins.append(into)
            number = n if frame.command is None else frame.command
            site = Site(command, frame, number, into, out, outs, ins, script.commands, NOTHING)
            site.fed = self._input(site, told)
            told.append(self._command(site))
        for n in script.outputs:
            if frame.stdout is not None:
                plumbing.connect(outs[n], frame.stdout)
        said = {command.reason for command in script.commands}
        for reason in script.opaque:
            if reason not in said and reason != "program":
                self.opaque[reason] = None
                self.unknown(reason, (), frame, frame.command or 0, Chance.ALWAYS, True)

    # One command --------------------------------------------------------------------------------------------------------

    def _input(self, site: Site, told: list[Output]) -> Output:
        """Connect what reaches a command's standard input."""
        command, plumbing = site.command, self.plumbing
        if any(not redirect.writes and redirect.descriptor in ("", "0") for redirect in command.redirects):
            return NOTHING
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
                output = site.fed
                self._wrapper(site)
        for redirect in command.redirects:
            if not redirect.writes or redirect.operator == "<>":
                continue
            is_bound = bool(bound) and redirect is bound[-1]
            self._redirect(site, redirect, output if is_bound else NOTHING, is_bound)
        site.out = onward
        return NOTHING if bound or command.is_diverted else output

    def _program(self, site: Site) -> Output:
        command = site.command
        if not command.words:
            return NOTHING
        first = command.words[0]
        if not first.is_known:
            target = name_of(first).text or "?"
            self.opaque["program"] = None
            self.add(site, Domain.PROCESS, Operation.RUN, target, (first,), is_known=False)
            self.missing(site, f"program: {target}", command.words)
            return NOTHING
        plain = _as_listed(command)
        name = plain.program
        if name in CHANGES_FOLDER:
            return Output("", False)
        self.add(site, Domain.PROCESS, Operation.RUN, name_of(Word(_name(command))).text, (first,))
        if wrappers.is_wrapper(name):
            self._around(site, name, plain.arguments)
        actions = actions_of(plain, home=self.environment.variables.get("HOME"))
        self._act(site, actions)
        self._run(site, name, plain, actions)
        is_told = self._recipe(site, name, plain)
        if actions.is_unknown and not is_told and not wrappers.is_wrapper(name):
            self.missing(site, f"program: {name_of(first).text}", command.words)
            self.plumbing.connect(site.into, site.out)
        if name in _INTO_VARIABLES:
            self.plumbing.connect(site.into, site.out)
        if name in ("echo", "printf"):
            for n in _made_from(command):
                self.plumbing.connect(site.outs[n], site.out)
        return output_of(name, plain, actions, site.fed)

    def _act(self, site: Site, actions: Actions) -> None:
        plumbing = self.plumbing
        nodes = [self._action(site, action) for action in actions.actions[:_MOST_INTENTS]]
        for source, target in actions.flows:
            if source < len(nodes) and target < len(nodes):
                plumbing.connect(nodes[source], nodes[target])
        for n in actions.prints:
            if n < len(nodes):
                plumbing.connect(nodes[n], site.out)
        if actions.reads_input:
            plumbing.connect(site.into, site.out)
        for action, node in zip(actions.actions, nodes, strict=False):
            if action.from_input:
                plumbing.connect(site.into, node)
            if action.domain is Domain.NETWORK:  # what stands in its words is sent along
                for n in _made_from(site.command):
                    plumbing.connect(site.outs[n], node)

    def _action(self, site: Site, action: Action) -> int:
        """The place that stands for an action: its intent, or a pipe where it concerns no file."""
        word, operation = action.target, action.operation
        if word.is_stream:
            return self._stream(site, word, operation in _READS)
        target = target_of(action.domain, word, site.command.folder)
        if action.domain is Domain.FILE:
            if is_no_file(target.text):
                return self._device(site, target.text, operation in _READS)
            host = socket_of(target.text)
            if host is not None:
                return self.add(site, Domain.NETWORK, Operation.CONNECT, host, (word,))
        fed = site.fed if action.from_input and operation in (Operation.WRITE, Operation.APPEND) else NOTHING
        content = fed.text if operation is Operation.WRITE and action.content is None else action.content
        return self.add(
            site,
            action.domain,
            operation,
            target.text,
            action.words or (word,),
            is_known=target.is_known,
            is_pattern=target.is_pattern,
            is_deep=action.is_deep,
            is_authored=action.is_authored or fed.is_authored,
            content=content,
        )

    def _stream(self, site: Site, word: Word, is_read: bool) -> int:
        """A pipe to or from the commands in `<(…)` or `>(…)`."""
        node = self.plumbing.pipe()
        for n in word.commands:
            if is_read:
                self.plumbing.connect(site.outs[n], node)
            else:
                self.plumbing.connect(node, site.ins[n])
        return node

    def _device(self, site: Site, path: str, is_read: bool) -> int:
        if is_read and path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            return site.into
        if not is_read and path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            return site.out
        return self.plumbing.pipe()

    # Redirects ----------------------------------------------------------------------------------------------------------

    def _redirect(self, site: Site, redirect: Redirect, output: Output, is_bound: bool) -> None:
        word, operator = redirect.target, redirect.operator
        is_input = redirect.descriptor in ("", "0")
        if operator == "<>":
            node = self._file(site, redirect, Operation.READ)
            self.plumbing.connect(node, site.into if is_input else self.plumbing.pipe())
            self._file(site, redirect, Operation.EDIT, is_again=True)
        elif not redirect.writes:
            node = self._stream(site, word, True) if word.is_stream else self._file(site, redirect, Operation.READ)
            if is_input:
                self.plumbing.connect(node, site.into)
        else:
            operation = Operation.APPEND if operator.endswith(">>") else Operation.WRITE
            is_stream = word.is_stream
            node = self._stream(site, word, False) if is_stream else self._file(site, redirect, operation, output)
            if is_bound:
                self.plumbing.connect(site.out, node)

    def _file(
        self, site: Site, redirect: Redirect, operation: Operation, output: Output = NOTHING, is_again: bool = False
    ) -> int:
        target = path_of(redirect.target, site.command.folder)
        words = (Word(f"{redirect.descriptor}{redirect.operator}"), redirect.target)
        if is_no_file(target.text):
            return self.plumbing.pipe()
        host = socket_of(target.text)
        if host is not None:
            if is_again:
                return self.plumbing.pipe()
            return self.add(site, Domain.NETWORK, Operation.CONNECT, host, words, is_known=target.is_known)
        return self.add(
            site,
            Domain.FILE,
            operation,
            target.text,
            words,
            is_known=target.is_known,
            is_pattern=target.is_pattern,
            is_authored=output.is_authored,
            content=output.text if operation is Operation.WRITE else None,
        )

    # What runs something else -------------------------------------------------------------------------------------------

    def _wrapper(self, site: Site) -> None:
        if site.command.spelled:
            words = site.command.spelled
            self._around(site, canonical(Command(words=words).program), words[1:])

    def _around(self, site: Site, name: str, arguments: tuple[Word, ...]) -> None:
        """What a wrapper does besides running something."""
        first = (site.command.words or site.command.spelled)[:1]
        if wrappers.elevates(name):
            self.add(site, Domain.PRIVILEGE, Operation.ELEVATE, name, first)
        for operation, word in wrappers.touched(name, arguments):
            target = path_of(word, site.command.folder)
            if not is_no_file(target.text):
                self.add(site, Domain.FILE, operation, target.text, (word,), is_known=target.is_known)

    def _untold(self, site: Site) -> Output:
        command = site.command
        words = command.spelled
        said = " ".join(spelled(words))[:200]
        if command.reason == "pipe" and self._piped(site, canonical(Command(words=words).program), words):
            return NOTHING
        self.opaque[command.reason] = None
        node = self.missing(site, f"{command.reason}: {said}".rstrip(": "), words)
        self.plumbing.connect(site.into, node)
        for word in words:
            for n in word.commands if word.is_stream else ():
                self.plumbing.connect(site.outs[n], node)
        return NOTHING

    def _piped(self, site: Site, interpreter: str, words: tuple[Word, ...]) -> bool:
        """Read the files that reach an interpreter's input as they are; whether that is all that reaches it."""
        found = [self.found[n] for n in sorted(self.plumbing.before(site.into))]
        is_file = all(intent.domain is Domain.FILE and intent.is_known for intent in found)
        if not found or not is_file or not all(_is_plain(site.commands, n) for n in site.command.inputs):
            return False
        for intent in found:
            word = Word(intent.target)
            self.add(site, Domain.FILE, Operation.EXECUTE, intent.target, words[:1])
            self._script_file(site, word, interpreter, ())
        return True

    def _run(self, site: Site, name: str, command: Command, actions: Actions) -> None:
        """Code, scripts and recipes that a program runs."""
        for code in actions.codes:
            self._code(site, code)
        for word in actions.scripts:
            after = command.words.index(word) + 1 if word in command.words else len(command.words)
            if name not in ("source", ".") or not self._is_read(word, command.folder):
                self._script_file(site, word, name, command.words[after:])
        is_bare = not actions.codes and not actions.scripts and all(word.text[:1] == "-" for word in command.arguments)
        is_fed = name in _INTERPRETERS and is_bare and bool(self.plumbing.before(site.into))
        if is_fed and not actions.actions and not self._piped(site, name, command.words):
            self.opaque["pipe"] = None
            self.plumbing.connect(site.into, self.missing(site, f"pipe: {name}", command.words))

    def _is_read(self, word: Word, folder: str | None) -> bool:
        """Whether the text that `source` runs stands among the commands already."""
        path = path_of(word, folder)
        is_there = self.environment.read_text is not None and self.files.before(path.text) is not None
        return path.is_known and is_there and not self.files.is_changed(path.text)

    def _recipe(self, site: Site, name: str, command: Command) -> bool:
        """Read what a build tool runs for a target; whether that is told."""
        if name not in BUILD_TOOLS or command.folder is None:
            return False
        recipe = recipe_of(name, [word.plain for word in command.arguments], command.folder, self.files.text)
        if recipe is None:
            return False
        key = f"{recipe.file}: {recipe.target}"
        if not self.files.may_open(key):
            self.missing(site, f"depth: {key}", site.command.words)
            return True
        self.files.open.append(key)
        for text in recipe.texts:
            self._inner(site, text, replace(self.environment, folder=recipe.folder), ())
        self.files.open.pop()
        return True

    def _script_file(self, site: Site, word: Word, interpreter: str, arguments: tuple[Word, ...]) -> None:
        """Read a script where it is run."""
        if word.is_stream:
            self.missing(site, f"script: {interpreter}", (word,))
            return
        target = path_of(word, site.command.folder)
        files = self.files
        text = files.text(target.text) if target.is_known else None
        language = language_of(text, target.text, interpreter) if text is not None else None
        if text is None or language is None or "\0" in text:
            self.missing(site, f"script: {target.text}", (word,))
        elif not files.may_open(target.text):
            self.opaque["depth"] = None
            self.missing(site, f"depth: {target.text}", (word,))
        else:
            files.open.append(target.text)
            self._language(site, language, text, (word, *arguments))
            files.open.pop()

    def _code(self, site: Site, code: Code) -> None:
        if not code.text.is_known and code.language == "sh":
            self.missing(site, f"eval: {code.text.plain[:200]}", (code.text,))
            return
        text = code.text.text.replace(HOLE, _STANDS_FOR_HOLE) if not code.text.is_known else code.text.plain
        self._language(site, code.language, text, ())

    def _language(self, site: Site, language: str, text: str, parameters: tuple[Word, ...]) -> None:
        """Read code where it is run."""
        self._codes += 1
        self._code_size += len(text) if language != "sh" else 0
        if self._codes > _MOST_CODES or self._code_size > _MOST_CODE:
            self.opaque["size"] = None
            self.missing(site, f"size: {language}", ())
        elif language == "sh":
            self._inner(site, text, replace(self.environment, folder=site.command.folder), parameters)
        else:
            self._snippets.append(Snippet(language, text))
            read = read_code(language, text, home=self.environment.variables.get("HOME"))
            for action in read.actions[:_MOST_INTENTS]:
                self._action(site, _with_holes(action))
            for code in read.codes:
                self._code(site, code)
            if read.is_unknown:
                self.missing(site, f"code: {language}", ())

    def _inner(self, site: Site, text: str, environment: Environment, parameters: tuple[Word, ...]) -> None:
        chance, is_last = self.state(site)
        frame = Frame(site.into, site.out, site.number, chance, is_last)
        if len(self.found) < _MOST_INTENTS:
            self._script(read_script(text, environment, parameters), frame)


def _is_plain(commands: tuple[Command, ...], number: int) -> bool:
    """Whether a command passes files on as they are."""
    command = commands[number]
    if command.role is Role.PROGRAM and canonical(_name(command)) != "cat":
        return False
    return command.role is not Role.UNTOLD and all(_is_plain(commands, n) for n in command.inputs)


def _is_output(redirect: Redirect) -> bool:
    return redirect.descriptor in ("", "1") or redirect.operator.startswith("&")


def _name(command: Command) -> str:
    return (command if command.trusted else replace(command, trusted=True)).program


def _as_listed(command: Command) -> Command:
    """A command as the tables of programs want it: by its usual name, and with its input only if that is known."""
    name = _name(command)
    usual = canonical(name)
    fed = command.input.plain if command.input is not None and command.input.is_known else ""
    words = command.words if usual == name else (Word(usual), *command.words[1:])
    if command.trusted and fed == command.fed and words is command.words:
        return command
    return replace(command, trusted=True, fed=fed, words=words)


def _made_from(command: Command) -> list[int]:
    """The commands whose output stands in the words of a command, as text."""
    return [n for word in command.words if word.commands and not word.is_stream for n in word.commands]


def _with_holes(action: Action) -> Action:
    if _STANDS_FOR_HOLE not in action.target.text:
        return action
    return replace(action, target=Word(action.target.text.replace(_STANDS_FOR_HOLE, HOLE)))
