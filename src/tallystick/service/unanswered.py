"""What is answered to a call that no policy could decide on.

Owns the difference between a call that has effects, of which the setting hooks.on_error speaks, and one that only looks.
"""

from __future__ import annotations

from tallystick.errors import PolicyError
from tallystick.guard.fallback_decision import undecided_in
from tallystick.hook_looks import only_looks
from tallystick.journal.home import Home
from tallystick.model.decision import NO_OPINION, Call, Decision
from tallystick.model.intent import Operation


def undecided_on(home: Home, call: Call, error: PolicyError) -> Decision:
    """The answer to a call that could not be decided on: what the setting hooks.on_error says, if it has effects."""
    said = {"tool_name": call.tool, "tool_input": call.args, "cwd": call.cwd}
    if _only_reads(call) or only_looks(str(home.folder), call.agent, said):
        return NO_OPINION
    return undecided_in(home, error)


def _only_reads(call: Call) -> bool:
    """Whether a call changes nothing, as far as its tool and arguments tell: it reads or lists files."""
    from tallystick.intent.tools.calls import uses_of
    from tallystick.intent.tools.uses import ToolCall

    try:
        uses = uses_of(ToolCall(tool=call.tool, args=call.args, folder=call.cwd))
    except Exception:  # what made the decision fail may fail here as well
        return False
    runs = uses.commands or uses.programs or uses.codes
    return bool(uses.intents) and not runs and all(intent.operation in _LOOKS for intent in uses.intents)


_LOOKS = (Operation.READ, Operation.LIST)
