"""Evidence on a disk that cannot be written: every question has its answer, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tallystick.graph.compare import session_digests
from tallystick.graph.journals import Depth
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.journal.home import Home
from tallystick.plugins.headless import Event, SessionManager
from tallystick.recording.recorder import Recorder
from tallystick.workspace import index_elsewhere
from tallystick.workspace.index_elsewhere import REMARK
from tallystick.workspace.indexing import open_index

_MOUNT = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
_IS_ROOT = os.getuid() == 0
QUESTIONS = (
    ("session", "list"),
    ("session", "tree"),
    ("replay", "receipts-currency"),
    ("search", "currency"),
    ("cost",),
    ("export", "receipts-currency", "--format", "jsonl"),
    ("log",),
    ("why", "/home/dev/project/receipts/export.py"),
    ("verify",),
    ("sql", "SELECT count(*) FROM sessions"),
)


def _can_mount() -> bool:
    program = shutil.which("unshare")
    words = [str(program), "-m", "sh", "-c", "mount --bind /tmp /tmp"]
    return program is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(_IS_ROOT and not _can_mount(), reason="nothing can be made read-only for root here")


_ASK = """
import json, subprocess, sys
from tallystick.__main__ import main
import os
for words in json.loads(sys.argv[2]):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        sys.argv = ["tally", "--home", sys.argv[1], *words]
        main()
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said]), flush=True)
"""


def asked(home: Home, questions: Sequence[Sequence[str]], *before: str, **environment: str) -> list[tuple[int, str]]:
    """Exit code and words of several commands, in one process that forks for each."""
    command = [*before, "env", "COLUMNS=160", sys.executable, "-c", _ASK, str(home.folder), json.dumps(questions)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=True)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def read_only(home: Home) -> tuple[str, ...]:
    """What a command begins with so that its store is on a read-only mount; permissions are enough for all but root."""
    if _IS_ROOT:
        return ("unshare", "-m", "sh", "-c", _MOUNT, "sh", str(home.folder))
    return ()


@pytest.fixture
def evidence(samples: Home) -> Home:
    """A store with an index, which only root could write from now on."""
    with open_index(samples, depth=Depth.TEXT):
        pass
    return samples


def protect(home: Home) -> None:
    """Take from everyone the permission to write a store."""
    for path in (home.folder, *home.folder.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)


def unprotect(home: Home) -> None:
    """Give it back, so that the folder of a test can be removed."""
    for folder in (home.folder, *(path for path in home.folder.rglob("*") if path.is_dir())):
        folder.chmod(0o700)


def _files(home: Home) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in home.folder.rglob("*")}


@needs_mount
@pytest.mark.parametrize("has_index", [True, False], ids=["with an index", "without"])
def test_every_question_is_answered_and_nothing_is_left_behind(evidence: Home, has_index: bool, tmp_path: Path) -> None:
    questions = QUESTIONS if has_index else QUESTIONS[:4]
    expected = asked(evidence, questions)
    if not has_index:
        for path in evidence.folder.glob("graph.db*"):
            path.unlink()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    protect(evidence)
    before = _files(evidence)
    try:
        found = asked(evidence, questions, *read_only(evidence), TMPDIR=str(temporary))
        assert [(code, said.replace(f"tally: {REMARK}\n", "")) for code, said in found] == expected
        assert {code for code, _ in found} == {0}
        assert sum(REMARK in said for _, said in found) == (0 if has_index else len(questions))
        assert _files(evidence) == before
        assert list(temporary.iterdir()) == []
    finally:
        unprotect(evidence)


@needs_mount
def test_a_session_log_on_a_read_only_disk_is_read(home: Home, tmp_path: Path) -> None:
    with SessionManager(home=home.folder) as manager:
        session = manager.create("w")
        session.add_event(Event(type="user", content="hello"))
        session.close()
    code = (
        "import sys\nfrom tallystick.plugins.headless import SessionManager\n"
        "with SessionManager(home=sys.argv[1]) as manager:\n"
        f"    session = manager.get({session.id!r})\n"
        "    print([event.content for event in session.events])\n    session.close()\n"
    )
    command = [*read_only(home), sys.executable, "-c", code, str(home.folder)]
    protect(home)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        unprotect(home)
    assert (done.stdout.strip(), done.stderr) == ("['hello']", "")


def _as_if_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.workspace.indexing.is_writable", lambda home: home.graph.parent != home.folder)


def test_what_the_index_of_the_store_lacks_is_in_the_temporary_one(
    evidence: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Recorder(evidence.folder) as recorder:
        recorder.session("demo", "new")
    with monkeypatch.context() as patch:
        _as_if_read_only(patch)
        patch.setattr(tempfile, "tempdir", str(tmp_path))
        own, bytes_before = evidence.graph, evidence.graph.read_bytes()
        with open_index(evidence) as index:
            assert (index.remarks, len(list_sessions(index.graph, SessionFilter()))) == ([REMARK], 9)
            assert evidence.graph == index.graph.path != own
            with open_index(evidence) as again:  # a command may ask twice
                assert session_digests(again.graph) == session_digests(index.graph)
        assert (evidence.graph, own.read_bytes()) == (own, bytes_before)
        assert not list(tmp_path.glob("tally-index-*"))


def test_a_copy_of_a_store_uses_the_index_that_came_with_it(
    evidence: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = Home(tmp_path / "copy")
    shutil.copytree(evidence.folder, copy.folder)
    _as_if_read_only(monkeypatch)
    with open_index(copy, depth=Depth.TEXT) as index:
        assert (index.remarks, index.graph.path) == ([], copy.graph)


def test_half_an_index_is_not_gone_on_with(evidence: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_index(evidence) as index:
        expected = session_digests(index.graph)
    evidence.graph.write_bytes(evidence.graph.read_bytes()[:20_000])
    _as_if_read_only(monkeypatch)
    with open_index(evidence, depth=Depth.TEXT) as index:
        assert session_digests(index.graph) == expected
    assert index_elsewhere.is_writable(evidence)
