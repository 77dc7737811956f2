"""Delivering from inside another Python program, over a real recorder, a hanging one, and none."""

from __future__ import annotations

import contextlib
import enum
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import UserDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick.hook
import tallystick.plugins.deliver
from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tests.plugins.store import a_store, no_recorder_can_start, spooled, steps, stopped, until
from tests.support import hooks, recorders
from tests.support.cases import each

PATH = Path(tallystick.plugins.deliver.__file__)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with a_store(tmp_path) as store:
        yield store


@pytest.fixture
def deliver(home: Home, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as a plugin loads it: by its place, with a state of its own; and with time for a busy machine."""
    monkeypatch.setenv("TALLY_HOME", str(home.folder))
    module = loaded()
    monkeypatch.setattr(module, "_HOOK_SECONDS", 120.0)
    monkeypatch.setattr(module, "_HOOK", hooks.hook())
    return module


@pytest.fixture
def in_haste(deliver: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook's own limits, where the recorder will not answer."""
    monkeypatch.setattr(deliver, "_HOOK", hooks.hook(**hooks.HASTY))


def loaded() -> ModuleType:
    spec = spec_from_file_location("a_plugins_own_deliver", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(number: int, command: str = "echo hi") -> dict[str, Any]:
    """What Hermes' plugin says before a call."""
    return {
        "hook": "pre_tool_call",
        "at": time.time_ns(),
        "session": "s-1",
        "tool_name": "terminal",
        "args": {"command": command},
        "tool_call_id": f"c{number}",
    }


def calls(home: Home) -> set[str]:
    return {str(step.meta["corr"]) for step in steps(home, "hermes", "tool_call")}


def test_it_speaks_as_the_hook_of_this_version(deliver: ModuleType) -> None:
    assert deliver.VERSION == tallystick.hook.VERSION


def test_it_needs_nothing_but_the_standard_library() -> None:
    program = f"import runpy, sys; runpy.run_path({str(PATH)!r}); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    foreign = {name.partition(".")[0] for name in done.stdout.split()} - set(sys.stdlib_module_names) - {"__main__"}
    assert foreign == set()


def test_a_call_is_recorded_and_a_forbidden_one_denied(home: Home, deliver: ModuleType) -> None:
    recorders.start(home.folder)
    assert deliver.verdict("hermes", call(1)) is None
    word, reason = deliver.verdict("hermes", call(2, f"rm -rf {home.folder}"))
    until(lambda: calls(home) == {"c1", "c2"})
    (decision,) = steps(home, "hermes", "decision")
    assert (word, reason) == ("deny", decision.values["content.text"])


def test_the_first_delivery_starts_the_recorder(home: Home, deliver: ModuleType) -> None:
    assert deliver.deliver("hermes", call(1)) == deliver.SILENCE
    until(lambda: recorder.status(home.folder) is not None)
    until(lambda: calls(home) == {"c1"})


@pytest.mark.usefixtures("in_haste")
def test_without_a_recorder_the_hook_keeps_it_and_decides(home: Home, deliver: ModuleType) -> None:
    with no_recorder_can_start(home):
        verdict = deliver.verdict("hermes", call(1, f"rm -rf {home.folder}"))
        assert verdict is not None
        assert verdict[0] == "deny"
        assert [said["tool_call_id"] for said in spooled(home)] == ["c1"]
    recorders.start(home.folder)
    until(lambda: calls(home) == {"c1"})


@pytest.mark.usefixtures("in_haste")
def test_a_hanging_recorder_is_not_waited_for_and_loses_nothing(home: Home, deliver: ModuleType) -> None:
    pid = recorders.start(home.folder)
    with stopped(pid):
        began = time.monotonic()
        deliver.deliver("hermes", {**call(1), "hook": "post_tool_call"})
        took = time.monotonic() - began
    assert took >= 1.0, "its own patience; and it ended while the recorder hung"
    until(lambda: len(steps(home, "hermes", "tool_result")) == 1)


@pytest.mark.usefixtures("in_haste")
def test_an_answer_that_comes_in_drops_is_not_waited_for_without_end(home: Home, deliver: ModuleType) -> None:
    run = Place(home.folder).run
    run.mkdir(parents=True)
    Place(home.folder).pid.write_text(f"{os.getpid()}\n")
    end = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):  # it hangs up
            while not end.wait(0.2):
                connection.sendall(b"0")

    with no_recorder_can_start(home), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(run / "recorder.sock"))
        listener.listen(8)
        thread = threading.Thread(target=drip)
        thread.start()
        deliver.deliver("hermes", {**call(1), "hook": "post_tool_call"})
        end.set()
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [b"", b"\n", b"0 5 0\nabc", b"x y z\n", b"0 2 0\n[]", b"0 4 0\nnull", b'0 10 0\n{"deny":1}', b"\xff 0 0\n"],
)
def test_an_answer_that_is_none_is_silence(
    home: Home, deliver: ModuleType, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    deliver.use(python="/nowhere/python")
    monkeypatch.setattr(deliver, "_HOOK", home.folder / "gone.py")
    run = Place(home.folder).run
    run.mkdir(parents=True)
    Place(home.folder).pid.write_text(f"{os.getpid()}\n")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(run / "recorder.sock"))
        listener.listen(1)

        def reply() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)

        thread = threading.Thread(target=reply)
        thread.start()
        verdict = deliver.verdict("hermes", call(1))
        thread.join()
    assert verdict is None, "an interpreter without hook.py ends with 2, as a refusal does"


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell who listens")
@pytest.mark.usefixtures("in_haste")
def test_a_stranger_in_the_recorders_place_is_told_nothing(home: Home, deliver: ModuleType) -> None:
    run = Place(home.folder).run
    run.mkdir(parents=True)
    Place(home.folder).pid.write_text("1\n")
    with no_recorder_can_start(home), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(run / "recorder.sock"))
        listener.listen(8)
        with pytest.raises(OSError, match="in the recorder's place"):
            deliver._over_socket("hermes", b"{}")
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(1) == b""


def test_many_threads_deliver_at_once(home: Home, deliver: ModuleType) -> None:
    recorders.start(home.folder)
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda number: deliver.verdict("hermes", call(number)), range(64)))
    assert found == [None] * 64
    until(lambda: calls(home) == {f"c{number}" for number in range(64)})


def test_the_place_that_use_is_told_wins(tmp_path: Path, deliver: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert deliver.store() == Path(os.environ["TALLY_HOME"])
    deliver.use(home=str(tmp_path / "told"))
    deliver.use(home=None, python=None)
    assert deliver.store() == tmp_path / "told"


def test_the_environment_is_asked_once(home: Home, deliver: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLY_HOME", "/elsewhere")
    assert deliver.store() == home.folder
    assert loaded().store() == Path("/elsewhere")
    monkeypatch.delenv("TALLY_HOME")
    assert loaded().store() == Path.home() / ".tally"


def test_the_interpreter_is_the_one_told_else_the_installed_one_else_this(
    home: Home, deliver: ModuleType, tmp_path: Path
) -> None:
    assert deliver._python() == sys.executable
    installed = tmp_path / "python"
    installed.touch()
    run = Place(home.folder).run
    run.mkdir(parents=True)
    (run / "python").write_text(f"{installed}\n", "utf-8")
    assert deliver._python() == str(installed)
    deliver.use(python=str(tmp_path / "gone"))
    assert deliver._python() == sys.executable
    deliver.use(python=os.__file__)
    assert deliver._python() == os.__file__


@pytest.mark.parametrize("home", ["/nowhere\0", "/dev/null/x", "relative/nowhere"])
def test_a_store_that_cannot_be_is_silence(home: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = loaded()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_HOOK", tmp_path / "gone.py")
    module.use(python="/nowhere/python", home=home)
    assert module.deliver("hermes", call(1)) == module.SILENCE


# What agents hold ----------------------------------------------------------------------------------------------------


class Weird:
    """An object of somebody's that can do nothing right."""

    def __str__(self) -> str:
        raise RuntimeError("no")


class WeirdDict(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no")


class Color(enum.Enum):
    RED = object()


def circle() -> list[Any]:
    found: list[Any] = [1]
    found.append(found)
    return found


def deep() -> Any:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    return value


_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from([Weird(), Weird, Color.RED, {1, 2}, b"x", range(3), UserDict(a=1), "\ud800", object()])
    | st.builds(circle)
    | st.builds(lambda: 10**5000)
    | st.builds(WeirdDict, a=st.just(1))
)
_KEYS = st.text() | st.integers() | st.none() | st.tuples(st.integers()) | st.builds(Weird)
_OBJECTS = st.recursive(
    _LEAVES, lambda inner: st.lists(inner) | st.dictionaries(_KEYS, inner) | st.tuples(inner), max_leaves=12
)


@given(_OBJECTS)
def test_anything_can_be_written_and_what_stands_beside_it_is_kept(value: Any) -> None:
    said = json.loads(tallystick.plugins.deliver.written({"hook": "x", "value": value, "session": "s"}))
    assert (said["hook"], said["session"]) == ("x", "s")
    assert "value" in said


def test_what_json_holds_is_written_as_it_is() -> None:
    said = {"hook": "x", "args": {"a": [1, 2.5, None, True, "é"]}}
    assert json.loads(tallystick.plugins.deliver.written(said)) == said


@each(
    "value, seen",
    [
        (circle(), [1, "(circular)"]),
        ({(1, 2): 3}, {"(1, 2)": 3}),
        (Weird(), "(Weird)"),
        ([Weird(), 10**5000][1:], [hex(10**5000)]),
        (Path("/a"), "/a"),
    ],
    ids=["circle", "tuple-key", "no-text", "huge-number", "path"],
)
def test_what_json_has_no_form_for_is_named(value: Any, seen: Any) -> None:
    assert json.loads(tallystick.plugins.deliver.written({"value": value})) == {"value": seen}


def test_what_is_nested_too_deep_is_left_out_below() -> None:
    text = tallystick.plugins.deliver.written({"value": deep()})
    assert b"(left out)" in text
    assert len(text) < 1000


def test_a_strange_payload_is_delivered_for_all_that(home: Home, deliver: ModuleType) -> None:
    recorders.start(home.folder)
    deliver.deliver("hermes", {**call(1), "args": {"command": "x", "more": circle(), "weird": Weird()}})
    until(lambda: calls(home) == {"c1"})
    (step,) = steps(home, "hermes", "tool_call")
    assert step.values["content.args"] == {"command": "x", "more": [1, "(circular)"], "weird": "(Weird)"}
