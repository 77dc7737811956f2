"""Doing something with another user's rights: what root does in a folder that a user controls.

Owns one child process that has that user's rights and no others, and what comes back from it. Whatever links and swaps a user
prepares there, the kernel then lets them reach nothing that this user could not reach alone. Must not know what is done.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import pwd
from collections.abc import Callable
from typing import NoReturn

import msgspec

from tallystick.errors import JournalError, NotFoundError, TallystickError

_KINDS: dict[str, type[TallystickError]] = {kind.__name__: kind for kind in (JournalError, NotFoundError)}


class _Answer(msgspec.Struct, frozen=True):
    """What a child tells: the value, or the error that it ended with."""

    value: str | None = None
    kind: str | None = None
    message: str = ""
    hint: str | None = None


def as_user(uid: int, work: Callable[[], str]) -> str:
    """Do `work` in a child process with the rights of a user; what it says. Anyone who is that user already just does it.

    Raises:
        JournalError: the child cannot be started or ended badly; and what `work` raises, NotFoundError as such.
    """
    if os.geteuid() == uid:
        return work()
    for name in ("ascii", "utf-8", "utf-16-le"):
        codecs.lookup(name)  # the child may not be able to read where this program's modules are
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be(uid, work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    try:
        answer = msgspec.json.decode(said, type=_Answer)
    except msgspec.DecodeError as error:
        raise JournalError(
            f"a process of user {uid} ended before it was done", hint="run the same command again"
        ) from error
    if answer.kind is not None:
        raise _KINDS.get(answer.kind, JournalError)(answer.message, hint=answer.hint)
    return answer.value or ""


def _be(uid: int, work: Callable[[], str], writing: int) -> NoReturn:
    try:
        try:
            _become(uid)
            answer = _Answer(value=work())
        except TallystickError as error:
            answer = _Answer(kind=type(error).__name__, message=str(error), hint=error.hint)
        except Exception as error:
            answer = _Answer(kind="", message=f"as user {uid}: {type(error).__name__}: {error}")
        with contextlib.suppress(OSError), os.fdopen(writing, "wb") as pipe:
            pipe.write(msgspec.json.encode(answer))
    finally:
        os._exit(0)  # nothing that this process inherited is closed, flushed or called back twice


def _become(uid: int) -> None:
    """Give up all other rights, for good."""
    try:
        group = pwd.getpwuid(uid).pw_gid
    except KeyError:
        group = uid  # a user that has a number only
    os.setgroups([])
    os.setgid(group)
    os.setuid(uid)
    os.umask(0o077)
    os.chdir("/")
