"""What commands print for people about the sample sessions, in a store whose clock and randomness are fixed.

    python -m tests.cli.printed

writes it to `printed.txt`. Where a text changes on purpose, run it; the difference in that file is then part of the change.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from contextlib import chdir, closing
from datetime import UTC
from hashlib import sha256
from itertools import count
from pathlib import Path

from click.testing import CliRunner

from tallystick.agents import adapters
from tallystick.capture.discover import Found, recognise
from tallystick.cli import main
from tallystick.graph.journals import Depth
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.setup.demo import lay_out_samples
from tallystick.workspace.indexing import open_index

KEPT = Path(__file__).with_suffix(".txt")
COMMANDS = """\
alerts
anchor list
anchor status
artifact list
artifact list --limit 2
artifact show receipts/totals.py
artifact show https://changes.example.org/widget/2.4.0.txt
artifact unexplained
checkpoint diff 9742946b 025f4e25
checkpoint list
checkpoint show e10dd8d7
checkpoint show 9742946b
checkpoint verify
cost
cost --by day
coverage
coverage a42b3437
export a42b3437 --format nothing
graph receipts/totals.py
graph a42b3437:3 --format mermaid
impact https://changes.example.org/widget/2.4.0.txt
impact https://example.com/
log --limit 19
log --session a42b3437 --failed
log --session b24cfaf4
log --since yesterdayish
policy explain a42b3437:46
policy explain a42b3437:9
replay 5e38b0f4 --no-pager
replay --no-such-option
search discount
search nothingofthiskind
session diff a42b3437 1a0747ea
session list
session list --agent codex
session provenance a42b3437
session provenance 5e38b0f4
session show 5e38b0f4
session show a42b3437
session show b24cfaf4
session tree
session tree a42b3437
show a42b3437:1
show a42b3437:46
show a42b3437:47
show b24cfaf4:7
signer status
sql 'SELECT type, count(*) AS steps FROM session_events GROUP BY type ORDER BY type'
sql 'SELECT nothing'
status
taint a42b3437
taint b24cfaf4
verify
verify --max-age soon
verify 5e38b0f4
verify-log
why README.md
why a42b3437:9
why receipts/totals.py
"""


def fill(folder: Path) -> None:
    """Make `folder` a home folder whose store holds the sample sessions."""
    lay_out_samples(folder)
    numbers = count()
    home = Home(folder / ".tally")

    def clock() -> str:
        return f"2026-01-01T{next(numbers) // 3_600_000 % 24:02d}:00:00.000000Z"

    def seeds() -> bytes:
        return sha256(f"printed {next(numbers)}".encode()).digest()

    Archive.make(home, clock=clock, seeds=seeds)
    with closing(Archive(home, clock=clock, seeds=seeds)) as archive:
        known = adapters()
        Importer(archive, known, UTC).run([item for item in recognise([folder], known) if isinstance(item, Found)])
    with open_index(home, depth=Depth.TEXT):
        pass


def printed(folder: Path, command: str) -> str:
    """A command and all that it prints."""
    environment = {"HOME": str(folder), "TALLY_HOME": None, "NO_COLOR": None, "COLUMNS": "140", "TERM": "xterm"}
    with chdir(folder):
        done = CliRunner(env=environment).invoke(main, shlex.split(command))
    shown = re.sub(r"(?m)^(on disk +).*", r"\1…", done.output.replace(str(folder), "~"))
    return "".join(f"{line}\n" for line in (f"$ tally {command}", *shown.splitlines(), f"exit {done.exit_code}"))


def kept() -> dict[str, str]:
    """What the file says that a command prints."""
    blocks = re.findall(r"^\$ tally .*\n(?:(?!\$ tally ).*\n)*", KEPT.read_text("utf-8"), flags=re.MULTILINE)
    return {block.partition("\n")[0].removeprefix("$ tally "): block for block in blocks}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name))
        KEPT.write_text("".join(printed(Path(name), command) for command in COMMANDS.splitlines()), "utf-8")
