"""What a vector is: files, and the report that every verifier must give on them.

Owns the shape of `vector.json`. The expectations are written by hand, never taken from a verifier.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.vectors.maker import STORE, Files

Expected = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Vector:
    """One folder below `accept/` or `reject/`; accepted is what has no defect, whatever `require` wants."""

    name: str
    title: str
    section: str
    files: Files
    expect: Expected
    case: int | None = None
    level: str | None = None
    """For tampering: the assurance level at which it is found."""
    pinned: str | None = None
    remembered: bytes | None = None
    require: str | None = None
    redaction: str | None = None

    @property
    def folder(self) -> str:
        return f"{'accept' if self.expect['first_bad'] is None else 'reject'}/{self.name}"

    @property
    def subject(self) -> str:
        return "store" if any(path.startswith("store/") for path in self.files) else "journal"

    def description(self) -> dict[str, Any]:
        """The content of `vector.json`."""
        return {
            "title": self.title,
            "case": self.case,
            "section": self.section,
            "subject": self.subject,
            "redaction": self.redaction,
            "pinned": self.pinned,
            "remembered": "remembered.note" if self.remembered is not None else None,
            "require": self.require,
            "level": self.level or (None if self.expect["first_bad"] is None else "A1"),
            "expect": dict(self.expect),
        }

    def write(self, root: Path) -> None:
        """Write the folder."""
        files = dict(self.files)
        if self.remembered is not None:
            files["remembered.note"] = self.remembered
        files["vector.json"] = (json.dumps(self.description(), indent=2, ensure_ascii=False) + "\n").encode()
        for name, data in files.items():
            path = root / self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def sound_file(steps: int, **other: Any) -> Expected:
    """The report on a lone journal in which nothing is wrong."""
    return {
        "exit": 0,
        "first_bad": None,
        "integrity": "intact",
        "completeness": "truncated",
        "authenticity": "unsigned",
        "level": "A1",
        "steps": steps,
        "unsealed": steps,
        "withheld": 0,
        "erased": 0,
    } | other


def sound_store(steps: int, **other: Any) -> Expected:
    """The report on a store in which nothing is wrong: all sessions closed, sealed and signed."""
    return (
        sound_file(steps) | {"completeness": "sealed", "authenticity": "signed", "level": "A2", "unsealed": 0} | other
    )


def bad_file(session: str | None, n: int, rule: str, **other: Any) -> Expected:
    """The report on a lone journal whose entry `n` breaks `rule`; entries before it are sound."""
    found = {"session": session, "n": n, "rule": rule}
    malformed = rule in ("limit", "version") or (n == 0 and rule in ("line", "member"))
    return sound_file(n) | {"exit": 4 if malformed else 2, "first_bad": found, "integrity": rule} | other


def bad_store(session: str, n: int | None, rule: str, *, steps: int, **other: Any) -> Expected:
    """The report on a signed store with one defect in a session; `steps` are sound in all."""
    found = {"session": session, "n": n, "rule": rule}
    completeness = {"cut": "cut", "missing": "missing"}.get(rule, "truncated")
    changes = {"exit": 2, "first_bad": found, "integrity": rule, "completeness": completeness}
    return sound_store(steps) | changes | other


def bad_head(n: int | None, rule: str, *, steps: int, **other: Any) -> Expected:
    """The report on a store whose ledger or head is wrong, so that no head covers the sessions."""
    found = {"session": STORE, "n": n, "rule": rule}
    changes = {
        "exit": 2,
        "first_bad": found,
        "integrity": rule,
        "completeness": "cut" if rule == "cut" else "truncated",
    }
    return sound_store(steps) | changes | {"authenticity": "unsigned", "level": "A1", "unsealed": steps} | other
