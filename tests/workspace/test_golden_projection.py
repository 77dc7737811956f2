from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tallystick.graph import rules
from tallystick.journal.home import Home
from tests.workspace.golden_projection import GOLDEN, golden, record

_AGAIN = "if that is meant, run `python -m tests.workspace.golden_projection`"
_WATCHED = """
import sys
package, opened = sys.argv[2], set()

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(package):
        opened.add(arguments[0][len(package) + 1 :])

sys.addaudithook(watch)
from pathlib import Path
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.workspace.indexing import bring_up_to_date

home = Home(Path(sys.argv[1]))
with Graph(home.graph, Mode.WRITE) as graph:
    print(bring_up_to_date(home, graph).steps)
print(*(name for name in sys.modules if name.partition(".")[0] == "tallystick"))
print(*(name for name in opened if "__pycache__" not in name))
"""


def test_rows_are_as_they_were_or_the_rules_have_changed() -> None:
    before, now = json.loads(GOLDEN.read_bytes()), golden()
    if now["rows"] != before["rows"]:
        assert now["rules"] != before["rules"], (
            "rows have changed, and the digest of the rules has not: see graph/rules.py"
        )
        assert now["rows"] == before["rows"], f"rows have changed: {_AGAIN}"


def test_tables_are_as_they_were_or_have_another_version() -> None:
    before, now = json.loads(GOLDEN.read_bytes()), golden()
    if now["tables"] != before["tables"]:
        assert now["schema"] != before["schema"], "the tables have changed: add one to SCHEMA (graph/graph.py)"
    assert (now["schema"], now["tables"]) == (before["schema"], before["tables"]), f"the tables have changed: {_AGAIN}"


def test_whatever_is_loaded_or_read_while_journals_are_projected_is_among_the_rules(tmp_path: Path) -> None:
    record(Home(tmp_path / "store"))
    command = [sys.executable, "-c", _WATCHED, str(tmp_path / "store"), str(rules.PACKAGE)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    steps, modules, opened = done.stdout.splitlines()
    assert int(steps) > 700
    digest, stamps = rules.computed(rules.PACKAGE)
    assert set(modules.split()) - {"tallystick.graph.rules"} <= rules.reached(rules.PACKAGE)
    ours = {"graph/rules.json", "catalog/compiled.json"}
    assert {name for name in opened.split() if not Path(name).name.startswith(".")} - ours <= set(stamps)
    assert digest
