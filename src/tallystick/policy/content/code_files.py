"""Which content is code, and whether anything in it can matter: what is asked before it is inspected.

Owns these two questions, and loads no table of risks for them. Must not know what a tag is found by.
"""

from __future__ import annotations

import posixpath

from ahocorasick_rs import AhoCorasick

from tallystick.catalog.loading import load
from tallystick.intent.shell.files import language_of
from tallystick.intent.shell.tasks import task_texts
from tallystick.model.pattern import pattern_of

MOST_INSPECTED = 256 << 10
"""Characters of a content that is inspected."""
_TELLING = AhoCorasick(
    [word.replace("~", " ") for word in load("telling/content", dict[str, tuple[str, ...]])["words"]]
)
"""What a text must have for it to get any tag."""
_MAKEFILE = pattern_of(r"(?:GNUm|m|M)akefile|.*\.mk")


def language_in(text: str, path: str) -> str | None:
    """The language of a text if it is code: by its first line, or by the name of its file."""
    name = posixpath.basename(path)
    if is_makefile(name) or name == "package.json" or (task_texts(name, "", ()) is not None and name.find(".y") < 0):
        return "tasks"
    return language_of(text, path, "")


def is_makefile(name: str) -> bool:
    """Whether a file is make's, by its name."""
    return _MAKEFILE.fullmatch(name) is not None


def is_binary(text: str) -> bool:
    """Whether a content is no text."""
    return "\0" in text[:8192]


def may_have_tags(text: str) -> bool:
    """Whether inspecting a content of some language can give it a tag."""
    return len(text) > MOST_INSPECTED or is_binary(text) or bool(_TELLING.find_matches_as_indexes(text.lower()))
