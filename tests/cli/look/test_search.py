"""Searching on the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson


def test_a_hit_is_shown_with_its_text(tally: Tally, full: Path) -> None:
    shown = tally("search", "forced", "pushes", "--tool", "Bash").stdout.splitlines()
    assert len(shown) == 4
    (at,) = (n for n, line in enumerate(shown) if line.endswith(":47  claude-code  tool_result  Bash  output"))
    assert shown[at + 1] == (
        "    PreToolUse:Bash hook error: Forced pushes to main are not allowed in this project. Open a pull request."
    )


def test_a_hit_with_some_of_the_words_says_which_it_does_not_have(
    tally: Tally, tally_json: TallyJson, full: Path
) -> None:
    shown = tally("search", "forced", "zzzqqq", "--tool", "Bash").stdout.splitlines()
    assert shown[0].endswith("  partial, without zzzqqq")
    found = tally_json("search", "forced", "zzzqqq", "--tool", "Bash")["hits"]
    assert {(hit["partial"], *hit["missing"]) for hit in found} == {(True, "zzzqqq")}
    assert {hit["partial"] for hit in tally_json("search", "forced", "--tool", "Bash")["hits"]} == {False}


def test_filters_fields_and_order(tally_json: TallyJson, full: Path) -> None:
    def found(*words: str) -> list[int]:
        return [hit["step"]["n"] for hit in tally_json("search", *words)["hits"]]

    assert found("discount", "--in", "prompt", "--session", "a42b3437") == []
    assert found("customer", "--in", "prompt") == [1]
    assert found("--type", "tool_call", "push", "--agent", "claude-code") == [46]
    assert found("push", "--newest") != []
    assert found("pushes", "--failed", "--agent", "claude-code") == [47]
    assert set(found("discount", "--path", "totals.py")) < set(found("discount", "--limit", "100"))
    assert found("zzzqqq") == []


def test_common_words_are_said_to_be_common(tally: Tally, full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.search.MOST_RANKED", 1)
    assert "the newest come first, not the best" in tally("search", "receipt").stderr
    assert "the newest come first" not in tally("search", "receipt", "--newest").stderr
    assert "the newest come first" not in tally("search", "zzzqqq").stderr


def test_hostile_words_are_words(tally: Tally, full: Path) -> None:
    for text in ('"', "*", "a OR", "NEAR(", "-x", "'; DROP TABLE steps; --", "col:1", "\x00", "{"):
        assert tally("search", "--", text).exit_code == 0, text


def test_a_cut_answer_says_so(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert len(tally_json("search", "receipt", "--limit", "2")["hits"]) == 2
    assert "Showing 2" in tally("search", "receipt", "--limit", "2").stderr


def test_nothing_found_is_no_failure(tally: Tally, full: Path) -> None:
    result = tally("search", "zzzqqq")
    assert (result.exit_code, result.stdout) == (0, "nothing found\n")


def test_an_unknown_field_is_a_mistake(tally: Tally, full: Path) -> None:
    assert tally("search", "x", "--in", "titles").exit_code == 64
