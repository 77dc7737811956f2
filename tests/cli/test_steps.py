"""What agents wrote is shown, whatever it is, and never obeyed."""

import json
import re
import unicodedata
from pathlib import Path

import pytest

from tallystick.cli.steps import step_line
from tallystick.display.text import width_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input
from tallystick.recording.recorder import Recorder
from tests.cli.conftest import Tally
from tests.support.cases import each

# A colour that no command uses, the clipboard, the title, the cursor, a hyperlink, text from right to left, and lines that
# look like ours. `[bold red]` is markup of the library that draws progress bars.
EVIL = (
    "\x1b[35mpurple\x1b]52;c;cm0gLXJm\x07\x1b]0;title\x07\x1b[2J\x1b[1;1H\x9b35m\x1b]8;;http://x\x07link\x07"
    "\u202egnp.exe\u2066\u200b\ufeff\r\x08\x00[bold red]markup[/]\u2028sound: 1 step\n  integrity     intact\n\udcff"
)
OUR_COLORS = re.compile(r"\x1b\[(?:0|1|2|4|3[1-6]|9[1-6])m")
COMMANDS = (
    ("session", "list"),
    ("session", "show", "evil"),
    ("session", "tree"),
    ("log",),
    ("log", "--failed"),
    ("log", "--graph"),
    ("replay", "evil-session"),
    ("replay", "evil-session", "-v"),
    ("replay", "evil-session", "-vv", "--merge"),
    ("show", "evil-session:0"),
    ("show", "evil-session:1"),
    ("show", "evil-session:2"),
    ("show", "evil-session:3"),
    ("show", "evil-session:4", "--input"),
    ("search", "purple"),
    ("verify",),
    ("status",),
    ("erase", "evil-session:1", "--field", "content.text", "--reason", EVIL.replace("\x00", "").replace("\udcff", "")),
)


def only_visible(text: str) -> bool:
    return all(
        character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in text
    )


@pytest.fixture
def evil(user: Path) -> Path:
    """A store into which a hostile agent has recorded."""
    with Recorder(user / ".tally") as recorder, recorder.session("evil-agent", "evil-session", cwd=EVIL) as session:
        session.prompt(EVIL + "x" * 1_000_000)
        session.step("tool_call", content={"args": {"command": EVIL}}, tool=EVIL, source_id="call")
        session.step("tool_result", content={"output": [EVIL, {EVIL: EVIL}], "error": EVIL}, tool=EVIL, success=False)
        session.step("model_call", model=EVIL, input=Input.PATH, content={"error": EVIL})
        session.step("odd_type", content={"odd": EVIL}, decision=EVIL, decided_by=EVIL)
    return user


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_lets_a_terminal_obey_an_agent(tally: Tally, evil: Path, words: tuple[str, ...]) -> None:
    result = tally(*words, color=True)
    assert result.exit_code == 0, result.output
    assert only_visible(OUR_COLORS.sub("", result.stdout))
    assert only_visible(OUR_COLORS.sub("", result.stderr))


@pytest.mark.parametrize("words", COMMANDS[:-1], ids=" ".join)
def test_json_is_plain_ascii(tally: Tally, evil: Path, words: tuple[str, ...]) -> None:
    result = tally(*words, "--json")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"[ -~\n]*", result.stdout)
    json.loads(result.stdout)


def test_markup_is_text(tally: Tally, evil: Path) -> None:
    assert "[bold red]markup[/]" in tally("show", "evil-session:2").stdout


def test_a_forged_line_stays_within_its_step(tally: Tally, evil: Path) -> None:
    lines = tally("replay", "evil-session", "-v").stdout.splitlines()
    assert not any(line.startswith(("sound", "  integrity")) for line in lines)
    assert sum(line.partition("│")[0].strip().isdigit() for line in lines) == 7


def test_a_prompt_of_a_megabyte_takes_one_line(tally: Tally, evil: Path) -> None:
    assert all(width_of(line) <= 120 for line in tally("log").stdout.splitlines())
    assert all(width_of(line) <= 120 for line in tally("session", "list").stdout.splitlines())


def step(**members: object) -> Recorded:
    meta = {
        "type": "assistant",
        "recorded": "2026-01-02T03:04:05.000006Z",
        "ts": "2026-01-01T00:00:00.000000Z",
        **members,
    }
    values = {"content.text": "first\nsecond\n" + "line\n" * 100}
    return Recorded(session="ab" * 16, n=7, hash="cd" * 32, prev="ef" * 32, parents=(), meta=meta, values=values)


@each("width", [40, 80, 109, 110, 200])
def test_a_step_is_one_line_within_its_columns(width: int) -> None:
    line = step_line(step(tool="a-tool-with-a-very-long-name-indeed", duration_ms=1234), width, place="    7")
    assert width_of(line) <= max(width, 86)
    assert "1.2 s" in line
    assert "first …" in line


def test_the_time_is_when_it_happened_or_else_when_it_was_recorded() -> None:
    assert step_line(step(), 120, place="7").startswith("2026-01-01 00:00:00")
    assert step_line(step(ts=None, source="hook"), 120, place="7").startswith("2026-01-02 03:04:05")
    assert step_line(step(ts=None, source="transcript"), 120, place="7").startswith("[2026-01-02 03:04]")
    assert step_line(step(ts=None, source="transcript"), 80, place="7").startswith("[01-02 03:04]")
    assert step_line(step(ts=None, source="hook"), 80, place="7").startswith("01-02 03:04:05")
