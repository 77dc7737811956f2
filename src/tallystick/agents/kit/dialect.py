"""What an agent says over ACP in a way of its own, and what is so for an agent that has none.

Owns the questions that a reader of the protocol asks about the calls of one agent; the folder of an agent that answers one
otherwise has a module `acp`. Must not know any agent, nor the protocol's messages.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.agents.kit.reading import dict_of
from tallystick.model.step import Json

_OUTPUTS = ("formatted_output", "aggregated_output", "output", "content", "stdout")


class Dialect:
    """One agent's answers."""

    has_native_ids: bool = True
    """Whether a call's id over ACP is the one that the model gave it."""
    tells_error: bool = False
    """Whether the agent's history has the output of a failed call as an error rather than as output."""
    tells_live_session: bool = False
    """Whether its messages say which session is live; of all others only the record knows."""
    usage_scope: str = "turn"
    """What the usage at the end of a turn is the sum of: the turn, or the session so far."""
    own_members: tuple[str, ...] = ()
    """Members of a call's output that the agent adds for itself."""

    def tool_name(self, update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
        """The agent's own name of a tool, as far as one message of the call tells; None if it does not."""
        return None

    def arguments(self, raw: dict[str, Json]) -> tuple[Json, str | None]:
        """The arguments of a call as the model gave them, and the folder it runs in, which some agents put among them."""
        return raw, None

    def arguments_of_title(self, title: str) -> Json:
        """Arguments that the title of a call tells whole, where the agent gives no others."""
        return None

    def is_call(self, call: str) -> bool:
        """Whether the id is that of a tool call: some agents number their questions otherwise."""
        return True

    def output(self, raw: Json) -> tuple[Json, Json]:
        """What the tool answered, and the rest of what the agent says of it (None: nothing more)."""
        members = dict_of(raw)
        for key in _OUTPUTS:
            text = members.get(key)
            if isinstance(text, str):
                rest = {
                    name: value for name, value in members.items() if value != text and name not in self.own_members
                }
                return text, rest or None
        return raw, None
