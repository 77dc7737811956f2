"""The parts that many rows have."""

from tallystick.display.parts import bracketed, call, names, short_id, text_below, took, value_below, verdict, word_of
from tallystick.display.said import Tone, text_of
from tests.display.telling import step
from tests.support.cases import each_case


@each_case("members, text")
def test_a_duration_is_shown_where_somebody_measured_it(members: dict[str, object], text: str) -> None:
    assert took(step("tool_result", **members)).text == text  # type: ignore[arg-type]


@each_case("text, shown")
def test_an_id_is_as_short_as_it_can_be_told_apart(text: str, shown: str) -> None:
    assert short_id(text) == shown
    assert call(step("tool_call", corr=text)).text == f" [{shown}]"


def test_members_of_another_kind_than_they_should_be_say_nothing() -> None:
    odd = step("tool_call", tool=["Bash"], corr=5)
    assert word_of(odd, "tool") == ""
    assert call(odd).text == ""
    assert names("no list") == names(None) == ""
    assert bracketed("").text == ""


def test_a_verdict_that_is_missing_is_unknown_never_an_approval() -> None:
    assert verdict("") == ("unknown", Tone.WARNING)
    assert verdict("ALLOW").tone is verdict("CONTINUE").tone is Tone.GOOD
    assert verdict("DENY").tone is verdict("PAUSE").tone is Tone.BAD
    assert verdict("REORIENT").tone is verdict("MODIFY").tone is verdict("whatever").tone is Tone.WARNING


def test_a_text_is_shown_up_to_a_limit_with_the_way_to_the_rest() -> None:
    shown = [text_of(line) for line in text_below(step("user"), "x\n" * 1000, label="said", most=3)]
    assert shown == ["said: x", "x", "x", "… all of it: tally show abababab:7"]
    long = [text_of(line) for line in text_below(step("user"), "y" * 100_000)]
    assert len(long[0]) == 50 * 1024
    assert long[1].startswith("… all of it")


def test_a_value_that_is_no_text_is_shown_as_json_with_sorted_names() -> None:
    found = [
        text_of(line) for line in value_below(step("tool_result", values={"output": {"b": 1, "a": [2]}}), "output")
    ]
    assert "".join(found).replace(" ", "") == '{"a":[2],"b":1}'
    assert list(value_below(step("tool_result"), "output")) == []
