"""What of a step can be found by its words.

Owns which field goes into which column of the search index. Pure: the same step gives the
same document, so that a snippet can be made from the journal.
"""

from __future__ import annotations

from typing import TypeAlias

from tallystick.model.plain_text import CUT_CHARACTERS, plain_text
from tallystick.model.recorded import Recorded

# The column that holds most of the text comes first: FTS5 spends a byte on each word and document for every other one.
COLUMNS = ("output", "text", "thinking", "args", "prompt", "error")
"""The columns of a document, in the order of the index."""

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""How text is cut into words: at everything that is not a letter or digit; case, accents and English endings do not matter.

Names in code and paths are cut and stemmed in the same way where they stand and where they are asked for, so that they
are found as they are written."""

Document: TypeAlias = tuple[str | None, ...]
"""The text of each of COLUMNS; None where none exists."""

_OWN_COLUMN = {f"content.{name}": name for name in ("output", "thinking", "args", "error")}


def document_of(step: Recorded) -> Document | None:
    """The searchable text of a step; None if it has none.

    `content.text` of a `user` step is a prompt, of any other step text, as is every other `content` field. Who and where
    (`personal`), what stays local, and members that did not fit `meta` are not searched; nor are our own checkpoints:
    retention drops what they say, and single documents cannot be taken out.
    """
    if step.type == "checkpoint" and "position_hash" in step.meta:
        return None
    columns: dict[str, list[str]] = {}
    for name, value in step.values.items():
        if name.startswith("content.") and name != "content.meta":
            is_prompt = name == "content.text" and step.type == "user"
            column = "prompt"
            if not is_prompt:
                column = _OWN_COLUMN.get(name, "text")
            columns.setdefault(column, []).append(plain_text(value))
    document = tuple("\n".join(columns[name])[:CUT_CHARACTERS] or None if name in columns else None for name in COLUMNS)
    if any(document):
        return document
    return None
