"""A replay's lines: headings, labels, colours."""

import re
import unicodedata
from pathlib import Path

import pytest

from tallystick.cli.timeline import Look, View
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.review.replay import Asked, replay
from tallystick.review.replay_sources import Cast, open_cast
from tallystick.sessions.timeline import Below, Counts, Track
from tests.cli.test_steps import EVIL
from tests.sessions.stepping import sid, track

SGR = re.compile(r"\x1b\[(?:0|1|2|33|9[1-6])m")


def cast_of(*tracks: Track, children: dict[str, tuple[Track, ...]] | None = None) -> Cast:
    return Cast(Home(Path("/nowhere")), tops=list(tracks), children=children or {})


@pytest.mark.parametrize("verbosity", [0, 1, 2])
def test_a_terminal_obeys_nothing_of_what_agents_write(user: Path, verbosity: int) -> None:
    with Recorder(user / ".tally") as recorder, recorder.session("evil-agent", "evil", cwd=EVIL) as session:
        session.prompt(EVIL)
        session.step("tool_call", content={"args": {"command": EVIL, EVIL: EVIL}}, tool=EVIL, source_id="call")
        session.step("tool_result", content={"output": [EVIL, {EVIL: EVIL}], "error": EVIL}, tool=EVIL, success=False)
        session.step("warning", content={"text": EVIL, "goal": EVIL})
        session.step("security_static", content={"taint_lineage": [{"block_id": EVIL, "source": EVIL, "trust": EVIL}]})
    with open_cast(Home(user / ".tally"), ["evil"], loads_blobs=True) as cast:
        view = View(cast, Look(width=100, verbosity=verbosity, is_mixed=True, is_styled=True))
        lines = list(view.lines(replay(cast, Asked())))
    for line in lines:
        shown = SGR.sub("", line)
        assert all(unicodedata.category(one) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for one in shown), line
    numbered = [line for line in lines if re.match(r" +\d+ A", SGR.sub("", line))]
    assert len(numbered) == 7


def test_the_colours_add_nothing_but_colours(samples: Home) -> None:
    with open_cast(samples, ["7c1f0a9e"]) as cast:
        plain = list(
            View(cast, Look(width=100, verbosity=2, is_mixed=False, is_styled=False)).lines(replay(cast, Asked()))
        )
        styled = list(
            View(cast, Look(width=100, verbosity=2, is_mixed=False, is_styled=True)).lines(replay(cast, Asked()))
        )
    assert [SGR.sub("", line).rstrip() for line in styled] == plain
    assert sum("\x1b[" in line for line in styled) > 50


def test_mixed_sessions_are_called_by_letters_and_what_hangs_on_them_by_numbers() -> None:
    tops = [track(letter) for letter in "abc"]
    children = {sid("b"): (track("d", "b0"), track("e", "b0")), sid("e"): (track("f", "e0"),)}
    view = View(cast_of(*tops, children=children), Look(width=100, verbosity=0, is_mixed=True, is_styled=False))
    heads = [line for line in view.lines(iter(())) if "·" in line]
    assert [line.split()[0] for line in heads] == ["A", "B", "B1", "B2", "B3", "C"]


def test_many_sessions_still_have_names_of_their_own() -> None:
    tops = [Track(session=f"{number:032x}", agent="demo") for number in range(60)]
    view = View(cast_of(*tops), Look(width=100, verbosity=0, is_mixed=True, is_styled=False))
    heads = [line.split()[0] for line in view.lines(iter(())) if "·" in line]
    assert heads[:2] == ["A", "B"]
    assert heads[26:28] == ["AA", "AB"]
    assert len(set(heads)) == len(heads) == 30


def test_the_last_lines_say_what_it_came_to_and_how_it_ended(samples: Home) -> None:
    with open_cast(samples, ["7c1f0a9e", "a42b3437"]) as cast:
        view = View(cast, Look(width=100, verbosity=0, is_mixed=False, is_styled=False))
        *_, totals, end = view.lines(replay(cast, Asked(below=Below.HIDE)))
    assert re.fullmatch(r"── \d+ steps, \d+ calls, \d+ failed, 2 denied, [\d,]+ tokens of 2 sessions ──", totals)
    assert re.fullmatch(r"   [0-9a-f]{8} ended: completed", end)


def test_what_is_known_of_a_session_stands_in_its_heading() -> None:
    one = track("a", source_session="own\x1bid", started="2026-01-02T03:04:05.000000Z", counts=Counts(steps=1200))
    cast = cast_of(one)
    cast.origins[one.session] = "/tmp/log\n.jsonl"
    head, note, _ = View(cast, Look(width=200, verbosity=0, is_mixed=False, is_styled=False)).lines(iter(()))
    assert head == "aaaaaaaa · demo · own␛id · 2026-01-02 03:04:05 · 1,200 steps · /tmp/log␊.jsonl"
    assert "nothing vouches" in note
