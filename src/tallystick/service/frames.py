"""Messages between the recorder's processes: four bytes of length, then the message.

Owns the bytes. Both ends are ours and of one version. What goes to a decider is pickled, since a call may hold any text;
what comes back is of a few types only.
"""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Iterator
from typing import Protocol

import msgspec

from tallystick.guard.differing import Compared
from tallystick.guard.policy_change import Change
from tallystick.model.decision import Call, Decision

_LENGTH = struct.Struct(">I")


class Question(msgspec.Struct, frozen=True):
    """What a decider is asked."""

    number: int
    call: Call
    is_after: bool
    """What is asked about is not the call but the files that it has written."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a decider says."""

    number: int = 0
    decision: Decision | None = None
    change: Change | None = None
    """Other policies are in force."""
    compared: Compared | None = None
    """A recent decision was made again from the record."""
    is_ready: bool = False
    """It has loaded the policies."""
    is_warm: bool = False
    """It has read what the newest sessions did."""


class Readable(Protocol):
    """What bytes come from, as a file."""

    def read(self, size: int, /) -> bytes:
        """As many bytes; fewer at its end."""
        ...


def written_question(question: Question) -> bytes:
    """The bytes of a question."""
    body = pickle.dumps(question, protocol=5)
    return _LENGTH.pack(len(body)) + body


def written_answer(answer: Answer) -> bytes:
    """The bytes of an answer: MessagePack, or JSON where it quotes half a surrogate pair, which MessagePack cannot hold."""
    try:
        body = msgspec.msgpack.encode(answer, enc_hook=_plain)
    except UnicodeEncodeError:
        body = json.dumps(msgspec.to_builtins(answer, enc_hook=_plain)).encode("ascii")
    return _LENGTH.pack(len(body)) + body


def _plain(value: object) -> str:
    """A text that takes the place of a value (model/raw.py)."""
    if isinstance(value, str):
        return str(value)
    raise NotImplementedError


def questions(file: Readable) -> Iterator[Question]:
    """The questions that come, until no one can ask any more."""
    while len(head := file.read(_LENGTH.size)) == _LENGTH.size:
        (length,) = _LENGTH.unpack(head)
        body = file.read(length)
        if len(body) < length:
            return
        yield pickle.loads(body)


class Answers:
    """The answers in bytes that come in pieces."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def taken(self, data: bytes) -> Iterator[Answer]:
        """The answers that are whole now. Raises ValueError: they are no answers."""
        self._rest += data
        while len(self._rest) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._rest)
            if len(self._rest) < _LENGTH.size + length:
                return
            body = bytes(self._rest[_LENGTH.size : _LENGTH.size + length])
            del self._rest[: _LENGTH.size + length]
            yield _answer(body)


def _answer(body: bytes) -> Answer:
    if body.startswith(b"{"):  # no MessagePack map begins so
        return msgspec.convert(json.loads(body), Answer)
    return msgspec.msgpack.decode(body, type=Answer)
