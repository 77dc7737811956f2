"""What is found in a text that is code, while it is read.

Owns Read and Found: how an action on a path, a URL or a program is noted, and the bounds. Must not know any language.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from tallystick.intent.shell.actions import Action, Code
from tallystick.model.intent import Domain, Operation
from tallystick.model.script import HOLE, Word

MOST = 200
"""Actions of one text, and codes."""
LONGEST_PATH = 4096
HOME = "\ue010"
"""Stands in a text for the home folder."""


class Read(msgspec.Struct, frozen=True):
    """What a text does when it runs, as far as it tells."""

    actions: tuple[Action, ...] = ()
    codes: tuple[Code, ...] = ()
    """Code of other languages that it runs: `os.system("…")` is a Code of `sh`."""
    is_unknown: bool = False
    """It does, or may do, more than the actions and codes say."""


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

    def file(
        self,
        operation: Operation,
        path: str | None,
        *,
        is_deep: bool = False,
        is_authored: bool = False,
        content: str | None = None,
    ) -> int:
        """Note what is done to a file. A path that is not known at all makes the whole action unknown, but for a removal."""
        if path is None or not path.strip(HOLE):
            told = operation if operation is Operation.DELETE else Operation.UNKNOWN
            return self.add(Action(domain=Domain.FILE, operation=told, target=Word(HOLE), is_deep=is_deep))
        if len(path) > LONGEST_PATH:
            path = path[:LONGEST_PATH] + HOLE
        return self.add(
            Action(
                domain=Domain.FILE,
                operation=operation,
                target=Word(self.at_home(path)),
                is_deep=is_deep,
                is_authored=is_authored,
                content=content,
            )
        )

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
        self.runs("sh", " ".join(shlex.quote(HOLE if word is None else word) for word in words))

    def read(self) -> Read:
        """What was found."""
        return Read(tuple(self.actions), tuple(self.codes), self.is_unknown)
