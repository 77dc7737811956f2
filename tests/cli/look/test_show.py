"""One step on the command line."""

from pathlib import Path

from tests.cli.conftest import Tally, TallyJson

CALL = b"toolu_1e05ef29a1da40a58a42c595"


def test_a_step_is_shown_with_everything(tally: Tally, full: Path) -> None:
    shown = tally("show", "a42b3437:47").stdout
    for words in (
        "tool_result  Bash",
        "2026-11-21 22:30:24.032000 UTC",
        "DENIED by hook",
        "decision_reason  hook:PreToolUse",
        "content.output",
        "Forced pushes to main are not allowed in this project.",
        "the values match the hash",
    ):
        assert words in shown


def test_json_has_the_step_as_it_is_recorded(tally_json: TallyJson, full: Path) -> None:
    found = tally_json("show", "a42b3437:47")
    assert found["step"]["meta"]["decision"] == "deny"
    assert found["defect"] is None
    assert tally_json("show", found["step"]["hash"][:12]) == found


def test_an_image_is_named_by_its_size(tally: Tally, full: Path) -> None:
    assert "content.part_0  (blob of 93 bytes)" in tally("show", "a42b3437:21").stdout


def test_what_a_model_was_given(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    shown = tally("show", "a42b3437:45", "--input").stdout
    assert "A customer says that 15 % off" in shown
    assert "model_call" not in shown
    assert "the digest sealed with the call matches the 45 steps on its path" in shown
    assert tally_json("show", "a42b3437:45", "--input")["matches"]


def test_what_the_source_does_not_show(tally: Tally, user: Path) -> None:
    from tallystick.model.step import Input
    from tallystick.recording.recorder import Recorder

    with Recorder(user / ".tally") as recorder, recorder.session("demo", "hidden-input") as session:
        session.step("model_call", input=Input.HIDDEN)
    assert tally("show", "hidden-input:1", "--input").stdout == "input: not visible from this source\n"
    assert "not visible from this source" in tally("show", "hidden-input:1").stdout


def test_a_step_that_does_not_say_what_it_was_given(tally: Tally, full: Path) -> None:
    result = tally("show", "a42b3437:47", "--input")
    assert result.exit_code == 64
    assert "tool_result" in result.stderr


def test_a_tampered_step_is_shown_as_such(tally: Tally, full: Path) -> None:
    tally("log")  # so that the index knows the files of this copy
    journals = (full / ".tally" / "journals").rglob("*.jsonl")
    (path,) = [path for path in journals if CALL in path.read_bytes()]
    path.write_bytes(path.read_bytes().replace(b"Forced pushes", b"Gentle pushes"))
    shown = tally("show", "a42b3437:47").stdout
    assert "✕ the values do not match the hash" in shown


def test_a_step_is_shown_among_those_before_and_after_it(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    shown = tally("show", "a42b3437:47", "--around", "3").stdout.splitlines()
    assert len(shown) == 7
    assert [line.startswith("▶") for line in shown] == [False] * 3 + [True] + [False] * 3
    assert "denied" in shown[3]
    assert "push" in shown[3]  # a result stands on the line of its call
    found = tally_json("show", "a42b3437:47", "--around", "3")
    assert [act["is_asked"] for act in found["acts"]] == [False] * 3 + [True] + [False] * 3
    assert {46, 47} <= set(found["acts"][3]["numbers"])


def test_the_first_step_has_none_before_it_and_one_that_says_little_is_shown_where_it_is_asked_for(
    tally: Tally, full: Path
) -> None:
    first, *after = tally("show", "a42b3437:0", "--around", "2").stdout.splitlines()
    assert first.startswith("▶")
    assert "session_start" in first
    assert len(after) == 2
    assert len(tally("show", "a42b3437:0", "--around", "0").stdout.splitlines()) == 1


def test_what_a_model_was_given_and_what_is_around_are_two_questions(tally: Tally, full: Path) -> None:
    assert tally("show", "a42b3437:45", "--around", "2", "--input").exit_code == 64
