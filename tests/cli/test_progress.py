"""Progress is for people at terminals."""

from pathlib import Path

from tallystick.setup.demo import lay_out_samples
from tests.cli.conftest import Tally
from tests.cli.test_context import on_a_terminal

LABELLED = """
import time
from tallystick.cli.progress import progress_bar
from tallystick.cli.context import Run
with progress_bar(Run(), 100) as advance:
    advance("[bold red]x\\x1b]0;title", 50)
    time.sleep(0.3)
"""


def test_a_bar_is_drawn_on_a_terminal_and_goes_when_it_is_done(user: Path) -> None:
    lay_out_samples(user)
    shown = on_a_terminal(user, "import", rows=80)
    assert "━" in shown
    assert "recorded 281 new steps" in shown
    assert "━" not in shown.split("recorded 281")[1]


def test_a_label_is_neither_markup_nor_obeyed(user: Path) -> None:
    shown = on_a_terminal(user, program=("-c", LABELLED))
    assert "[bold red]x␛]0;title" in shown
    assert "\x1b]0;" not in shown


def test_no_bar_is_drawn_anywhere_else(user: Path, tally: Tally) -> None:
    lay_out_samples(user)
    assert "━" not in tally("import").output
    assert "━" not in on_a_terminal(user, "import", "--again", "--quiet", rows=80)
    assert "━" not in on_a_terminal(user, "import", "--again", rows=80, TERM="dumb")


INDEXING = """
import time
from tallystick.cli.progress import index_line
from tallystick.cli.context import Run
with index_line(Run()) as told:
    told(1_000_000)
    time.sleep(1.1)
    told(1_500_000)
print("done")
"""


def test_an_index_that_takes_long_says_how_far_it_is_and_the_line_goes(user: Path) -> None:
    shown = on_a_terminal(user, program=("-c", INDEXING))
    assert "updating the index: 2.5 MB read" in shown
    assert "2.5 MB read\r\x1b[Kdone" in shown
