"""Copilot CLI's settings: folders, addresses, its token, and where its files are.

Owns the keys of config.json, settings.json and mcp-config.json. That all tools run without a question is not a setting
of its files but an option or the variable COPILOT_ALLOW_ALL. Source: its command reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Rule, Severity
from tallystick.agents.settings.parsed import Document

NAME = "copilot"

TRUSTS_HOME = Rule(
    "copilot.trusts-home",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "The home folder or the root is trusted: the agent reads, changes and runs files anywhere in it.",
    "Trust single projects.",
)
ANY_ADDRESS = Rule(
    "copilot.allows-any-address",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Every address may be fetched without a question.",
    "Name hosts in `allowedUrls`.",
)
PLAIN_TOKEN = Rule(
    "copilot.token-in-file",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "The agent's login may be stored in a file as it is.",
    "Take `storeTokenPlaintext` out, and have a key store on the machine.",
)
HOOKS_OFF = Rule(
    "copilot.hooks-off",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "All hooks are switched off: a recorder sees nothing while the agent works.",
    "Take `disableAllHooks` out.",
)
ALLOW_ALL = Rule(
    "copilot.allow-all",
    Severity.CRITICAL,
    Confidence.CONFIRMED,
    "COPILOT_ALLOW_ALL is set in this environment: every tool call runs without a question.",
    "Take the variable out of your shell's start files.",
)

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
