"""Pictures and other bytes that agents keep as base64 inside JSON blocks.

Owns recognising them and taking them out, so that they become raw values of a step. Must not know which agent wrote
them.
"""

from __future__ import annotations

import base64
import binascii
import re

from tallystick.model.step import Json

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.=+-]+)*;base64,", re.ASCII)
_MOST_PARTS = 20
"""A step has at most 32 values; further pictures stay where they are, as text."""
_DEPTH = 8
_HOLDERS = ("data", "source", "image_url", "mimeType", "media_type")


def take_out(blocks: Json) -> tuple[Json, dict[str, bytes]]:
    """`blocks` with each picture replaced by `{"type", "mime", "part"}`, and the bytes by field name."""
    parts: dict[str, bytes] = {}
    return _walk(blocks, parts, _DEPTH), parts


def _walk(value: Json, parts: dict[str, bytes], depth: int) -> Json:
    if depth == 0 or len(parts) >= _MOST_PARTS:
        return value
    if isinstance(value, list):
        return [_walk(item, parts, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    found = _encoded(value)
    data = None
    if found is not None:
        data = _decode(found[1])
    if found is None or data is None:
        return {key: _walk(item, parts, depth - 1) for key, item in value.items()}
    name = f"content.part_{len(parts)}"
    parts[name] = data
    kind = found[0].partition("/")[0]
    rest = {key: item for key, item in value.items() if key not in _HOLDERS}
    return {**rest, "type": kind if kind in ("image", "audio", "video") else "file", "mime": found[0], "part": name}


def _encoded(block: dict[str, Json]) -> tuple[str, str] | None:
    """The media type and the base64 text of a block that holds some."""
    for holder in (block, block.get("source")):
        if isinstance(holder, dict) and isinstance(holder.get("data"), str):
            mime = holder.get("mimeType") or holder.get("media_type")
            if isinstance(mime, str):
                return mime, holder["data"]
    url = block.get("image_url")
    text = url
    if isinstance(url, dict):
        text = url.get("url")
    match = None
    if isinstance(text, str):
        match = _DATA_URL.match(text)
    if match:
        return match[1], match.string[match.end() :]
    return None


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) or None
    except (binascii.Error, ValueError):
        return None
