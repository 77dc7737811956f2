"""What a person allows: an act that a rule asks about, by what does it, to what, and for how long.

Owns Scope and Grant, and the digest by which a scope is found. Must not know how a scope is read from a call, nor where
grants are kept.
"""

from __future__ import annotations

import enum
from hashlib import sha256

import msgspec

_MOST_TEXT = 2_000


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """One act that a rule asks about. A grant covers what has the same scope, and nothing else."""

    rule: str
    action: str
    target: str
    """The path, host, program or tool."""
    words: tuple[str, ...] = ()
    """What does it: a program and its options, or the whole call."""
    runs: tuple[str, ...] = ()
    """Digests of the files that it runs."""
    folder: str = ""
    """Where it is done, if the words depend on that."""

    @property
    def key(self) -> str:
        """Its digest."""
        return sha256(msgspec.json.encode(self)).hexdigest()

    @property
    def is_short(self) -> bool:
        """Whether all of it can be kept: of what is cut, no one can say that it is the same."""
        return sum(map(len, (self.target, *self.words, *self.runs))) <= _MOST_TEXT


class GrantKind(enum.StrEnum):
    """How far a grant reaches."""

    SESSION = "session"
    """One session, with its sub-agents and continuations."""
    PROJECT = "project"
    """Every session that works in a repository or folder."""
    RELEASE = "release"
    """One call, once."""
    REVOKED = "revoked"
    """It takes another one back."""


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What a person allowed in a terminal. It is sealed as a step, and its id is the name of that step, SESSION:n."""

    id: str = ""
    kind: GrantKind
    about: str
    """The decision that it is about, SESSION:n; of REVOKED the id of the grant."""
    scopes: tuple[Scope, ...] = ()
    agent: str = ""
    session: str = ""
    """Of SESSION and RELEASE: the agent's own id of the session."""
    project: str = ""
    """Of PROJECT: the top folder."""
    call: str = ""
    """Of RELEASE: the digest of the call."""
    until_us: int = 0
    """Microseconds since 1970."""
