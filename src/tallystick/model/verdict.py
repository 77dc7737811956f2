"""What verification concluded, axis by axis (docs/format.md 14).

Owns the values and the exit codes they mean. Must not know how a verdict is reached.
"""

from __future__ import annotations

import enum
from typing import Any

import msgspec


class Rule(enum.StrEnum):
    """The rule a defect broke. Of two at one entry the earlier in this list is reported."""

    LIMIT = "limit"
    LINE = "line"
    CANONICAL = "canonical"
    VERSION = "version"
    MEMBER = "member"
    SID = "sid"
    N = "n"
    PREV = "prev"
    CLASS = "class"
    BLOB = "blob"
    FIELDS = "fields"
    PARENT = "parent"
    SEED = "seed"
    ORDER = "order"
    WITHHELD = "withheld"
    HEAD = "head"
    CUT = "cut"
    MISSING = "missing"
    SIGNATURE = "signature"


class Defect(msgspec.Struct, frozen=True):
    """The first thing wrong in one journal, in the ledger or in its head."""

    session: str | None
    n: int | None
    rule: Rule
    why: str
    is_sealed: bool = False
    """Whether a head covers entry `n`: it was in order once."""

    def under(self, size: int) -> Defect:
        """The same, in a journal of which a head covers the first `size` entries."""
        return msgspec.structs.replace(self, is_sealed=self.n is not None and self.n < size)

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands among defects of one journal: of no one entry, by entry, then in the order of the rules."""
        return (-1 if self.n is None else self.n), list(Rule).index(self.rule)

    @property
    def is_malformed(self) -> bool:
        """Over a limit, an unknown version, or nothing of ours at all: exit code 4 instead of 2 (docs/format.md 19.2)."""
        if self.rule is Rule.VERSION and self.n == 0:
            return True
        if self.n is None or self.is_sealed:
            return False
        if self.rule in (Rule.LIMIT, Rule.VERSION):
            return True
        return self.n == 0 and self.rule in (Rule.LINE, Rule.MEMBER)


class Completeness(enum.StrEnum):
    """Worst last."""

    SEALED = "sealed"
    DROPPED = "dropped"
    TRUNCATED = "truncated"
    CUT = "cut"
    MISSING = "missing"


WORST_LAST = tuple(Completeness)


class Authenticity(enum.StrEnum):
    """Whose signature covers the record."""

    SIGNED = "signed"
    PARTLY_SIGNED = "partly signed"
    UNSIGNED = "unsigned"
    WRONG_KEY = "wrong key"


class Level(enum.StrEnum):
    """Assurance levels, each with what those before it have (DESIGN 3)."""

    A1 = "A1"
    A2 = "A2"
    A3 = "A3"
    """A signer of another user remembers the ledger, and the ledger is what it remembers."""
    A3F = "A3f"
    """Its key is of an epoch, and the keys before it, which signed what is older, are erased."""
    A4 = "A4"
    """Someone off this machine remembers it too."""


class Require(enum.StrEnum):
    """What the caller wants at least."""

    A1 = "A1"
    A2 = "A2"
    A3 = "A3"
    A3F = "A3f"
    A4 = "A4"
    SEALED = "sealed"


class Disclosure(msgspec.Struct, frozen=True):
    """How much of the record is not shown. Counts of field values."""

    withheld: int = 0
    erased: int = 0
    absent_blobs: int = 0

    def __add__(self, other: Disclosure) -> Disclosure:
        return Disclosure(
            withheld=self.withheld + other.withheld,
            erased=self.erased + other.erased,
            absent_blobs=self.absent_blobs + other.absent_blobs,
        )


class SessionVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One session's part of a verdict. `steps` counts the entries found sound, from the first on."""

    session: str | None
    """None for a lone file that does not even say of which session it is."""
    steps: int
    completeness: Completeness
    unsealed: int
    authenticity: Authenticity
    defect: Defect | None = None
    disclosure: Disclosure = Disclosure()

    @property
    def integrity(self) -> str:
        """`intact`, or the rule that is broken."""
        if self.defect is None:
            return "intact"
        return self.defect.rule.value


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome on five axes, for a store, one session or a lone file."""

    completeness: Completeness
    authenticity: Authenticity
    level: Level
    why_not_higher: str
    defects: tuple[Defect, ...] = ()
    sessions: tuple[SessionVerdict, ...] = ()
    remarks: tuple[str, ...] = ()
    require: Require = Require.A1
    too_old: str | None = None
    """Why the newest head that counts is older than the caller lets it be, or the epochs that are required do not count."""

    @property
    def first_bad(self) -> Defect | None:
        """The first defect: of the ledger or its head, else of the first session that has one."""
        if self.defects:
            return self.defects[0]
        return None

    @property
    def integrity(self) -> str:
        """`intact`, or the rule of the first defect."""
        if not self.defects:
            return "intact"
        return self.defects[0].rule.value

    @property
    def steps(self) -> int:
        """How many entries of sessions were found sound."""
        return sum(session.steps for session in self.sessions)

    @property
    def unsealed(self) -> int:
        """How many of them no head covers."""
        return sum(session.unsealed for session in self.sessions)

    @property
    def disclosure(self) -> Disclosure:
        """What is not shown, over all sessions."""
        return sum((session.disclosure for session in self.sessions), Disclosure())

    @property
    def truncated(self) -> bool:
        """Sound, but not closed, or not wholly under a head."""
        return self.completeness is Completeness.TRUNCATED

    @property
    def valid(self) -> bool:
        """Nothing is wrong with what is there, and nothing that a head promises is gone."""
        lost = self.completeness in (Completeness.CUT, Completeness.MISSING)
        return not self.defects and not lost and self.authenticity is not Authenticity.WRONG_KEY

    @property
    def exit_code(self) -> int:
        """DESIGN 3: 2 tampering, 4 malformed or over limits, 3 below what was required, 0 sound."""
        if self.defects:
            if any(not defect.is_malformed for defect in self.defects):
                return 2
            return 4
        if not self.valid:
            return 2
        if self.require is not Require.SEALED and self.level < self.require:  # A1 to A4, in the order of the alphabet
            return 3
        if self.too_old is not None:
            return 3
        whole = self.completeness in (Completeness.SEALED, Completeness.DROPPED)
        if self.require is Require.SEALED and not whole:
            return 3
        return 0


def report(verdict: Verdict) -> dict[str, Any]:
    """The verdict as plain data: the JSON of docs/format.md 20, which every implementation gives alike."""
    return {
        "exit": verdict.exit_code,
        "valid": verdict.valid,
        "truncated": verdict.truncated,
        "steps": verdict.steps,
        "integrity": verdict.integrity,
        "completeness": verdict.completeness.value,
        "unsealed": verdict.unsealed,
        "authenticity": verdict.authenticity.value,
        "level": verdict.level.value,
        "why_not_higher": verdict.why_not_higher,
        "disclosure": msgspec.structs.asdict(verdict.disclosure),
        "first_bad": _reported(verdict.first_bad) if verdict.first_bad is not None else None,
        "defects": [_reported(defect) for defect in verdict.defects],
        "sessions": [
            {
                "session": session.session,
                "steps": session.steps,
                "integrity": session.integrity,
                "completeness": session.completeness.value,
                "unsealed": session.unsealed,
                "authenticity": session.authenticity.value,
            }
            for session in verdict.sessions
        ],
        "remarks": [*((verdict.too_old,) if verdict.too_old is not None else ()), *verdict.remarks],
    }


def _reported(defect: Defect) -> dict[str, Any]:
    return {"session": defect.session, "n": defect.n, "rule": defect.rule.value, "why": defect.why}
