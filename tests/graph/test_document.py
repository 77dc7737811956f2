from __future__ import annotations

from importlib.resources import files

from tallystick.graph.document import COLUMNS, TOKENIZER, document_of
from tallystick.model.plain_text import CUT_CHARACTERS
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


def found(kind: str, **content: Json) -> dict[str, str]:
    """The columns of the document of a step with these fields."""
    values = {f"content.{name}": value for name, value in content.items()}
    return columns(Recorded(session="s", n=1, hash="h", prev="p", parents=(), meta={"type": kind}, values=values))


def columns(step: Recorded) -> dict[str, str]:
    document = document_of(step)
    return {} if document is None else {name: text for name, text in zip(COLUMNS, document, strict=True) if text}


def test_each_kind_of_text_has_its_column() -> None:
    assert found("user", text="please") == {"prompt": "please"}
    assert found("assistant", text="gladly", thinking="hm") == {"text": "gladly", "thinking": "hm"}
    assert found("tool_call", args={"command": "ls"}) == {"args": "ls"}
    assert found("tool_result", output="a\nb", error="none") == {"output": "a\nb", "error": "none"}


def test_every_other_content_can_be_found_as_text() -> None:
    assert found("goal_start", goal="tidy up", label="big one") == {"text": "tidy up\nbig one"}


def test_people_machines_and_what_stays_local_are_not_searched() -> None:
    values: dict[str, Json] = {
        "personal.cwd": "/home/dev",
        "local.source": {"path": "x"},
        "content.meta": {"odd": "thing"},
    }
    step = Recorded(session="s", n=1, hash="h", prev="p", parents=(), meta={"type": "user"}, values=values)
    assert document_of(step) is None


def test_a_step_that_says_nothing_has_no_document() -> None:
    assert found("assistant", text="") == {}
    assert found("tool_result", output=None, error=[None, True]) == {}


def test_a_column_is_cut() -> None:
    long = "x" * (CUT_CHARACTERS + 1)
    assert len(found("assistant", text=long, label="end")["text"]) == CUT_CHARACTERS
    assert len(found("tool_result", output=long, error=long)["error"]) == CUT_CHARACTERS


def test_the_index_has_these_columns_and_this_tokenizer() -> None:
    schema = files("tallystick.graph").joinpath("schema.sql").read_text("utf-8")
    table = schema[schema.index("CREATE VIRTUAL TABLE search") :]
    assert f"({','.join(COLUMNS)}," in table.replace("\n", "").replace(" ", "").replace("USINGfts5", "")
    assert f"tokenize = '{TOKENIZER}'" in table
