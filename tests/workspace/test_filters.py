"""Which steps a filter takes."""

from tallystick.model.recorded import Recorded
from tallystick.workspace.filters import StepFilter
from tests.support.cases import each


def step(**members: object) -> Recorded:
    meta = {"type": "tool_result", "recorded": "2026-01-05T00:00:00.000000Z", **members}
    return Recorded(session="ab" * 16, n=7, hash="cd" * 32, prev="ef" * 32, parents=(), meta=meta)


FAILED = step(tool="Bash", success=False, ts="2026-01-02T00:00:00.000000Z", request=3)
DONE = step(tool="Read", success=True)


@each(
    "wanted, takes_failed, takes_done",
    [
        (StepFilter(), True, True),
        (StepFilter(types=("user", "tool_result")), True, True),
        (StepFilter(types=("user",)), False, False),
        (StepFilter(agents=("codex",)), True, True),
        (StepFilter(agents=("gptme",)), False, False),
        (StepFilter(tools=("Bash",)), True, False),
        (StepFilter(failed=True), True, False),
        (StepFilter(request=3), True, False),
        (StepFilter(request=7), True, True),
        (StepFilter(since="2026-01-03T00:00:00.000000Z"), False, True),
        (StepFilter(until="2026-01-03T00:00:00.000000Z"), True, False),
        (StepFilter(since="2026-01-02T00:00:00.000000Z"), True, True),
        (StepFilter(until="2026-01-02T00:00:00.000000Z"), False, False),
    ],
)
def test_a_filter_takes_what_it_says(wanted: StepFilter, takes_failed: bool, takes_done: bool) -> None:
    assert (wanted.takes(FAILED, "codex"), wanted.takes(DONE, "codex")) == (takes_failed, takes_done)


def test_a_step_without_any_time_is_not_within_times() -> None:
    timeless = Recorded(session="ab" * 16, n=0, hash="cd" * 32, prev="ef" * 32, parents=(), meta={"type": "user"})
    assert not StepFilter(since="2026-01-02T00:00:00.000000Z").takes(timeless, "codex")


def test_a_tool_whose_name_does_not_fit_meta_is_found_by_it() -> None:
    odd = Recorded(
        session="ab" * 16,
        n=1,
        hash="cd" * 32,
        prev="ef" * 32,
        parents=(),
        meta={"type": "tool_call"},
        values={"content.meta": {"tool": "Ask Joe"}},
    )
    assert StepFilter(tools=("Ask Joe",)).takes(odd, "x")
