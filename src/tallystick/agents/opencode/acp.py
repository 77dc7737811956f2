"""What opencode says over ACP in a way of its own: the tool is the first title, and the folder is among the arguments.

Must not know the protocol's messages. Source: captured traffic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.agents.kit.dialect import Dialect
from tallystick.agents.kit.reading import text_of
from tallystick.model.step import Json

_NAME = re.compile(r"[\w.-]{1,80}")


class OpencodeDialect(Dialect):
    """opencode's answers."""

    tells_error = True

    def tool_name(self, update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
        """The first message of a call has the tool's name for a title; later ones say what it works on."""
        title = text_of(update.get("title"))
        is_first = update.get("sessionUpdate") == "tool_call" and update.get("status") == "pending"
        if title and is_first and _NAME.fullmatch(title):
            return title
        return None

    def arguments(self, raw: dict[str, Json]) -> tuple[Json, str | None]:
        """The folder is one of them."""
        if text_of(raw.get("cwd")) is None:
            return super().arguments(raw)
        return {key: value for key, value in raw.items() if key != "cwd"} or None, raw["cwd"]


DIALECT = OpencodeDialect()
