"""Whether a call may run: facts about it, and the Cedar policies that judge them.

Owns what a call does as policies see it (`calls`, `risks`), what a name, a place or a content tells (`kinds`,
`content`), hosts (`network`), where data comes from (`taint`), what agents must leave alone (`protected`), and the
policies that are shipped, with the engine that asks them (`cedar`). Nothing here opens a file: `guard.decide` reads
policy texts and resolves links.
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
