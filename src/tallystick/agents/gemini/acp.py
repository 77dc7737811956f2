"""What Gemini CLI says over ACP in a way of its own: a call's id begins with the tool's name.

Must not know the protocol's messages. Source: captured traffic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.agents.kit.dialect import Dialect
from tallystick.agents.kit.reading import text_of
from tallystick.model.step import Json

_CALL = re.compile(r"(.+?)__(?=[^_])")


class GeminiDialect(Dialect):
    """Gemini's answers."""

    def tool_name(self, update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
        """By the call's id."""
        found = _CALL.match(text_of(update.get("toolCallId")) or "")
        if found is None:
            return None
        return found[1]


DIALECT = GeminiDialect()
