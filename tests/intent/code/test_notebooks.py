"""Cells of notebooks."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.notebooks import cells


def notebook(*sources: object, kind: str = "code") -> str:
    return json.dumps({"cells": [{"cell_type": kind, "source": source} for source in sources]})


def test_cells_of_code_are_found_in_their_languages() -> None:
    text = notebook(["import os\n", "if x:\n", "    !cat a\n"], "%%bash\ncat b", "%%writefile c\nx", "y = !ls")
    assert list(cells(text)) == [
        ("sh", "cat a"),
        ("python", "import os\nif x:\n    pass\n"),
        ("sh", "cat b"),
        ("sh", "ls"),
        ("python", "pass"),
    ]


def test_words_of_a_person_are_no_code() -> None:
    assert list(cells(notebook("!cat a", kind="markdown"))) == []


@given(
    st.text()
    | st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)).map(
        json.dumps
    )
)
def test_what_is_no_notebook_has_no_cells(text: str) -> None:
    assert list(cells(text)) == []
