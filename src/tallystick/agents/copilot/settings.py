"""Copilot CLI's settings: folders, addresses, its token, and where its files are.

Owns the keys of config.json, settings.json and mcp-config.json. That all tools run without a question is not a setting
of its files but an option or the variable COPILOT_ALLOW_ALL. Source: its command reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Hit
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named

NAME = "copilot"

TRUSTS_HOME = rule_named("copilot.trusts-home")
ANY_ADDRESS = rule_named("copilot.allows-any-address")
PLAIN_TOKEN = rule_named("copilot.token-in-file")
HOOKS_OFF = rule_named("copilot.hooks-off")
ALLOW_ALL = rule_named("copilot.allow-all")

VARIABLES = {"COPILOT_ALLOW_ALL": ALLOW_ALL}
"""Variables of the environment that the agent obeys when they say yes."""

_WHOLE = frozenset(("/", "~", "~/", "/home", "/Users", "C:\\"))


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files."""
    for key in ("trustedFolders", "trusted_folders"):
        for where, folder in document.texts(key):
            parts = folder.rstrip("/").split("/")
            if folder in _WHOLE or (parts[:2] in (["", "home"], ["", "Users"]) and len(parts) == 3):
                yield Hit(rule=TRUSTS_HOME, where=where, said=folder)
    for key in ("allowedUrls", "allowed_urls"):
        for where, address in document.texts(key):
            if address.strip() in ("*", "**", "https://*", "http://*", "*.*", "*://*"):
                yield Hit(rule=ANY_ADDRESS, where=where, said=address)
    for rule, keys in (
        (PLAIN_TOKEN, ("storeTokenPlaintext", "store_token_plaintext")),
        (HOOKS_OFF, ("disableAllHooks",)),
    ):
        for key in keys:
            if document.is_on(key):
                yield Hit(rule=rule, where=(key,), said="true")
