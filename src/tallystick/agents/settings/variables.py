"""Variables of the environment that change what agents do: by how they are called, for none is recorded with its value.

Owns which these are, and which of them name the folders of agents. Must not know whose environment it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.catalog.agents import AGENTS, CONVENTIONS, folder_variables

_PREFIXES = (*CONVENTIONS.prefixes, *(prefix for facts in AGENTS.values() for prefix in facts.variables.prefixes))
_SWITCH = re.compile(rf"(?:{'|'.join(_PREFIXES)})_[A-Z0-9_]{{1,80}}|(?:HTTPS?|ALL|NO)_PROXY|LD_PRELOAD|SANDBOX|CI")
_OF_THE_HOOK = re.compile(
    r".*_(?:ENV_FILE|PROJECT_DIR|CWD|PID|EFFORT|(?:SESSION|THREAD|PROMPT|AGENT)_ID|SESSION_ATTENDED|(?:PLUGIN|CHILD|MESSAGING)_[A-Z_]+)"
    r"|CLAUDECODE"
)
"""What an agent gives the processes that it starts, and one event has and another has not."""
_MOST_SWITCHES = 128
LOCATIONS = folder_variables()
"""Variables that name the folders of agents: those of all places."""


def switches(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the variables that change what agents do, by how they are called; not of those that are for a hook."""
    named = (name for name in environment if _SWITCH.fullmatch(name) and not _OF_THE_HOOK.fullmatch(name))
    return tuple(sorted(named))[:_MOST_SWITCHES]
