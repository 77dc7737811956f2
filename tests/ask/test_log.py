"""The steps of all sessions, newest first."""

import pytest

from tallystick.ask.log import read_log
from tallystick.errors import UsageError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.trust.verify_named import find_session
from tallystick.workspace.filters import StepFilter
from tallystick.workspace.indexing import open_index


def all_steps(home: Home) -> list[str]:
    return [step.hash for sid, _ in home.sessions() for step in read_session(home, sid)]


def test_all_steps_are_there_once_newest_first_with_what_they_say(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        rows = read_log(indexed_samples, index, StepFilter(), limit=1000)
    assert sorted(row.entry.hash for row in rows.rows) == sorted(all_steps(indexed_samples))
    assert all(row.step is not None and row.step.hash == row.entry.hash for row in rows.rows)
    times = [row.entry.ts for row in rows.rows if row.entry.ts is not None]
    assert times == sorted(times, reverse=True)
    assert not rows.has_more


def test_a_limit_gives_the_newest_and_says_that_there_are_more(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        whole = read_log(indexed_samples, index, StepFilter(), limit=1000).rows
        some = read_log(indexed_samples, index, StepFilter(), limit=10)
    assert some.rows == whole[:10]
    assert some.has_more


@pytest.mark.parametrize(
    "wanted",
    [
        StepFilter(types=("tool_call", "user")),
        StepFilter(agents=("gptme",)),
        StepFilter(tools=("Bash",)),
        StepFilter(failed=True),
        StepFilter(since="2026-11-21T22:31:00.000000Z", until="2026-11-21T22:40:00.000000Z"),
        StepFilter(types=("tool_result",), tools=("Bash",), failed=True),
    ],
)
def test_the_log_and_the_replay_mean_the_same_by_a_filter(indexed_samples: Home, wanted: StepFilter) -> None:
    expected = []
    for sid, _ in indexed_samples.sessions():
        steps = list(read_session(indexed_samples, sid))
        expected += [step.hash for step in steps if wanted.takes(step, str(steps[0].meta["agent"]))]
    with open_index(indexed_samples) as index:
        found = read_log(indexed_samples, index, wanted, limit=1000)
    timed = [row.entry.hash for row in found.rows]
    assert sorted(timed) == sorted(expected)
    assert expected


def test_a_request_is_within_its_session(indexed_samples: Home) -> None:
    sid = find_session(indexed_samples, "a42b3437")
    with open_index(indexed_samples) as index:
        rows = read_log(indexed_samples, index, StepFilter(request=51), session=sid, limit=100).rows
        assert {row.entry.session for row in rows} == {sid}
        assert min(row.entry.n for row in rows) == 51
        with pytest.raises(UsageError, match="request"):
            read_log(indexed_samples, index, StepFilter(request=51))


def test_a_step_that_is_not_where_the_index_says_is_shown_without_its_text(samples: Home) -> None:
    sid = find_session(samples, "receipts-currency")
    path = samples.journal(sid)
    assert path is not None
    with open_index(samples) as index:
        path.write_bytes(b"x" * path.stat().st_size)
        rows = read_log(samples, index, StepFilter(), session=sid, limit=5).rows
    assert [row.step for row in rows] == [None] * 5
    assert all(row.entry.session == sid for row in rows)
