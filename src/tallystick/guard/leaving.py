"""What leaves, compared with the values that a family of sessions has read.

Owns opening what is sent (files, folders, commits) within bounds, and naming the steps that read what is found. Must not
know what is kept of a value (`scrubbing.fingerprints`), nor what follows.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from tallystick.capture.push_content import names_host, push_text
from tallystick.journal.read_values import ReadValues
from tallystick.model.pattern import pattern_of
from tallystick.policy.world import Comparison
from tallystick.scrubbing.budget import STEP_WORK, Budget, Counts, TooMuchWorkError
from tallystick.scrubbing.finding import scrub_bytes
from tallystick.scrubbing.fingerprints import digests_in, found_in, prints_of
from tallystick.state.family_state import FamilyState

_LARGEST = 512 << 10
"""Of a file that is sent; of a larger one the beginning is compared."""
_MOST_FILES = 100
_MOST_TEXT = 64 << 10
_LARGEST_SECRET = 64 << 10
_MOST_SECRETS = 8
_MIXED_WORD = pattern_of(rb"(?=[A-Za-z]*[0-9][A-Za-z]{1,400}[0-9])[A-Za-z0-9]{16,400}")
"""What a file of secrets holds besides what is known by form and name: digits among letters."""
_BINARY = b"\0"
_TAR = (257, b"ustar")
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")


def secrets_in(paths: Iterable[str], values: ReadValues) -> bytes:
    """What is kept of the secrets in files that are read and not shown."""
    found: dict[bytes, None] = {}
    for path in islice(paths, _MOST_SECRETS):
        data, _ = _bytes_of(path, _LARGEST_SECRET)
        found |= dict.fromkeys(_values_of(data))
    if found:
        return prints_of(found, values.new_key())
    return b""


def _values_of(data: bytes) -> Iterator[bytes]:
    counts = Counts(Budget(STEP_WORK))
    try:
        scrub_bytes(data, counts)
    except TooMuchWorkError:
        return
    yield from counts.repeats.shown()
    yield from _MIXED_WORD.findall(data)


class Leaving:
    """The values that a family has read, and what leaves held against them."""

    def __init__(self, state: FamilyState, values: ReadValues) -> None:
        self._state = state
        self._values = values
        self._known: Mapping[bytes, str] | None = None
        self._seen: dict[bytes, Comparison] = {}

    def text(self, text: str) -> Comparison:
        """What a text holds of them."""
        return self._looked(text.encode("utf-8", "replace")[:_MOST_TEXT], is_whole=len(text) <= _MOST_TEXT)

    def file(self, path: str) -> Comparison:
        """The same for a file, or for what is below a folder."""
        steps: dict[str, None] = {}
        is_known = True
        for number, one in enumerate(_files(path)):
            if number == _MOST_FILES:
                is_known = False
                break
            data, is_whole = _bytes_of(one, _LARGEST)
            looked = self._looked(data, is_whole=is_whole and _is_read(data))
            steps |= dict.fromkeys(looked.steps)
            is_known = is_known and looked.is_known
        return Comparison(steps=tuple(steps), is_known=is_known)

    def push(self, folder: str, words: Sequence[str], *, commits_first: bool) -> Comparison:
        """The same for the commits that a push takes along."""
        data, is_whole = push_text(folder, words, commits_first=commits_first)
        looked = self._looked(data, is_whole=is_whole)  # a key in code that programs print may be one of its tests
        return msgspec.structs.replace(looked, steps=tuple(step for step in looked.steps if step[0] != "?"))

    def is_own(self, folder: str, host: str) -> bool:
        """Whether a host is of the project."""
        return names_host(folder, host)

    def _looked(self, data: bytes, *, is_whole: bool) -> Comparison:
        found = self._seen.get(data)
        if found is None:
            steps, is_all = found_in(data, self._all(), self._values.key())
            found = self._seen[data] = Comparison(steps=tuple(sorted(steps)), is_known=is_all)
        return found if is_whole and not self._state.has_unseen else Comparison(steps=found.steps, is_known=False)

    def _all(self) -> Mapping[bytes, str]:
        """What is kept of all values, and the steps that read them. What waits for its result has said nothing yet."""
        if self._known is None:
            state = self._state
            known: dict[bytes, str] = {}
            waiting = {f"?{one.step}" for one in state.pending.values()}
            shown = sorted(state.shown.all().items(), key=lambda one: one[1][0] != "?")
            for step, origin in shown:  # of what was said and read, the reading counts: it comes later here
                if origin not in waiting:
                    known |= dict.fromkeys(digests_in(self._values.shown(step)), origin)
            for origin, prints in state.taken.all().items():
                known |= dict.fromkeys(digests_in(prints), origin)
            self._known = known
        return self._known


class NoComparison(msgspec.Struct, frozen=True):
    """What leaves where there is nothing to compare it with: all of it passes for known, or none of it does."""

    is_known: bool

    def text(self, text: str) -> Comparison:
        """Nothing is found."""
        return Comparison(is_known=self.is_known)

    def file(self, path: str) -> Comparison:
        """Nothing is found."""
        return Comparison(is_known=self.is_known)

    def push(self, folder: str, words: Sequence[str], *, commits_first: bool) -> Comparison:
        """Nothing is found."""
        return Comparison(is_known=self.is_known)

    def is_own(self, folder: str, host: str) -> bool:
        """Whether a host is of the project."""
        return names_host(folder, host)


def _is_read(data: bytes) -> bool:
    """Whether the bytes are text, or packed in a way that is undone."""
    at, magic = _TAR
    return _BINARY not in data or data.startswith(_PACKED) or data[at : at + len(magic)] == magic


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):  # noqa: PTH112
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (os.path.join(folder, name) for name in sorted(names))  # noqa: PTH118


def _bytes_of(path: str, most: int) -> tuple[bytes, bool]:
    """What a file holds, and whether that is all of it. Waits for no pipe, and reads no device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return b"", False
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return b"", False
        data = os.read(descriptor, most)  # a regular file gives all that is asked for
        return data, found.st_size <= len(data)
    except OSError:
        return b"", False
    finally:
        os.close(descriptor)
