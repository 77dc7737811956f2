"""Blocks of Claude Code's messages as values: text, tool output, images.

Owns how content with images in it is kept: the bytes as parts of their own, a note of the part in their place. Must not
know which line a block is in.
"""

from __future__ import annotations

from base64 import b64decode

from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.model.step import Json

_NESTED = (dict, list)
_SPELLINGS = frozenset(("source", "base64", "data"))
"""One of these members has every block with an image or a document in it; most objects have none."""
_MOST_PARTS = 20  # a step has at most 32 fields; the images beyond stay in the JSON, which then is a blob itself


class Parts:
    """The images and documents of one step, taken out of its JSON. The same data is one part."""

    def __init__(self) -> None:
        self.raw: dict[str, bytes] = {}
        self._names: dict[str, str] = {}

    def out_of(self, value: Json) -> Json:
        """`value` with `{"part": name}` in place of every base64 text that can be taken out of it."""
        if isinstance(value, list):
            return [self.out_of(item) if isinstance(item, _NESTED) else item for item in value]
        if not isinstance(value, dict):
            return value
        if _SPELLINGS.isdisjoint(value):
            block = None
        else:
            block = self._block(value)
        return block or {key: self.out_of(item) if isinstance(item, _NESTED) else item for key, item in value.items()}

    def _block(self, block: dict[str, Json]) -> dict[str, Json] | None:
        """An image or document in one of the spellings met so far; None if it is something else, or not base64."""
        source = dict_of(block.get("source"))
        if text_of(source.get("data")) is not None and source.get("type") == "base64":
            rest = {key: item for key, item in block.items() if key != "source"}
            rest["media_type"] = source.get("media_type")
            return self._noted(rest, source["data"])
        for key in ("base64", "data"):
            if text_of(block.get(key)) is not None and (key == "base64" or "mimeType" in block):
                return self._noted({name: item for name, item in block.items() if name != key}, block[key])
        return None

    def _noted(self, block: dict[str, Json], data: str) -> dict[str, Json] | None:
        name = self._names.get(data) or self._keep(data)
        if name is None:
            return None
        return {**block, "part": name}

    def _keep(self, data: str) -> str | None:
        if len(self.raw) >= _MOST_PARTS:
            return None
        try:
            decoded = b64decode(data, validate=True)
        except ValueError:
            return None
        name = f"content.part_{len(self.raw)}"
        self.raw[name] = decoded
        self._names[data] = name
        return name


def texts_of(content: Json) -> str:
    """The text of a message's content, blocks parted by an empty line."""
    if isinstance(content, str):
        return content
    return "\n\n".join(text for block in list_of(content) if (text := text_of(dict_of(block).get("text"))) is not None)


def prompt_values(blocks: list[Json], parts: Parts | None) -> dict[str, Json]:
    """The values of a prompt: its text, and its blocks if they are more than text."""
    values: dict[str, Json] = {"content.text": texts_of(blocks)}
    if any(dict_of(block).get("type") != "text" for block in blocks):
        values["content.blocks"] = parts.out_of(blocks) if parts is not None else blocks
        if not values["content.text"]:
            del values["content.text"]
    return values


def output_of(content: Json, parts: Parts | None) -> Json:
    """What the model saw of a tool's result: text, or the blocks if there is more than one text."""
    if isinstance(content, list):
        if len(content) == 1 and dict_of(content[0]).keys() == {"type", "text"}:
            return content[0]["text"]
        if parts is not None:
            return parts.out_of(content)
        return content
    return content
