"""Acts in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.display.acts import Kind, Word, act_line, act_row
from tallystick.display.said import text_of
from tallystick.display.text import width_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


def step(kind: str, values: dict[str, Json] | None = None, **meta: Json) -> Recorded:
    fields = {f"content.{name}": value for name, value in (values or {}).items()}
    return Recorded(
        session="s" * 32, n=1, hash="0" * 64, prev="", parents=(), meta={"type": kind, **meta}, values=fields
    )


CALL = step("tool_call", {"args": {"command": "cd /srv/shop && make /srv/shop/all"}}, tool="Bash", corr="a")


def shown(*steps: Recorded) -> str:
    return text_of(act_line(act_row(steps, folder="/srv/shop"), 100))


def test_a_call_says_what_was_asked_and_what_came_of_it_with_paths_from_its_folder() -> None:
    result = step("tool_result", {"output": "built\nall"}, corr="a", duration_ms=1200, success=True)
    assert shown(CALL, result) == "  Bash     1.2 s make all → built …"


@pytest.mark.parametrize(
    ("steps", "word"),
    [
        ([step("decision", {"text": "no"}, effect="deny")], Word.DENIED),
        ([step("decision", {"text": "no"}, effect="ask", told="deny")], Word.DENIED),
        ([step("permission", decision="deny")], Word.DENIED),
        ([step("tool_result", decision="deny", success=False)], Word.DENIED),
        ([step("decision", {"text": "sure?"}, effect="ask"), step("tool_result", success=True)], Word.ASKED),
        ([step("decision", effect="ask"), step("tool_result", success=False)], Word.FAILED),
        ([step("decision", effect="warn"), step("tool_result", success=True)], Word.WARNED),
        ([step("permission", hook="preToolUse"), step("tool_result", success=True)], Word.NONE),
        ([step("permission", success=False), step("tool_result", success=True)], Word.ASKED),
    ],
)
def test_the_word_stands_on_the_row(steps: list[Recorded], word: Word) -> None:
    row = act_row([CALL, *steps])
    assert row.word is word
    assert f"Bash    {f' {word}' if word else ''}" in text_of(act_line(row, 80))


def test_a_refusal_says_why() -> None:
    assert shown(CALL, step("decision", {"text": "it is main"}, effect="deny")).endswith("denied make all → it is main")


def test_a_call_without_a_result_says_so() -> None:
    assert shown(CALL).endswith("→ (no result)")


def test_a_file_that_was_read_is_all_there_is_to_say() -> None:
    call = step("tool_call", {"args": {"file_path": "/srv/shop/a.py"}}, tool="Read")
    assert shown(call, step("tool_result", {"output": "import os"}, success=True)) == "  Read     a.py"


def test_a_patch_is_named_by_its_files() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n+x\n*** Add File: b.py\n"
    assert shown(step("tool_call", {"args": {"input": patch}}, tool="apply_patch")).startswith(
        "  apply_patch a.py  b.py"
    )


@pytest.mark.parametrize("kind", ["model_call", "usage", "session_start", "sighting"])
def test_what_is_no_part_of_the_work_is_quiet(kind: str) -> None:
    assert act_row([step(kind)]).kind is Kind.QUIET


def test_a_prompt_is_a_heading_on_one_line() -> None:
    assert shown(step("user", {"text": "fix it\nplease"})) == "› fix it please"
    assert act_row([step("user", {"text": "x"}, origin="injected")]).kind is Kind.QUIET


def test_a_request_that_no_one_typed_says_of_which_kind_it_is() -> None:
    assert shown(step("user", {"text": "go on"}, origin="injected", asks="hook")) == "› [hook] go on"
    assert shown(step("user", {"text": "go on"}, revises=3)) == "› go on"


def test_an_alert_of_no_call_is_shown() -> None:
    assert act_row([step("alert", {"text": "odd"})]).kind is Kind.EVENT


@given(st.text(max_size=200), st.text(max_size=200), st.integers(30, 130))
def test_no_row_is_wider_than_asked(command: str, output: str, width: int) -> None:
    call = step("tool_call", {"args": {"command": command}}, tool="界" * 30)
    row = act_row([call, step("tool_result", {"output": output}, success=False, duration_ms=61_000)])
    assert width_of(text_of(act_line(row, width))) <= width
