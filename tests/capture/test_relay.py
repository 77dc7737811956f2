"""The relay, with real children over real pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.capture._relay_lines import Lines
from tallystick.capture.relay import Change, Ended, Later, Limits, Line, Passing, Streams, Way, relay
from tallystick.errors import SourceError
from tests.support.cases import each
from tests.support.laws import examples

CAT = ("cat",)


def python(code: str) -> tuple[str, ...]:
    """A child that runs Python code."""
    return (sys.executable, "-I", "-S", "-c", textwrap.dedent(code))


class Run:
    """A relay on a thread, with the pipes that an editor would hold."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        change: Change | None = None,
        observe: Callable[[Line], None] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.lines: list[Line] = []
        self._ended: list[Ended] = []
        stdin, self.stdin = os.pipe()
        self.stdout, stdout = os.pipe()
        watch = observe or self.lines.append

        def run() -> None:
            self._ended.append(
                relay(command, change=change, observe=watch, streams=Streams(stdin, stdout), limits=limits)
            )
            os.close(stdin)
            os.close(stdout)

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Write on a thread, so that a test can read at the same time; then close."""

        def feed() -> None:
            with os.fdopen(self.stdin, "wb") as file:
                file.write(data)

        threading.Thread(target=feed).start()

    def read(self) -> bytes:
        with os.fdopen(self.stdout, "rb") as file:
            return file.read()

    def end(self) -> Ended:
        self._thread.join(30)
        assert not self._thread.is_alive(), "the relay hangs"
        return self._ended[0]

    def through(self, data: bytes) -> bytes:
        """What comes back of `data`."""
        self.write(data)
        result = self.read()
        self.end()
        return result


ODD = [
    b'{"a": 1.0, "b" : 2}\n',
    b'{"crlf":true}\r\n',
    b"\n\n\n",
    b"not json at all\n",
    b"\xff\xfe\x00 not even text\n",
    b"no newline at the end",
    b"",
]


@each("data", ODD)
def test_bytes_come_through_as_they_are(data: bytes) -> None:
    assert Run(CAT).through(data) == data


@each("data", ODD)
def test_bytes_come_through_as_they_are_when_somebody_is_asked(data: bytes) -> None:
    assert Run(CAT, change=lambda way, line: None).through(data) == data


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.binary(max_size=200) | st.just(b"\n"), max_size=8).map(b"".join), st.booleans())
def test_any_bytes_come_through_and_are_seen_twice(data: bytes, asked: bool) -> None:
    run = Run(CAT, change=(lambda way, line: None) if asked else None)
    assert run.through(data) == data
    for way in Way:
        assert b"".join(line.data for line in run.lines if line.way is way) == data


@given(st.lists(st.binary(max_size=20) | st.just(b"\n"), max_size=30), st.integers(0, 15))
def test_however_lines_are_cut_no_byte_is_lost(chunks: list[bytes], hold: int) -> None:
    lines = Lines(hold)
    pieces = [piece for chunk in chunks for piece in lines.feed(chunk)] + list(lines.rest())
    assert b"".join(piece.data for piece in pieces) == b"".join(chunks)
    for piece in pieces:
        if piece.whole:
            assert piece.data.count(b"\n") == piece.data.endswith(b"\n")
    data = b"".join(chunks)
    assert sum(piece.ends for piece in pieces) == data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))


# Size and speed ------------------------------------------------------------------------------------------------------


def test_a_line_of_50_mb_comes_through_whole_and_is_offered_whole() -> None:
    data = b'{"text":"' + os.urandom(1 << 16).hex().encode() * 400 + b'"}\n'
    assert len(data) > 50_000_000
    offered: list[int] = []

    def change(way: Way, line: bytes) -> None:
        offered.append(len(line))

    assert Run(CAT, change=change).through(data) == data
    assert offered == [len(data), len(data)]


@each("asked", [True, False])
def test_a_line_over_the_limit_goes_on_in_pieces_unasked_and_is_seen_by_its_head(asked: bool) -> None:
    offered: list[bytes] = []

    def change(way: Way, line: bytes) -> None:
        offered.append(line)

    data = b"a" * 300_000 + b"\n" + b"short\n" + b"b" * 200_000
    run = Run(CAT, change=change if asked else None, limits=Limits(hold_bytes=1000))
    assert run.through(data) == data
    assert set(offered) == ({b"short\n"} if asked else set())
    seen = [(line.size, len(line.data)) for line in run.lines if line.way is Way.TO_CHILD]
    assert [size for size, _ in seen] == [300_001, 6, 200_000]
    assert all(length <= 1 << 16 for _, length in seen)


def test_a_reader_that_does_not_read_stops_the_writer() -> None:
    run = Run(
        python("import os, time; print(os.getpid(), flush=True); time.sleep(60)"), limits=Limits(full_bytes=1 << 16)
    )
    child = int(os.read(run.stdout, 100))
    os.set_blocking(run.stdin, False)
    wrote, idle = 0, 0
    while idle < 20:
        try:
            wrote += os.write(run.stdin, b"x" * 1000 + b"\n")
            idle = 0
        except BlockingIOError:
            idle += 1
            time.sleep(0.01)
    assert wrote < 2 << 20
    os.close(run.stdin)
    os.close(run.stdout)
    os.kill(child, signal.SIGKILL)
    assert run.end().returncode == -signal.SIGKILL


def test_both_ways_full_at_once_is_no_deadlock() -> None:
    data = b"".join(b"%d " % n + b"z" * 5000 + b"\n" for n in range(2000))
    assert Run(CAT, change=lambda way, line: None, limits=Limits(full_bytes=1 << 14)).through(data) == data


# Ends ----------------------------------------------------------------------------------------------------------------


@each("code", [0, 1, 7, 255])
def test_the_exit_code_is_the_childs(code: int) -> None:
    run = Run(python(f"import sys; sys.exit({code})"))
    run.write(b"")
    assert run.read() == b""
    assert run.end().returncode == code


def test_the_child_may_speak_after_its_stdin_has_ended() -> None:
    run = Run(python("import sys; got = sys.stdin.read(); print(len(got), flush=True); print('bye')"))
    assert run.through(b"abc\n") == b"4\nbye\n"


def test_the_end_of_the_childs_stdout_is_passed_on_while_it_lives() -> None:
    run = Run(python("import os, sys; print('x', flush=True); os.close(1); sys.stdin.read()"))
    assert run.read() == b"x\n"
    os.close(run.stdin)
    assert run.end().returncode in (0, 120)


def test_the_end_comes_although_a_grandchild_keeps_stdout_open() -> None:
    run = Run(("sh", "-c", "sleep 600 & echo $!"))
    grandchild = int(run.read())
    os.close(run.stdin)
    try:
        assert run.end().returncode == 0
    finally:
        os.kill(grandchild, signal.SIGKILL)  # it was there until now


def test_a_child_learns_that_nobody_reads_any_more() -> None:
    run = Run(
        python("""
        import sys
        try:
            while True:
                print("x" * 1000, flush=True)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(9)
    """)
    )
    os.read(run.stdout, 10)
    os.close(run.stdout)
    assert run.end().returncode in (9, 120)
    os.close(run.stdin)


def write_until_refused(descriptor: int) -> None:
    for _ in range(200):
        os.write(descriptor, b"to nobody\n")
        time.sleep(0.01)


def test_an_editor_learns_that_the_child_reads_no_more() -> None:
    run = Run(python("import os, time; os.close(0); print('closed', flush=True); time.sleep(1)"))
    assert os.read(run.stdout, 100) == b"closed\n"
    os.set_blocking(run.stdin, False)
    with pytest.raises(BrokenPipeError):
        write_until_refused(run.stdin)
    os.close(run.stdin)
    run.end()
    os.close(run.stdout)


def test_what_the_child_wrote_last_is_not_lost() -> None:
    for _ in range(10):
        run = Run(python("import os; os.write(1, b'y' * 60000); os._exit(3)"))
        assert run.read() == b"y" * 60000
        os.close(run.stdin)
        assert run.end().returncode == 3


def test_a_command_that_is_not_there_is_said_by_name() -> None:
    with pytest.raises(SourceError, match="no-such-agent: cannot be started: No such file"):
        relay(["no-such-agent"])


# Around it: a process of its own, as an editor starts it ------------------------------------------------------------------

PROGRAM = """
import sys
from tallystick.capture.relay import end_as, relay
ended = relay(sys.argv[1:], observe=lambda line: None)
print(ended.signals, file=sys.stderr, flush=True)
sys.exit(end_as(ended.returncode))
"""


def program(*command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on_and_the_childs_answer_to_it_counts(number: signal.Signals) -> None:
    child = python(f"""
        import os, signal, sys, time
        def leave(n, _):
            os.write(1, b"got %d\\n" % n)
            sys.exit(40 + n)
        signal.signal({number:d}, leave)
        print("ready", flush=True)
        time.sleep(30)
    """)
    with program(*child) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.stdout.read() == b"got %d\n" % number
        assert process.wait(120) == 40 + number


def test_a_child_that_a_signal_ended_ends_us_likewise() -> None:
    with program("sleep", "30") as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == -signal.SIGTERM


def test_stderr_and_environment_and_folder_are_the_childs_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMETHING", "of the editor")
    with program("sh", "-c", 'printf "%s\\n" "$SOMETHING" >&2; pwd') as process:
        out, error = process.communicate(timeout=120)
    assert error.startswith(b"of the editor\n")
    assert out.decode().strip() == str(Path.cwd())


# Looking on -----------------------------------------------------------------------------------------------------------


def test_a_slow_observer_keeps_nobody_waiting_and_is_told_what_it_missed() -> None:
    seen: list[Line] = []
    go = threading.Event()

    def slow(line: Line) -> None:
        go.wait(120)
        seen.append(line)

    run = Run(CAT, observe=slow, limits=Limits(queue_bytes=2000))
    data = b"line\n" * 1000
    run.write(data)
    assert run.read() == data  # while the observer still waits
    go.set()
    ended = run.end()
    assert ended.missed > 0
    assert len(seen) + ended.missed == 2000
    assert sum(line.missed for line in seen) <= ended.missed


def test_an_observer_that_hangs_does_not_keep_the_end_waiting_for_ever() -> None:
    hangs = threading.Event()

    def hang(line: Line) -> None:
        hangs.wait(600)

    run = Run(CAT, observe=hang, limits=Limits(drain_seconds=0.2))
    run.through(b"one\ntwo\n")
    assert run.end().missed >= 2
    hangs.set()


def test_an_observer_that_fails_goes_on_being_asked_and_is_told_of() -> None:
    def fails(line: Line) -> None:
        raise ValueError("no good")

    run = Run(CAT, observe=fails)
    assert run.through(b"one\ntwo\n") == b"one\ntwo\n"
    assert run.end().faults == ("ValueError: no good",) * 4


# Changing -------------------------------------------------------------------------------------------------------------


def of_child(answer: Callable[[bytes], Passing | Later | None]) -> Change:
    """Ask only about lines of the child."""
    return lambda way, line: answer(line) if way is Way.FROM_CHILD else None


def test_other_lines_may_go_on_in_place_of_one() -> None:
    change = of_child(lambda line: Passing(sent=(line.upper(), b"more\n")) if line == b"b\n" else None)
    run = Run(CAT, change=change)
    assert run.through(b"a\nb\nc\n") == b"a\nB\nmore\nc\n"
    changed = [line for line in run.lines if line.sent is not None]
    assert [(line.data, line.sent) for line in changed] == [(b"b\n", (b"B\n", b"more\n"))]


def test_a_line_may_be_kept_back_and_its_sender_answered() -> None:
    asks = python("""
        import sys
        print("may I?", flush=True)
        print("heard: " + sys.stdin.readline().strip(), flush=True)
    """)
    change = of_child(lambda line: Passing(replies=(b"no\n",)) if line == b"may I?\n" else None)
    run = Run(asks, change=change)
    assert run.read() == b"heard: no\n"
    os.close(run.stdin)
    assert run.end().returncode == 0
    assert [line.replies for line in run.lines if line.data == b"may I?\n"] == [(b"no\n",)]


def test_our_answer_never_stands_inside_a_line_of_the_other_side() -> None:
    waits = python("""
        import sys, time
        first = sys.stdin.buffer.read1(100)
        print("ask", flush=True)
        time.sleep(0.3)
        sys.stdout.buffer.write(first + sys.stdin.buffer.read())
    """)
    run = Run(
        waits,
        change=of_child(lambda line: Passing(replies=(b"OURS\n",)) if line == b"ask\n" else None),
        limits=Limits(hold_bytes=4),
    )
    os.write(run.stdin, b"begun")
    time.sleep(0.8)
    os.write(run.stdin, b" and ended\nnext\n")
    os.close(run.stdin)
    assert run.read() == b"begun and ended\nOURS\nnext\n"
    run.end()


def test_an_answer_that_takes_a_while_holds_back_its_way_and_not_the_other() -> None:
    talks = python("""
        import sys
        print("slow", flush=True)
        print("after", flush=True)
        sys.stderr.close()
        print("got " + sys.stdin.readline().strip(), flush=True)
    """)
    read_by_child = threading.Event()

    def work() -> Passing:
        read_by_child.wait(120)
        return Passing(sent=(b"slow, answered\n",))

    change = of_child(lambda line: Later(work, 120) if line == b"slow\n" else None)
    run = Run(talks, change=change)
    os.write(run.stdin, b"hello\n")
    while not run.lines:
        time.sleep(0.01)
    assert [line.data for line in run.lines] == [b"hello\n"]
    read_by_child.set()
    assert run.read() == b"slow, answered\nafter\ngot hello\n"
    os.close(run.stdin)
    run.end()


def test_an_answer_that_takes_too_long_lets_the_line_go_as_it_is() -> None:
    hangs = threading.Event()

    def work() -> None:
        hangs.wait(600)

    change = of_child(lambda line: Later(work, 0.1) if line == b"b\n" else None)
    run = Run(CAT, change=change)
    assert run.through(b"a\nb\nc\n") == b"a\nb\nc\n"
    hangs.set()
    assert run.end().faults == ("no answer in 0.1 s, the line went on as it was",)


@each("later", [True, False])
def test_an_error_while_answering_lets_the_line_go_as_it_is(later: bool) -> None:
    def fails() -> Passing:
        raise RuntimeError("broken")

    run = Run(CAT, change=of_child(lambda line: Later(fails) if later else fails()))
    assert run.through(b"a\nb\n") == b"a\nb\n"
    assert run.end().faults == ("RuntimeError: broken",) * 2
