"""Committing to all JSON values of a line at once, quickly: half of all work is hash calls (docs/format.md 17).

Owns a cache of the constant bytes around each field's salt, value and place in a line. The formulas are those of
hashes.py, which are written to be read; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import TypeAlias

from tallystick.model.step import Json
from tallystick.seal.hashes import FIELDS_START, HASH_LENGTH, SALT_START, field_start, salt_end
from tallystick.seal.names import is_field_name

Frame: TypeAlias = tuple[bytes, bytes, bytes, bytes]
"""What follows the seed in the salt; what precedes the salt in a `json` commitment; what precedes the commitment in
`fields`; how the field opens in a line."""


@lru_cache(maxsize=4096)
def json_frame(name: str) -> Frame | None:
    """The frame of a field of kind `json`; None for what is not a field name."""
    if not is_field_name(name):
        return None
    return salt_end(name), field_start(name, "json"), salt_end(name) + HASH_LENGTH, b'"%b":' % name.encode()


def commit_all(
    seed: bytes, values: Mapping[str, Json], text_of: Callable[[Json], bytes], limit: int
) -> tuple[str, list[bytes]] | None:
    """Commit to `values`, all of kind `json`, whose canonical bytes `text_of` gives.

    Returns: `entry.fields` in hex, and each field unchanged in a line (`"name":value`), in byte order of the names;
    None if a name is none of ours or a text is longer than `limit`.
    """
    framed: list[bytes] = []
    shown: list[bytes] = []
    salted = SALT_START + seed
    for name in sorted(values):
        frame = json_frame(name)
        text = text_of(values[name])
        if frame is None or len(text) > limit:
            return None
        salt = sha256(salted + frame[0]).digest()
        framed.append(frame[2])
        framed.append(sha256(frame[1] + salt + len(text).to_bytes(8, "big") + text).digest())
        shown.append(frame[3] + text)
    return sha256(FIELDS_START[len(shown)] + b"".join(framed)).hexdigest(), shown
