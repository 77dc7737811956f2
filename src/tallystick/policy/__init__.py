"""Whether a call may run: facts about it, and the Cedar policies that judge them.

Owns which paths are protected, which tools and programs write what, and the policies that are shipped. Nothing here opens a
file: `guard.decide` reads policy texts, resolves links and asks `shell` what a command does.
"""

__all__ = [
    "acts",
    "alert",
    "authors",
    "detector",
    "egress",
    "engine",
    "facts",
    "flows",
    "hosts",
    "inspection",
    "judging",
    "kinds",
    "origins",
    "parsing",
    "places",
    "reading",
    "recorder",
    "risks",
    "secret_output",
    "sensitive",
    "settings",
    "tags",
    "texts",
    "unknown_packages",
    "untrusted_input",
    "world",
]
