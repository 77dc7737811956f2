"""The hook as a process: whatever its surroundings are, the agent goes on and the delivery is kept."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import hook
from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tallystick.service.wire import read_header
from tests.service.faults import HOOK, before, run_hook, wait_for_calls
from tests.support import hooks, recorders
from tests.support.cases import each

DATA = json.dumps(before("claude-code", 1)).encode()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    store = Home(tmp_path / "user" / ".tally")
    store.folder.parent.mkdir()
    yield store
    kill(store)


def kill(home: Home) -> None:
    """End the recorder without waiting for all that it still loads."""
    owner = Place(home.folder).owner()
    if owner is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(owner, signal.SIGKILL)


def run(
    words: list[str], *, data: bytes = DATA, folder: Path | None = None, hook: Path | None = None, **variables: str
) -> int:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(hook or hooks.hook()), *words],
        input=data,
        capture_output=True,
        env=variables,
        cwd=folder,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    return done.returncode


def assert_recorded(home: Home) -> None:
    recorders.start(home.folder)
    wait_for_calls(home, 1)


# Where the store is ---------------------------------------------------------------------------------------------------


def test_without_any_word_it_is_below_home(home: Home) -> None:
    recorders.start(home.folder)
    assert run(["claude-code"], HOME=str(home.folder.parent)) == 0
    assert_recorded(home)


def test_a_relative_tally_home_is_where_the_agent_works(home: Home) -> None:
    recorders.start(home.folder)
    assert run(["claude-code"], HOME="/nowhere", TALLY_HOME=".tally", folder=home.folder.parent) == 0
    assert_recorded(home)


@each("words", [[], ["--home"], ["--home", ""], ["--home", "/proc/nothing/here", "claude-code"]])
def test_a_store_that_cannot_be_is_no_reason_to_say_anything(words: list[str]) -> None:
    said = b'{"hook_event_name": "Stop", "session_id": "s"}'
    assert run(words, data=said, hook=hooks.hook(**hooks.HASTY), TALLY_HOME="/proc/nothing") == 0


def test_without_home_it_is_the_folder_of_the_user() -> None:
    import pwd

    code = f"import sys; sys.path.insert(0, {str(HOOK.parent)!r}); import hook; print(hook.arguments(['a'])[0])"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, env={}, text=True, check=True)
    assert done.stdout.strip() == pwd.getpwuid(os.getuid()).pw_dir + "/.tally"


@pytest.mark.parametrize(
    "name",
    ["x" * 240 + "/" + "y" * 60, "a b'c\"d;$(e)", "naïve ü 名", "\udcff\udcfe"],
    ids=["long", "quotes", "words", "bytes"],
)
@pytest.mark.parametrize("there", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["recorder", "none"])
def test_the_path_of_a_store_may_be_anything(tmp_path: Path, name: str, there: bool) -> None:
    home = Home(tmp_path / name / "store")
    try:
        home.folder.mkdir(parents=True)
    except OSError:
        pytest.skip("this file system has no such names")
    try:
        if there:
            recorders.start(home.folder)
        for number in (1, 2):
            assert run_hook(home.folder, before("claude-code", number)).returncode == 0
        recorders.start(home.folder)
        wait_for_calls(home, 1, 2)
    finally:
        kill(home)


# What agents do to their children -------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", ["<&-", pytest.param(">&-", marks=pytest.mark.soak), "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_break_nothing(home: Home, closed: str) -> None:
    words = [sys.executable, "-I", "-S", str(hooks.hook()), "--home", str(home.folder), "claude-code"]
    data = home.folder.parent / "payload"
    data.write_bytes(DATA)
    feed = "" if "<" in closed else f" <{shlex.quote(str(data))}"
    command = f"{shlex.join(words)}{feed} {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], env={"HOME": "/"}, timeout=120, check=False)
    assert done.returncode == 0
    if "<" not in closed:
        assert_recorded(home)


def test_a_reader_who_went_away_breaks_nothing(home: Home) -> None:
    recorders.start(home.folder)
    reading, writing = os.pipe()
    os.close(reading)
    said = json.dumps(before("claude-code", 1, command=f"rm -rf {home.folder}")).encode()
    words = [sys.executable, "-I", "-S", str(hooks.hook()), "--home", str(home.folder), "claude-code"]
    try:
        done = subprocess.run(words, input=said, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_working_directory_that_is_gone_breaks_nothing(home: Home, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = shlex.join([sys.executable, "-I", "-S", str(hooks.hook()), "--home", str(home.folder), "claude-code"])
    command = f"cd {shlex.quote(str(gone))} && rmdir {shlex.quote(str(gone))} && {words}"
    done = subprocess.run(["/bin/sh", "-c", command], input=DATA, capture_output=True, env={}, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not gone.exists()
    assert_recorded(home)


def test_an_environment_of_nonsense_breaks_nothing(home: Home) -> None:
    words = ["--home", str(home.folder), "claude-code"]
    long = "\u2003a b \n" + "x" * 9000
    assert run(words, PATH="", TMPDIR="/not/there", LC_ALL="xx_XX", TALLY_SESSION=long, TZ="Nowhere/At/All") == 0
    assert_recorded(home)


def test_a_tight_umask_of_the_agent_is_not_the_recorders(home: Home) -> None:
    words = shlex.join([sys.executable, "-I", "-S", str(hooks.hook()), "--home", str(home.folder), "claude-code"])
    for mask in ("000", "777"):
        command = ["/bin/sh", "-c", f"umask {mask}; exec {words}"]
        subprocess.run(command, input=DATA, capture_output=True, env={}, timeout=120, check=True)
    assert_recorded(home)
    assert [path for path in home.folder.rglob("*") if path.lstat().st_mode & 0o077] == []


def test_an_installation_that_was_removed_meanwhile_leaves_the_agent_alone(home: Home, tmp_path: Path) -> None:
    lone = tmp_path / "hook.py"
    shutil.copy(HOOK, lone)  # without the file beside it
    words = [sys.executable, "-I", "-S", str(lone), "--home", str(home.folder), "claude-code"]
    done = subprocess.run(words, input=DATA, capture_output=True, env={}, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# What it is made of ---------------------------------------------------------------------------------------------------


def test_it_imports_nothing_that_costs_time(home: Home) -> None:
    recorders.start(home.folder)
    words = [
        sys.executable,
        "-I",
        "-S",
        "-X",
        "importtime",
        str(hooks.hook()),
        "--home",
        str(home.folder),
        "claude-code",
    ]
    done = subprocess.run(words, input=DATA, capture_output=True, env={}, timeout=120, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", "-c", "pass"], capture_output=True, env={}, check=True
    )
    already = {line.rpartition("|")[2].strip() for line in bare.stderr.decode().splitlines()}
    assert imported - already == {"_socket"}


def test_it_is_of_the_version_of_the_recorder(home: Home) -> None:
    recorders.start(home.folder)
    assert run_hook(home.folder, before("claude-code", 1)).returncode == 0
    assert (recorder.status(home.folder) or {})["version"] == hook.VERSION
    time.sleep(0.7)  # a recorder that heard of another version would have ended
    assert recorder.status(home.folder) is not None


_PLACE = st.text("abc./ é'\"$", min_size=1).map(lambda text: "/" + text)


@given(_PLACE, st.text("abc-", min_size=1), st.text("ABC", max_size=5))
def test_the_command_line_is_read_as_it_was_written(place: str, agent: str, event: str) -> None:
    words = ["--home", place, agent, *([event] if event else [])]
    assert hook.arguments(words) == (place, agent, event)


def test_what_it_says_is_what_the_recorder_reads(home: Home) -> None:
    home.folder.mkdir()
    (home.folder / "run").write_text("no folder, so the delivery is kept")
    words, hasty = ["--home", str(home.folder), "claude-code", "PostToolUse"], hooks.hook(**hooks.HASTY)
    assert run(words, hook=hasty, TALLY_SESSION="a session") == 0
    (file,) = (home.folder / "spool").glob("*.spool")
    line, _, data = file.read_bytes().partition(b"\n")
    header = read_header(line)
    assert (header.agent, header.event, header.monitor) == ("claude-code", "PostToolUse", "asession")
    assert (header.length, data) == (len(DATA), DATA + b"\nMAC \n")  # the store has no key of the spool
    (home.folder / "run").unlink()
