from __future__ import annotations

from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from tallystick.graph.document import COLUMNS, CUT_CHARACTERS, TOKENIZER, document_of, plain_text
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


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
    values = {"personal.cwd": "/home/dev", "local.source": {"path": "x"}, "content.meta": {"odd": "thing"}}
    step = Recorded(session="s", n=1, hash="h", prev="p", parents=(), meta={"type": "user"}, values=values)
    assert document_of(step) is None


def test_a_step_that_says_nothing_has_no_document() -> None:
    assert found("assistant", text="") == {}
    assert found("tool_result", output=None, error=[None, True]) == {}


def test_a_value_becomes_its_strings_and_numbers_in_order_without_the_names_of_members() -> None:
    blocks = [{"type": "text", "text": "one\ntwo"}, {"n": 8080, "x": 0.5, "none": None, "yes": True}, "three"]
    assert plain_text(blocks) == "text\none\ntwo\n8080\n0.5\nthree"


def test_line_ends_in_a_value_do_not_glue_words_together() -> None:
    assert plain_text({"command": "cd x\nnice"}).split() == ["cd", "x", "nice"]


@given(VALUES)
def test_every_string_of_a_value_is_in_its_text(value: Json) -> None:
    def strings(part: Json) -> list[str]:
        if isinstance(part, str):
            return [part]
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return [text for item in inner for text in strings(item)]

    text = plain_text(value)
    assert all(part in text for part in strings(value))


def test_text_is_cut_however_it_is_spread() -> None:
    long = "x" * (CUT_CHARACTERS + 1)
    assert len(plain_text(long)) == CUT_CHARACTERS
    assert len(plain_text(["x" * 1000] * 100)) == CUT_CHARACTERS
    assert len(found("assistant", text=long, label="end")["text"]) == CUT_CHARACTERS
    assert len(found("tool_result", output=long, error=long)["error"]) == CUT_CHARACTERS


def test_a_deeply_nested_value_is_no_trouble() -> None:
    value: Json = "core"
    for _ in range(5000):
        value = [value]
    assert plain_text(value) == "core"


def test_the_index_has_these_columns_and_this_tokenizer() -> None:
    schema = files("tallystick.graph").joinpath("schema.sql").read_text("utf-8")
    table = schema[schema.index("CREATE VIRTUAL TABLE search") :]
    assert f"({','.join(COLUMNS)}," in table.replace("\n", "").replace(" ", "").replace("USINGfts5", "")
    assert f"tokenize = '{TOKENIZER}'" in table
