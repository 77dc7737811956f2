"""Qwen Code's log events: those of Gemini CLI, which it grew out of, under names of its own (seen with 0.24.4).

Owns what is its own: names, and sessions of sub-agents.
"""

from __future__ import annotations

import re

from tallystick.agents.gemini import telemetry as gemini
from tallystick.agents.protocols._otlp_read import Record
from tallystick.agents.protocols._otlp_steps import Case, Telemetry, Told
from tallystick.model.step import Ref


def log(case: Case) -> Told:
    """What one log record tells."""
    return gemini.event(case, case.record.name.removeprefix(gemini.PREFIX).removeprefix("qwen-code."))


def family(record: Record, session: str) -> tuple[str, str, Ref] | None:
    """The session of the record, if it is a sub-agent's: it, itself, and the call that it belongs to.

    The id of such a prompt is `SESSION#NAME-CALL#N`, that of a prompt of the session itself `SESSION########N`.
    """
    root, _, rest = (record.text("prompt_id") or "").partition("#")
    agent = rest.partition("#")[0]
    if root != session or not agent:
        return None
    call = re.search(r"call_\w+\Z", agent)
    child = f"{session}/{agent}"
    return child, child, Ref(call[0] if call is not None else None, session=session)


TELEMETRY = Telemetry(log=log, family=family)
