"""Risks of settings as files, and of our own hook: the rules, whose facts only the file system and the adapters have.

Owns the rules. `setup.audit_config` finds what they are about.
"""

from __future__ import annotations

from tallystick.agents.settings import Confidence, Rule, Severity

WRITABLE = Rule(
    "files.writable-by-others",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "Any user of this machine may change the file, and with it what the agent does.",
    "`chmod o-w` the file.",
)
FOLDER_WRITABLE = Rule(
    "files.folder-writable-by-others",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "Any user of this machine may put another file in this one's place.",
    "`chmod o-w` the folder.",
)
OTHER_OWNER = Rule(
    "files.other-owner",
    Severity.MEDIUM,
    Confidence.POTENTIAL,
    "The file belongs to another user, who may change it.",
    "`chown` it, or replace it by a copy of your own.",
)
LINK = Rule(
    "files.link-elsewhere",
    Severity.LOW,
    Confidence.POTENTIAL,
    "The file is a link that leads out of its folder: what is read is kept, and perhaps changed, elsewhere.",
    "See that only you can write what it leads to.",
)
LINKED_FOLDER = Rule(
    "files.linked-folder",
    Severity.LOW,
    Confidence.POTENTIAL,
    "A folder on the way to the file is a link, so the file was not read here; the agent reads it.",
    "Audit the folder that it leads to: `--project` takes it, or set HOME for one run.",
)
INVALID = Rule(
    "files.invalid",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "The file cannot be read as settings: the agent may ignore all of it, its refusals too.",
    "Mend the file.",
)
SECRET_READABLE = Rule(
    "files.secret-readable",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "The file holds a secret and every user of this machine may read it.",
    "`chmod 600` the file, and replace the secret.",
)
SCRIPT_WRITABLE = Rule(
    "hooks.script-writable",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "A hook runs a file that any user of this machine may change.",
    "`chmod o-w` the file and its folder.",
)
NO_HOOK = Rule(
    "hook.missing",
    Severity.LOW,
    Confidence.CONFIRMED,
    "The agent is here and does not call our hook: what it does is seen afterwards at best, and nothing is refused.",
    "`tally install AGENT`.",
)
SOME_HOOKS = Rule(
    "hook.partial",
    Severity.LOW,
    Confidence.CONFIRMED,
    "The agent calls our hook for some events only.",
    "`tally install AGENT` again; if something of yours stands in the way, the installation says so.",
)
HOOKS_OFF = Rule(
    "hook.switched-off",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "A setting turns all hooks of the agent off, ours and its refusals among them.",
    "Take the setting out.",
)
