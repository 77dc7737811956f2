"""What is read of a text that runs, command by command: values, and how they are put together.

Owns Action, Code and Actions (what one simple command does by itself: the value that a program's rule gives), Read and
Found (the same of code in any language, with its bounds), and Done, Snippet and Reading (what was read of a whole
text). Must not know any program or language, nor pipes and redirects: `shell.effects` puts those around it.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from tallystick.model.intent import Domain, Effects, Operation
from tallystick.model.script import HOLE, Command, Script, Word

MOST = 200
"""Actions of one text, and codes."""
LONGEST_PATH = 4096
HOME = "\ue010"
"""Stands in a text for the home folder."""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a command does. `target` is a word of the command, or made of several (`cp x dir` → `dir/x`)."""

    domain: Domain
    operation: Operation
    target: Word
    words: tuple[Word, ...] = ()
    """The words of the command that it comes from; by default the target."""
    is_deep: bool = False
    is_authored: bool = False
    content: str | None = None
    from_input: bool = False
    """What it writes is what the command reads from its standard input (`tee`), besides the flows given."""


class Code(msgspec.Struct, frozen=True):
    """Text that a command runs: `python -c`, `perl -e`, an awk program, SQL."""

    language: str
    """`sh`, `python`, `javascript`, `perl`, `ruby`, `awk`, `sed`, `sql`…"""
    text: Word


class Actions(msgspec.Struct, frozen=True, kw_only=True):
    """What a simple command does, as far as its words tell."""

    actions: tuple[Action, ...] = ()
    flows: tuple[tuple[int, int], ...] = ()
    """Which action's data goes into which other action's target: positions in `actions`."""
    reads_input: bool = False
    """What reaches its standard input goes to its standard output (`sort`, `sed`, `tee`), and into actions `from_input`."""
    prints: tuple[int, ...] = ()
    """Actions whose data goes to its standard output: the files that `cat` reads."""
    codes: tuple[Code, ...] = ()
    scripts: tuple[Word, ...] = ()
    """Files whose text is run: `bash deploy.sh`, `python x.py`, `./run`. Each is an EXECUTE action as well."""
    is_unknown: bool = False
    """The program is in no table, or its words do not tell what it does."""


class Snippet(msgspec.Struct, frozen=True):
    """Text in a language other than the shell's that is run."""

    language: str
    """Named as in `actions.Code`."""
    text: str
    file: str = ""
    """The file that it is in: absolute, or empty."""
    folder: str | None = None
    """Where it runs."""
    is_told: bool = False
    """What it does to files was read whole: the intents are all of it."""


class Done(msgspec.Struct, frozen=True):
    """One command of a script, and what its program does with its words."""

    command: Command
    actions: Actions


class Reading(msgspec.Struct, frozen=True):
    """All that was read of a text: what it means to do, and what that was found in."""

    effects: Effects
    scripts: tuple[Script, ...] = ()
    """The text itself, then the shell texts that it runs, each in its place: `sh -c`, scripts, recipes."""
    snippets: tuple[Snippet, ...] = ()
    """Code in other languages that it runs."""
    done: tuple[Done, ...] = ()
    """The commands of all scripts one by one, those that only stand around others left out."""


class Read(msgspec.Struct, frozen=True):
    """What a text does when it runs, as far as it tells."""

    actions: tuple[Action, ...] = ()
    codes: tuple[Code, ...] = ()
    """Code of other languages that it runs: `os.system("…")` is a Code of `sh`."""
    is_unknown: bool = False
    """It does, or may do, more than the actions and codes say."""


def or_hole(text: str | None) -> str:
    """A text as a part of another one: a hole where it is not known."""
    if text is None:
        return HOLE
    return text


class TooMuchError(Exception):
    """The text has more to it than is read."""


class Found:
    """Actions and codes in the order in which they are met."""

    def __init__(self, home: str | None = None) -> None:
        self.home = home
        self.actions: list[Action] = []
        self.codes: list[Code] = []
        self.is_unknown = False

    def add(self, action: Action) -> int:
        """Note an action; its position.

        Raises:
            TooMuchError: there are too many.
        """
        if len(self.actions) >= MOST:
            raise TooMuchError
        self.actions.append(action)
        return len(self.actions) - 1

    def file(self, operation: Operation, path: str | None, *, is_deep: bool = False) -> int:
        """Note what is done to a file. A path that is not known at all makes the whole action unknown, but for a removal."""
        if path is None or not path.strip(HOLE):
            told = Operation.UNKNOWN
            if operation is Operation.DELETE:
                told = operation
            return self.add(Action(domain=Domain.FILE, operation=told, target=Word(HOLE), is_deep=is_deep))
        return self.add(Action(domain=Domain.FILE, operation=operation, target=self._place(path), is_deep=is_deep))

    def writes(self, path: str | None, content: str | None) -> int:
        """Note a file that is written whole; `content` is all that it holds then, where the text tells."""
        if content is None or path is None or not path.strip(HOLE):
            return self.file(Operation.WRITE, path)
        return self.add(
            Action(
                domain=Domain.FILE,
                operation=Operation.WRITE,
                target=self._place(path),
                is_authored=True,
                content=content,
            )
        )

    def _place(self, path: str) -> Word:
        if len(path) > LONGEST_PATH:
            path = path[:LONGEST_PATH] + HOLE
        return Word(self.at_home(path))

    def at_home(self, text: str) -> str:
        """A text with the home folder in the place of HOME: `~`, where it is not known."""
        if HOME in text:
            return text.replace(HOME, self.home or "~")
        return text

    def moves(self, old: str | None, new: str | None, *, is_deep: bool = False) -> None:
        """Note a file that gets another name."""
        self.file(Operation.RENAME, old, is_deep=is_deep)
        self.file(Operation.COPY_DEST, new, is_deep=is_deep)

    def copies(self, old: str | None, new: str | None, *, is_deep: bool = False) -> None:
        """Note a file that is copied."""
        self.file(Operation.COPY_SOURCE, old, is_deep=is_deep)
        self.file(Operation.COPY_DEST, new, is_deep=is_deep)

    def links(self, old: str | None, new: str | None) -> None:
        """Note a symbolic link: who reads it reads the file, which it names from its own folder."""
        if old is not None and new is not None and not old.startswith(("/", HOME)) and "/" in new:
            old = f"{new.rpartition('/')[0]}/{old}"
        self.file(Operation.COPY_SOURCE, old)
        self.file(Operation.CREATE, new)

    def network(self, operation: Operation, address: str | None) -> None:
        """Note a transfer. An address that is not known at all is told as a hole."""
        text = HOLE
        if address is not None and address.strip(HOLE):
            text = address
        self.add(Action(domain=Domain.NETWORK, operation=operation, target=Word(text[:LONGEST_PATH])))

    def process(self, operation: Operation, name: str | None) -> None:
        """Note what is done to a process."""
        self.add(Action(domain=Domain.PROCESS, operation=operation, target=Word((name or HOLE)[:LONGEST_PATH])))

    def runs(self, language: str, text: str | None) -> None:
        """Note code that is run in turn; nothing known of it: it is unknown what runs."""
        if text is None or not text.strip(HOLE):
            self.is_unknown = True
        elif len(self.codes) >= MOST:
            raise TooMuchError
        else:
            self.codes.append(Code(language, Word(self.at_home(text))))

    def runs_program(self, words: Sequence[str | None]) -> None:
        """Note a program with its arguments, started without a shell."""
        if not words or not (words[0] or "").strip(HOLE):
            self.is_unknown = True
            return
        self.runs("sh", " ".join(shlex.quote(or_hole(word)) for word in words))

    def read(self) -> Read:
        """What was found."""
        return Read(tuple(self.actions), tuple(self.codes), self.is_unknown)
