"""Risks of settings as files, and of our own hook: the rules, whose facts only the file system and the adapters have.

Owns the rules. `setup.audit_config` finds what they are about.
"""

from __future__ import annotations

from tallystick.agents.settings.rules import rule_named

WRITABLE = rule_named("files.writable-by-others")
FOLDER_WRITABLE = rule_named("files.folder-writable-by-others")
OTHER_OWNER = rule_named("files.other-owner")
LINK = rule_named("files.link-elsewhere")
LINKED_FOLDER = rule_named("files.linked-folder")
INVALID = rule_named("files.invalid")
SECRET_READABLE = rule_named("files.secret-readable")
SCRIPT_WRITABLE = rule_named("hooks.script-writable")
NO_HOOK = rule_named("hook.missing")
SOME_HOOKS = rule_named("hook.partial")
HOOKS_OFF = rule_named("hook.switched-off")
