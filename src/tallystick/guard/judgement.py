"""A decision with what the machine said when it was made, so that it can be made again when files are others.

Owns noting those answers, and giving them again. What the record said is not noted: that is to be found again. Must not
know how a call is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar, cast

import msgspec

from tallystick.model.decision import Call, Decision
from tallystick.policy.settings import Settings
from tallystick.policy.world import Comparison, Content, FileState, Leaving, Past, Provenance, Tracking, Unread, World

LAG_US = 5_000_000
"""So much later the index has what was on record when a call was judged."""
MOST_CHARACTERS = 256 << 10
"""Of the contents that one judgement looked at. Where there are more, it is not kept."""

Asked = tuple[str, str]
"""A question to the machine: what was asked, and of which path."""

_T = TypeVar("_T")


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A call, the decision on it, and what that rests on besides the record."""

    call: Call
    decision: Decision
    settings: Settings
    machine: Mapping[Asked, Hashable | Sequence[str]]
    """What the machine answered."""
    read: Mapping[str, int]
    """How many entries of each journal of its family were read."""
    at_us: int
    """When it began."""


class _Questions:
    """The questions of `policy.world.World`, with those to the machine put through one function."""

    def __init__(self, world: World) -> None:
        self._world = world

    def _machine(self, what: str, path: str, ask: Callable[[str], _T]) -> _T:
        raise NotImplementedError

    def real(self, path: str) -> str:
        """The path without links, as far as it is there."""
        return self._machine("real", path, self._world.real)

    def state(self, path: str) -> FileState:
        """What is at a path."""
        return self._machine("state", path, self._world.state)

    def matches(self, pattern: str) -> Sequence[str]:
        """The paths that a pattern of the shell names."""
        return self._machine("matches", pattern, self._world.matches)

    def content(self, path: str) -> Content | Unread:
        """The bytes at a path."""
        return self._machine("content", path, self._world.content)

    def repository(self, path: str) -> str | None:
        """The top folder of the repository that a path lies in."""
        return self._machine("repository", path, self._world.repository)

    def tracking(self, path: str) -> Tracking:
        """What version control says of a path."""
        return self._machine("tracking", path, self._world.tracking)

    def keeps_commits(self, path: str) -> bool:
        """Whether another branch or a tag has all commits of the branch that the repository of a path is on."""
        return self._machine("keeps_commits", path, self._world.keeps_commits)

    def blob(self, name: str) -> Content | Unread:
        """What version control has under `REVISION:PATH`."""
        return self._machine("blob", name, self._world.blob)

    def has_secret(self, text: str) -> bool:
        """Whether a secret is in a text: the same of the same text at any time."""
        return self._world.has_secret(text)

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        return self._world.provenance(path)

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        return self._world.is_approved(digest)

    def past(self) -> Past:
        """What the session of the call has done so far."""
        past = self._world.past()
        if past.leaving is None:
            return past
        return msgspec.structs.replace(past, leaving=_NotedLeaving(self._machine, past.leaving))


class _NotedLeaving:
    """The questions of `policy.world.Leaving`, with those to the machine put through one function."""

    def __init__(
        self, machine: Callable[[str, str, Callable[[str], Comparison]], Comparison], leaving: Leaving
    ) -> None:
        self._machine = machine
        self._leaving = leaving

    def text(self, text: str) -> Comparison:
        """What a text holds: the same at any time."""
        return self._leaving.text(text)

    def file(self, path: str) -> Comparison:
        """What a file holds."""
        return self._machine("sent", path, self._leaving.file)

    def push(self, folder: str, words: Sequence[str], *, commits_first: bool) -> Comparison:
        """What a push takes along."""
        named = "\0".join((folder, *words))
        return self._machine("pushed", named, lambda _: self._leaving.push(folder, words, commits_first=commits_first))

    def is_own(self, folder: str, host: str) -> bool:
        """Whether a host is of the project."""
        found = self._machine(
            "own", f"{folder}\0{host}", lambda _: Comparison(is_known=self._leaving.is_own(folder, host))
        )
        return found.is_known


class NotedWorld(_Questions):
    """A world whose machine's answers are noted. What is asked twice has one answer."""

    def __init__(self, world: World, looked: Callable[[str], object] = lambda _: None) -> None:
        """`looked` is called with each file whose content is asked for."""
        super().__init__(world)
        self.answers: dict[Asked, Hashable | Sequence[str]] = {}
        self._looked = looked

    def content(self, path: str) -> Content | Unread:
        """The bytes at a path."""
        self._looked(path)
        return super().content(path)

    def _machine(self, what: str, path: str, ask: Callable[[str], _T]) -> _T:
        asked = (what, path)
        if asked in self.answers:
            return cast(_T, self.answers[asked])
        answer = self.answers[asked] = ask(path)
        return answer

    @property
    def size(self) -> int:
        """How large the contents are."""
        return sum(len(answer.text) for answer in self.answers.values() if isinstance(answer, Content))


class NotedMachine(_Questions):
    """A world whose machine answers as it did; what it was not asked then is as it is now."""

    def __init__(self, world: World, answers: Mapping[Asked, Hashable | Sequence[str]]) -> None:
        super().__init__(world)
        self._answers = answers

    def _machine(self, what: str, path: str, ask: Callable[[str], _T]) -> _T:
        if (what, path) in self._answers:
            return cast(_T, self._answers[what, path])
        return ask(path)
