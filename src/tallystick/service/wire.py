r"""What hook.py and the recorder say to each other (docs/decisions/0010-hook-protocol.md).

Owns the bytes of a delivery and of its answer; a spooled delivery has the same bytes. Must not know sockets.

    TALLY1 LENGTH AGENT EVENT VERSION TIME_NS ID MONITOR\n   then LENGTH bytes: what stood on the hook's stdin
    EXIT_CODE STDOUT_LENGTH STDERR_LENGTH\n               then the bytes of both

`-` stands for no event and no monitor.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from tallystick.agents.hooks import Reply
from tallystick.errors import FormatError
from tallystick.live.delivery import Delivery

MOST_HEADER = 4096
MOST_DATA = 64 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TooLargeError(FormatError):
    """A payload that no one takes. Its hook knows, and leaves the line that announces it in the spool."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a delivery."""

    length: int
    agent: str
    event: str | None
    version: str
    time_ns: int
    id: str
    monitor: str | None

    def delivery(self, data: bytes, *, spooled: bool = False) -> Delivery:
        """The delivery with this header."""
        return Delivery(
            agent=self.agent,
            data=data,
            event=self.event,
            id=self.id,
            received=moment(self.time_ns),
            monitor=self.monitor,
            spooled=spooled,
        )


def moment(time_ns: int) -> str:
    """Nanoseconds since 1970 as RFC 3339 in UTC; beyond year 9999 the clock is broken, and 1970 says so."""
    try:
        found = _EPOCH + timedelta(microseconds=time_ns // 1000)
    except OverflowError:
        found = _EPOCH
    return found.isoformat(timespec="microseconds")[:-6] + "Z"


def read_header(line: bytes) -> Header:
    """The header in a line.

    Raises:
        FormatError: it is none. TooLargeError: it announces more than 64 MiB.
    """
    words = [word.decode("utf-8", "replace") for word in line.split()]  # of text, other blanks would end a word, too
    if len(words) != 8 or words[0] != "TALLY1" or not (words[1].isdigit() and words[5].isdigit()):
        raise FormatError("not a hook delivery", hint="hook.py and the recorder are of different versions")
    if len(words[1]) < 12:
        length = int(words[1])
    else:
        length = MOST_DATA + 1
    if length > MOST_DATA:
        raise TooLargeError(
            f"a payload of {words[1]} bytes is over the limit of {MOST_DATA}", hint="nothing of it is kept"
        )
    return Header(
        length=length,
        agent=words[2],
        event=None if words[3] == "-" else words[3],
        version=words[4],
        time_ns=int(words[5][:19]),
        id=words[6][:80],
        monitor=None if words[7] == "-" else words[7],
    )


def written(reply: Reply) -> bytes:
    """The bytes of an answer."""
    return b"%d %d %d\n" % (reply.exit_code, len(reply.stdout), len(reply.stderr)) + reply.stdout + reply.stderr
