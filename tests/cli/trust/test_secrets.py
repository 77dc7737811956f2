"""Old secrets on the command line."""

from pathlib import Path

from tallystick.journal.home import Home
from tallystick.model.step import Source, Step
from tallystick.recording.session_writer import SessionWriter
from tests.cli.conftest import Tally, TallyJson


def test_a_clean_store_says_so(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    result = tally("secrets", "scan")
    assert result.exit_code == 0
    assert "no secret found in " in result.stdout
    assert tally_json("secrets", "scan")["secrets"] == []


def test_options_that_do_not_go_together_are_refused(tally: Tally, full: Path) -> None:
    assert tally("secrets", "scan", "--erase").exit_code == 64
    assert tally("secrets", "scan", "--reason", "x").exit_code == 64
    assert tally("secrets", "scan", "--yes").exit_code == 64
    assert tally("secrets", "scan", "nothing-like-it").exit_code == 1


def test_an_old_secret_is_listed_and_erased(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    secret = "Sw0rdf1sh!x9"
    assert tally("config", "set", "secrets.scrub", "off").exit_code == 0
    text = f"password={secret}"
    with SessionWriter(Home(full / ".tally")) as writer:
        values = {"content.text": text, "content.output": text}
        writer.add("agent", Step(session="old", type="assistant", source=Source.SDK, source_id="m1", values=values))
    found = tally("secrets", "scan")
    assert found.exit_code == 2
    assert "content.text  password\n" in found.stdout
    assert secret not in found.stdout
    asked = tally("secrets", "scan", "--erase", "--reason", "too early", "--yes")
    assert asked.exit_code == 0
    assert "erased 2 values" in asked.stdout
    assert tally_json("secrets", "scan")["secrets"] == []
    assert tally("verify").exit_code == 0
