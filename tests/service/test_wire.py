"""What is said on the socket may be anything, and as much as anybody likes: the recorder goes on answering."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.capture import recorder
from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.model.step import Json
from tallystick.service.wire import read_header
from tests.service import faults
from tests.service.faults import answers, before, call_ids, connect, gaps, run_hook, send, wait_for, wait_for_calls
from tests.support.laws import examples

_WORD = st.text(st.characters(codec="utf-8", exclude_categories=("Zs", "Cc")), max_size=20).map(str.encode)
_HEADER = st.lists(
    st.one_of(_WORD, st.sampled_from([b"TALLY1", b"0", b"7", b"-", b"claude-code", b"1" * 30])), max_size=9
)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A recorder for many examples."""
    store = Home(tmp_path_factory.mktemp("standing") / "store")
    recorder.start(store.folder)
    yield store
    recorder.stop(store.folder)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=300), st.builds(lambda words, rest: b" ".join(words) + b"\n" + rest, _HEADER, st.binary())
    )
)
def test_whatever_is_said_on_the_socket_the_recorder_goes_on_answering(standing: Home, said: bytes) -> None:
    with connect(standing) as connection, contextlib.suppress(OSError):
        connection.sendall(said)
        connection.shutdown(1)
        while connection.recv(1 << 16):
            pass
    assert recorder.status(standing.folder) is not None


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)),
    max_leaves=12,
)
_MEMBERS = st.sampled_from(
    [
        "session_id",
        "hook_event_name",
        "tool_name",
        "tool_input",
        "tool_use_id",
        "cwd",
        "transcript_path",
        "hook",
        "timestamp",
    ]
)
_EVENTS = st.sampled_from(["PreToolUse", "PostToolUse", "BeforeTool", "SessionStart", "UserPromptSubmit", "tool_call"])


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([*faults.AGENTS, "opencode", "pi", "gptme", "hermes", "cline", "cursor", "nobody", "../x"]),
    st.dictionaries(_MEMBERS, _JSON),
    _EVENTS,
)
def test_a_payload_with_anything_in_it_is_answered(
    standing: Home, agent: str, said: dict[str, Json], event: str
) -> None:
    data = json.dumps({"session_id": "s", "hook_event_name": event, **said}).encode()
    assert send(standing, data, agent).startswith((b"0 ", b"2 ")), "a fault of ours is no answer"


@pytest.mark.parametrize("megabytes", [50, 65])
def test_a_payload_of_many_megabytes_is_answered(home: Home, megabytes: int) -> None:
    recorder.start(home.folder)
    said = before("claude-code", 1, command="echo " + "x" * (megabytes << 20))
    assert run_hook(home.folder, said).returncode == 0
    if megabytes == 50:
        wait_for_calls(home, 1, seconds=60)
    else:
        wait_for(lambda: gaps(home) == ["bad-spool"], 60)
        assert call_ids(home) == []
    assert answers(home, 2)


def test_a_payload_that_is_too_large_does_not_get_around_policy(home: Home) -> None:
    recorder.start(home.folder)
    said = before("claude-code", 1, command=f"rm -rf {home.folder}")
    said["tool_input"] = {**said["tool_input"], "description": "x" * (65 << 20)}
    done = run_hook(home.folder, said)
    assert b'"deny"' in done.stdout or b'"ask"' in done.stdout


def test_five_hundred_silent_connections_keep_nobody_waiting(home: Home) -> None:
    recorder.start(home.folder)
    with contextlib.ExitStack() as stack:
        for number in range(500):
            connection = stack.enter_context(connect(home))
            if number % 2:
                connection.sendall(b"TALLY1 60000000 claude-code - 0.1.0 1 a -\n{")  # announces much, and stops
        for number in range(1, 6):  # while the others are still silent
            assert answers(home, number)
        assert (recorder.status(home.folder) or {})["open_connections"] >= 400


def test_more_connections_than_it_bears_are_sent_away_and_hooks_go_their_slow_way(home: Home) -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("this user may not open 4,096 files")
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    recorder.start(home.folder)
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(1200):
                stack.enter_context(connect(home))
            assert run_hook(home.folder, before("claude-code", 1)).returncode == 0
        wait_for_calls(home, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_later_protocol_is_not_answered_so_that_its_hook_does_not_take_it_for_leave(home: Home) -> None:
    recorder.start(home.folder)
    with connect(home) as connection:
        connection.sendall(b"TALLY2 something of later times\n")
        assert connection.recv(100) == b""
    assert gaps(home) == ["bad-delivery"]


@given(st.binary(max_size=200))
def test_a_line_is_a_header_or_refused(line: bytes) -> None:
    with contextlib.suppress(FormatError):
        read_header(line)


def test_words_of_a_header_may_hold_blanks_of_other_scripts() -> None:
    header = read_header("TALLY1 3 pi - 0.1.0 1795293860746000000 7.7 a\u2003b\n".encode())
    assert (header.agent, header.event, header.monitor) == ("pi", None, "a\u2003b")
