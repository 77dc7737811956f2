"""What is written into the cells of a notebook: the tags of the code in them.

Owns which texts of a call are cells: those of a whole notebook, and the new text of an edit. Must not know what a tag means
(`inspection` does), nor how cells are cut (`shell.code.notebooks`).
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.intent.code.notebooks import cells, in_cell
from tallystick.intent.tools.arguments import plain_name, strings
from tallystick.model.intent import Intent
from tallystick.model.step import Json
from tallystick.policy.inspection import content_tags
from tallystick.policy.reading import CallReading

_OLD = frozenset(("oldstring", "oldtext", "oldstr", "oldsource", "search", "description", "explanation"))
_MOST_TEXTS = 50
_MOST_TEXT = 64 << 10


def is_notebook(path: str) -> bool:
    """Whether a path is a notebook's, by its name."""
    return path.lower().endswith(".ipynb")


def cell_tags(intent: Intent, reading: CallReading) -> frozenset[str]:
    """The tags of what an intent writes into a notebook, as far as the call tells it."""
    if intent.content is not None:
        found = cells(intent.content)
    else:
        found = _edited(reading.call.args)
    tags: set[str] = set()
    for language, text in found:
        tags |= content_tags(text[:_MOST_TEXT], language, home=reading.home)
    return frozenset(tags)


def _edited(args: Json) -> Iterator[tuple[str, str]]:
    """The code that an edit brings. Text for people is none."""
    texts = [(plain_name(name), text) for name, text in strings(args)][:_MOST_TEXTS]
    if any(name == "celltype" and text in ("markdown", "raw") for name, text in texts):
        return
    for name, text in texts:
        if name not in _OLD:
            yield from in_cell(text[:_MOST_TEXT])
