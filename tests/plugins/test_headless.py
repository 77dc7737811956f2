from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tallystick.plugins import headless
from tallystick.plugins.headless import Event, FileManager, SessionManager, read_log

README = """
from tallystick.plugins.headless import Event, SessionManager
with SessionManager() as manager:
    session = manager.create("release-notes", {"version": "2.4.0"})
    session.add_event(Event(type="user", content="write the notes"))
    session.close()
"""


def test_every_name_is_there() -> None:
    assert [name for name in headless.__all__ if not hasattr(headless, name)] == []
    assert sorted(headless.__all__) == list(headless.__all__)


def test_the_example_of_the_module_runs(tmp_path: Path) -> None:
    environment = {"TALLY_HOME": str(tmp_path / "store"), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", README], env=environment, check=True)
    assert (tmp_path / "store" / "ledger.jsonl").exists()


def test_a_session_of_journals_can_be_copied_to_a_file_and_back(tmp_path: Path) -> None:
    with SessionManager(home=tmp_path / "store") as journals, FileManager(tmp_path / "files") as files:
        session = journals.create("w", {"a": "b"})
        for text in ("one", "two"):
            session.add_event(Event(type="user", content=text))
        session.status, session.outputs = "complete", {"o": "1"}
        journals.update(session)
        log = journals.store.load(session.id)
        assert isinstance(files.store, headless.FileStore)
        files.store.save(log)
        assert read_log(tmp_path / "files" / f"{session.id}.jsonl").as_log() == log
        assert log.status == "complete"


def test_importing_it_loads_no_command_line_and_no_terminal() -> None:
    code = (
        "import sys, tallystick.plugins.headless; print([m for m in ('click', 'textual', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
