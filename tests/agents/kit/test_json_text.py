from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.kit import json_text
from tallystick.agents.kit.json_text import COMMENTED, JSON, RELAXED, Dialect, Document, Node
from tallystick.errors import FormatError
from tests.agents._json_texts import settings_files, values
from tests.support.cases import each

_DIALECTS = st.sampled_from((JSON, COMMENTED, RELAXED))


@given(values(JSON))
def test_strict_json_means_what_the_standard_library_says(text: str) -> None:
    assert json_text.read(text.encode()).root.value == json.loads(text)


@given(st.text(alphabet='{}[],:"a1 \n/*\\', max_size=12))
def test_what_the_standard_library_refuses_is_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(FormatError, match=r"^line \d+, column \d+: "):
            json_text.read(text.encode())
    else:
        assert json_text.read(text.encode()).root.value == expected


@each(
    "text, where",
    [
        (b'{\n  "a": 1,\n}', "line 3, column 1"),
        (b'{\n  "a" 1\n}', "line 2, column 7"),
        (b'{"a": tru}', "line 1, column 7"),
        (b'{"a": 01}', "line 1, column 8"),
        (b'{"a": 1} x', "line 1, column 10"),
        (b"{'a': 1}", "line 1, column 2"),
        (b'{"a": "x\ny"}', "line 1, column 7"),
        (b'{"a": 1 // why\n}', "line 1, column 9"),
        (b'{"a": [1, 2}', "line 1, column 12"),
        (b'{"a": 1', "line 1, column 8"),
        (b"[" * 200, "line 1, column 101"),
        ("\ufeff".encode() + b"\n\n{", "line 3, column 2"),
    ],
)
def test_an_error_is_told_with_line_and_column(text: bytes, where: str) -> None:
    with pytest.raises(FormatError) as caught:
        json_text.read(text)
    assert str(caught.value).startswith(f"{where}: ")


def test_bytes_that_are_no_utf8_are_told_with_their_line() -> None:
    with pytest.raises(FormatError, match="line 2: not UTF-8"):
        json_text.read(b'{\n"a": "\xff"}')


def test_comments_and_trailing_commas_are_read_where_the_dialect_has_them() -> None:
    text = b'{"a": [1, /* , */ 2,], // }\n}'
    with pytest.raises(FormatError, match="column 21: a value is expected after the comma"):
        json_text.read(text, COMMENTED)
    document = json_text.read(b'{"a": [1, /* , */ 2,], // }\n"b": 3,}', RELAXED)
    assert document.root.value == {"a": [1, 2], "b": 3}


def _containers(node: Node) -> list[Node]:
    inner = [item for entry in node.entries or () for item in _containers(entry.node)]
    return inner if node.entries is None else [node, *inner]


@st.composite
def _documents(draw: st.DrawFn) -> Document:
    dialect: Dialect = draw(_DIALECTS)
    return json_text.read(draw(settings_files(dialect, ("Stop",))), dialect)


@given(_documents(), st.data())
def test_what_was_added_last_is_taken_out_again_to_the_byte(document: Document, data: st.DataObject) -> None:
    added = 0
    before = [document]
    number = data.draw(st.integers(0, len(_containers(document.root)) - 1))
    while added < data.draw(st.integers(1, 3)):
        container = _containers(document.root)[number]
        key = f"new {added}" if isinstance(container.value, dict) else None
        value = data.draw(st.sampled_from(("x", ["y", {"z": 1}], {"a": [1]})))
        wanted = {**container.value, key: value} if key else [*container.value, value]
        document = json_text.append(document, container, value, key)
        assert _containers(document.root)[number].value == wanted
        before.append(document)
        added += 1
    for expected in reversed(before[:-1]):
        container = _containers(document.root)[number]
        assert container.entries
        document = json_text.remove(document, container, container.entries[-1])
        assert document.encode() == expected.encode()


@given(_documents(), st.data())
def test_a_value_taken_out_leaves_all_others(document: Document, data: st.DataObject) -> None:
    full = [node for node in _containers(document.root) if node.entries]
    if not full:
        return
    number = data.draw(st.integers(0, len(full) - 1))
    entries = full[number].entries or []
    gone = data.draw(st.integers(0, len(entries) - 1))
    left = [(entry.key, entry.node.value) for index, entry in enumerate(entries) if index != gone]
    comments = [text for text in ("theirs", "lines") for _ in range(document.text.count(text))]
    inside = document.text[entries[gone].start : entries[gone].node.end]
    position = _containers(document.root).index(full[number])
    smaller = json_text.remove(document, full[number], entries[gone])
    kept = _containers(smaller.root)[position].entries or []
    assert [(entry.key, entry.node.value) for entry in kept] == left
    assert sum(map(smaller.text.count, ("theirs", "lines"))) == len(comments) - sum(
        map(inside.count, ("theirs", "lines"))
    )


@given(_documents(), st.data())
def test_a_value_replaced_leaves_all_else_to_the_byte(document: Document, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(_containers(document.root)))
    changed = json_text.replace(document, node, {"x": [1]})
    end = node.end - len(document.text)
    assert changed.text.startswith(document.text[: node.start])
    assert changed.text.endswith(document.text[end:] if end else "")


def test_lines_are_indented_and_ended_as_the_others_are() -> None:
    document = json_text.read(b'{\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}\r\n')
    inner = document.root.member("a")
    assert inner is not None
    document = json_text.append(document, inner, {"b": [2]})
    assert document.encode() == (
        b'{\r\n\t"a": [\r\n\t\t1,\r\n\t\t{\r\n\t\t\t"b": [\r\n\t\t\t\t2\r\n\t\t\t]\r\n\t\t}\r\n\t]\r\n}\r\n'
    )


def test_a_comment_stays_with_the_line_that_it_was_written_on() -> None:
    document = json_text.read(b"[\n  1 // one\n]", RELAXED)
    assert json_text.append(document, document.root, 2).text == "[\n  1, // one\n  2\n]"


def test_a_new_file_is_indented_by_two() -> None:
    assert json_text.created({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}\n'
