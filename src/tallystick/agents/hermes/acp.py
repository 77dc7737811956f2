"""What Hermes says over ACP in a way of its own: titles that name tools, ids of its own, and which session is live.

Must not know the protocol's messages. Source: captured traffic, and `acp_adapter/` of hermes-agent 0.19.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.agents.kit.dialect import Dialect
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.model.step import Json

_NO_CALL = re.compile(r"(?:perm-check|edit-approval)-")
_TITLES = {"write": "write_file", "read": "read_file", "search": "search_files", "web search": "web_search"}
_TITLE = re.compile(r"[a-z_ ]{1,40}")


class HermesDialect(Dialect):
    """Hermes' answers."""

    has_native_ids = False  # it makes its own for live calls
    tells_live_session = True
    usage_scope = "session"

    def tool_name(self, update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
        """Titles begin with the tool's name and a colon."""
        name, colon, _ = (text_of(update.get("title")) or "").partition(":")
        word = name.partition(" (")[0]
        if colon and _TITLE.fullmatch(word):
            return _TITLES.get(word, word)
        return None

    def arguments(self, raw: dict[str, Json]) -> tuple[Json, str | None]:
        """What comes with the tool's name is in a member of its own."""
        if raw.keys() == {"tool", "arguments"}:
            return raw["arguments"], None
        return super().arguments(raw)

    def arguments_of_title(self, title: str) -> Json:
        """A command that was not cut short."""
        before, colon, command = title.partition(": ")
        is_whole = before == "terminal" and not command.endswith("...")
        if colon and is_whole:
            return {"command": command}
        return None

    def is_call(self, call: str) -> bool:
        """Questions have ids that begin with what is asked."""
        return _NO_CALL.match(call) is None


DIALECT = HermesDialect()


def reported_provenance(members: Mapping[str, Json]) -> dict[str, Json]:
    """What a message says of the sessions behind its own, in the form that Hermes gave it; empty if nothing."""
    return dict_of(dict_of(dict_of(members.get("_meta")).get("hermes")).get("sessionProvenance"))
