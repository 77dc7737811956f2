"""What GitHub Copilot says over ACP in a way of its own: which tool it is shows in the arguments alone.

Must not know the protocol's messages. Source: captured traffic.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.agents.kit.dialect import Dialect
from tallystick.model.step import Json

_TOOLS = (("command", "bash"), ("file_text", "create"), ("old_str", "edit"), ("view_range", "view"))


class CopilotDialect(Dialect):
    """Copilot's answers."""

    def tool_name(self, update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
        """By a member of its arguments."""
        return next((tool for member, tool in _TOOLS if member in args), None)


DIALECT = CopilotDialect()
