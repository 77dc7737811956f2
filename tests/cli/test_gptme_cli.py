"""The words of `gptme provenance`, on the sample store."""

from __future__ import annotations

import pytest

from tallystick.cli.gptme_cli import main
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index
from tests.support.cases import each


def run(capsys: pytest.CaptureFixture[str], home: Home, *words: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end:
        main(["--dir", str(home.folder), *words])
    return end.value.code, capsys.readouterr().out


@pytest.fixture
def session(samples: Home) -> str:
    with open_index(samples) as index:
        return list_sessions(index.graph, SessionFilter(agents=("gptme",)))[0].session


def test_a_session_is_verified_in_one_line(samples: Home, session: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, samples, "verify", session)
    assert code == 0
    assert text.startswith("✅ valid | ")
    assert " steps | truncated: " in text


def test_a_changed_session_is_not_valid(samples: Home, session: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = samples.journal(session)
    assert path is not None
    path.write_bytes(path.read_bytes().replace(b'"n":1,', b'"n":7,', 1))
    code, text = run(capsys, samples, "verify", session)
    assert code in (2, 4)
    assert text.startswith("❌ INVALID | ")


def test_sessions_are_listed_shown_and_replayed(
    samples: Home, session: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert session[:8] in run(capsys, samples, "list")[1]
    assert "gptme" in run(capsys, samples, "show", session)[1]
    whole = run(capsys, samples, "replay", session)[1].splitlines()
    assert len(whole) > 3
    later = run(capsys, samples, "replay", session, "--from-step", f"{session}:2")[1].splitlines()
    assert len(later) < len(whole)


@each("words, code", [(["--help"], 0), ([], 64), (["vrify"], 64)])
def test_it_says_how_it_is_used(words: list[str], code: int) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == code
