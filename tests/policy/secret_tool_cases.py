"""Calls of tools other than a shell that have to do with secrets: agent, tool, arguments.

HOME_FOLDER stands for the home folder; the folder of each call is `project` below it.
"""

from typing import Any

from tests.support.cases import cases

TOOLS_DENIED = cases(__file__, "tools_denied", tuple[tuple[str, str, Any], ...])
"""The same by other tools than a shell."""

TOOLS_ASKED = cases(__file__, "tools_asked", tuple[tuple[str, str, Any], ...])
"""The same by other tools than a shell."""

TOOLS_SILENT = cases(__file__, "tools_silent", tuple[tuple[str, str, Any], ...])
"""Work with other tools."""
