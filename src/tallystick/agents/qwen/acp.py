"""What Qwen Code says over ACP in a way of its own: what the model got is in a call's content, not in its output.

Must not know the protocol's messages. Source: captured traffic.
"""

from __future__ import annotations

from tallystick.agents.kit.dialect import Dialect
from tallystick.agents.kit.reading import dict_of
from tallystick.model.step import Json


class QwenDialect(Dialect):
    """Qwen's answers."""

    def output(self, raw: Json) -> tuple[Json, Json]:
        """Nothing, where the output has members: the content says it."""
        if dict_of(raw):
            return None, raw
        return super().output(raw)


DIALECT = QwenDialect()
