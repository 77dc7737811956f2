"""Erasing on the command line."""

from pathlib import Path

from tests.cli.conftest import Tally, TallyJson


def test_a_value_is_gone_everywhere_and_the_record_says_why(tally: Tally, full: Path) -> None:
    assert "hook error" in tally("search", "forced", "pushes").stdout
    result = tally("erase", "a42b3437:47", "--field", "content.output", "--reason", "it named a project")
    assert result.exit_code == 0
    assert "erased content.output from " in result.stdout
    assert "hook error" not in tally("search", "forced", "pushes").stdout
    shown = tally("show", "a42b3437:47").stdout
    assert "Forced pushes" not in shown
    assert "it named a project" in shown
    assert "(request)" in shown
    assert "▧ withheld: " in tally("replay", "a42b3437", "--from", "47", "--limit", "1").stdout
    assert tally("verify", "a42b3437").exit_code == 0


def test_erasing_again_does_nothing(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    words = ("erase", "a42b3437:47", "--field", "content.output", "--reason", "asked")
    assert tally_json(*words)["names"] == ["content.output"]
    again = tally(*words)
    assert again.exit_code == 0
    assert "erased" in again.stdout


def test_an_image_goes_with_its_file(tally: Tally, full: Path) -> None:
    result = tally("erase", "a42b3437:21", "--field", "content.part_0", "--reason", "a face")
    assert "93 bytes of blobs" in result.stdout
    assert not [path for path in (full / ".tally" / "blobs").rglob("*") if path.is_file()]
    assert tally("verify").exit_code == 0


def test_what_cannot_be_erased_is_refused(tally: Tally, full: Path) -> None:
    assert tally("erase", "a42b3437:47", "--field", "meta", "--reason", "x").exit_code == 1
    assert tally("erase", "a42b3437:47", "--field", "content.nothing", "--reason", "x").exit_code == 1
    assert tally("erase", "a42b3437:47", "--field", "output", "--reason", "x").exit_code == 64
    assert tally("erase", "a42b3437:47", "--reason", "x").exit_code == 64
    assert tally("erase", "a42b3437:47", "--field", "content.output").exit_code == 64


def test_the_title_of_a_session_whose_first_prompt_was_erased_is_no_other_prompt(
    tally: Tally, tally_json: TallyJson, full: Path
) -> None:
    shown = tally_json("session", "show", "a42b3437")
    first = shown["requests"][0]
    assert first["prompt"].startswith(shown["session"]["title"])
    assert tally("erase", f"a42b3437:{first['n']}", "--field", "content.text", "--reason", "asked").exit_code == 0
    after = tally_json("session", "show", "a42b3437")
    assert after["session"]["title"] == "(erased)"
    assert (after["requests"][0]["prompt"], after["requests"][0]["is_erased"]) == (None, True)
    assert "(erased)" in tally("session", "show", "a42b3437").stdout
