"""Whether a call may run: facts about it, and the Cedar policies that judge them.

Owns which paths are protected, which tools and programs write what, and the policies that are shipped. Nothing here opens a
file: `guard.decide` reads policy texts, resolves links and asks `shell` what a command does.
"""

__all__ = [
    "alert",
    "calls",
    "cedar",
    "content",
    "detector",
    "facts",
    "judging",
    "kinds",
    "network",
    "protected",
    "risks",
    "settings",
    "taint",
    "world",
]
