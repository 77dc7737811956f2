"""What Codex says over ACP in a way of its own: a shell around each script, patches taken apart, members for itself.

Must not know the protocol's messages. Source: captured traffic of codex-acp.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.agents.kit.dialect import Dialect
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.agents.kit.spelling import words
from tallystick.model.step import Json

_OWN = words("codex", "acp_members")
_OF_A_PATCH = frozenset(("changes", "reason", "grant_root"))
_SHELL_WORDS = 3


class CodexDialect(Dialect):
    """Codex' answers."""

    own_members = (*_OWN, "command", "cwd")

    def tool_name(self, update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
        """By its arguments: Codex shows no names."""
        if "changes" in dict_of(update.get("rawInput")):
            return "apply_patch"
        if "cmd" in args or "command" in args:
            return "exec_command"
        return None

    def arguments(self, raw: dict[str, Json]) -> tuple[Json, str | None]:
        """A shell around a script is Codex' own, and so is a patch taken apart: the model gave neither."""
        rest = {key: value for key, value in raw.items() if key not in _OWN}
        cwd, command = text_of(rest.pop("cwd", None)), rest.get("command")
        if isinstance(command, list) and len(command) == _SHELL_WORDS and command[1] in ("-lc", "-c"):
            rest = {"cmd": command[2], **{key: value for key, value in rest.items() if key != "command"}}
        if rest.keys() <= _OF_A_PATCH:
            return None, cwd
        return rest, cwd


DIALECT = CodexDialect()
