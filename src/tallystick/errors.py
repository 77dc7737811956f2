"""The error tree: every failure Tallystick raises on purpose.

Owns the classes only. A failed check is an answer (a Verdict), not one of these; only `cli` makes exit codes of them.
"""

from __future__ import annotations


class TallystickError(Exception):
    """Something could not be done. The message says what, to what and where; `hint` what to try next."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class FormatError(TallystickError):
    """Bytes are not what they claim to be: a journal line, a note, a transcript.

    `rule` is the rule of docs/format.md section 14 that was broken, where there is one.
    """

    def __init__(self, message: str, *, rule: str = "line", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.rule = rule


class JournalError(TallystickError):
    """A journal of ours cannot be opened, locked or appended to."""


class SigningError(JournalError):
    """What was recorded is durable, and no signed head covers it yet: the signer does not answer, or refuses."""


class NotFoundError(TallystickError):
    """A session, step or file that was asked for is not there."""


class AmbiguousError(TallystickError):
    """A short id matches several things; the message lists them."""


class SourceError(TallystickError):
    """A file of an agent cannot be read or understood."""


class UsageError(TallystickError):
    """The words of a command do not fit together."""


class PolicyError(TallystickError):
    """A set of policies cannot be loaded whole, or used, so nothing is decided with it."""


class CheckpointError(TallystickError):
    """A checkpoint cannot be made: they are off, or the session has as many as it may have."""
