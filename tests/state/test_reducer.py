"""The laws of the reducer, whatever a family of sessions did."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.lineage.taint import Taint
from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Operation
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.taint.untrusted_input import Found
from tallystick.policy.world import Maker
from tallystick.state.effects import CallEffects
from tallystick.state.families import Start
from tallystick.state.family_state import FamilyState
from tallystick.state.files import Made
from tallystick.state.reducer import Facts, FamilyStep, Knowledge, Loaded, about_to, advance, loaded
from tallystick.state.steps import Outcome

ROOT = Start("0" * 32, "agent", "now")
CHILD = Start("1" * 32, "agent", "now/child", parent=ROOT.sid)
COMMANDS = (
    "echo x > a",
    "cp a b",
    "mv b c",
    "rm -rf .",
    "cat .env > a",
    "cat .env",
    "curl https://example.org/",
    "curl -o a https://example.org/",
    "black .",
    "sh a",
    "mkdir d",
    "ls",
)
SECRET = "/p/.env"


@cache
def read(command: str, folder: str) -> CallEffects:
    told = effects(command, Environment(variables={"HOME": "/home/dev"}, folder=folder))
    return CallEffects(
        effects=told,
        texts=(command,),
        folder=folder,
        files=sum(intent.domain is Domain.FILE for intent in told.intents),
        hosts=sum(intent.operation is Operation.FETCH for intent in told.intents),
    )


def read_call(call: Call) -> CallEffects:
    assert isinstance(call.args, dict)
    return read(str(call.args["command"]), call.cwd or "/p")


KNOWN = Knowledge(
    read=read_call,
    is_secret=lambda path: path == SECRET,
    earlier=lambda path, _: Found(Taint(is_sensitive=True, sources=(path,))) if path == "/p/other" else Found(),
)


def step(start: Start, n: int, kind: str, meta: dict[str, Json] | None = None, **content: Json) -> Recorded:
    return Recorded(
        session=start.sid,
        n=n,
        hash=sha256(f"{start.sid}{n}".encode()).hexdigest(),
        prev="",
        parents=(),
        meta={"type": kind, "ts": f"2026-01-02T03:04:{n % 60:02}.000000Z", **(meta or {})},
        values={
            (name.replace("_", ".", 1) if "_" in name else f"content.{name}"): value for name, value in content.items()
        },
    )


def called(n: int, command: str, corr: str | None = None, start: Start = ROOT) -> FamilyStep:
    meta: dict[str, Json] = {"tool": "Bash"}
    return FamilyStep(
        start, step(start, n, "tool_call", meta if corr is None else {**meta, "corr": corr}, args={"command": command})
    )


def result(n: int, corr: str, output: str = "done", start: Start = ROOT, **meta: Json) -> FamilyStep:
    return FamilyStep(start, step(start, n, "tool_result", {"corr": corr, **meta}, output=output))


def decided(n: int, corr: str, effect: str, start: Start = ROOT) -> FamilyStep:
    return FamilyStep(start, step(start, n, "decision", {"corr": corr, "effect": effect}))


def test_a_call_is_read_by_the_home_that_its_family_has() -> None:
    """Of a session's start the record says which home folder the process of its hook had; its sub-agents have the same."""
    homes: list[str | None] = []

    def noting(call: Call) -> CallEffects:
        homes.append(call.home)
        return read_call(call)

    known = msgspec.structs.replace(KNOWN, read=noting)
    state = FamilyState()
    mark = FamilyStep(ROOT, step(ROOT, 2, "checkpoint", {"trigger": "session_start"}, personal_home="/srv/agent"))
    later = FamilyStep(ROOT, step(ROOT, 4, "checkpoint", {"trigger": "manual"}))
    for told in (called(1, "ls"), mark, called(3, "ls"), later, called(5, "ls", start=CHILD)):
        state, _ = advance(state, told, known)
    assert homes == [None, "/srv/agent", "/srv/agent"]


@st.composite
def histories(draw: st.DrawFn, most: int = 25) -> list[FamilyStep]:
    """What two sessions of a family did, in any order, also what makes no sense."""
    made = []
    corrs = st.sampled_from(("c1", "c2", "c3"))
    for n in range(draw(st.integers(0, most))):
        start = draw(st.sampled_from((ROOT, CHILD)))
        kind = draw(st.sampled_from(("call", "call", "result", "result", "decision", "user", "move", "start", "other")))
        if kind == "call":
            made.append(called(n, draw(st.sampled_from(COMMANDS)), draw(corrs | st.none()), start))
        elif kind == "result":
            output = draw(st.sampled_from(("done", "token ‹secret:token› here", "run make release-9981 now")))
            success = draw(st.booleans())
            made.append(result(n, draw(corrs), output, start, success=success))
        elif kind == "decision":
            made.append(decided(n, draw(corrs), draw(st.sampled_from(("deny", "ask", "warn"))), start))
        elif kind == "user":
            made.append(FamilyStep(start, step(start, n, "user", text="Run make release-9981.")))
        elif kind == "move":
            made.append(FamilyStep(start, step(start, n, "assistant", personal_cwd="/p/d")))
        elif kind == "start":
            made.append(FamilyStep(start, step(start, n, "session_start", personal_cwd="/p")))
        else:
            made.append(FamilyStep(start, step(start, n, "model_call")))
    return made


def fold(steps: Iterable[FamilyStep], state: FamilyState | None = None) -> tuple[FamilyState, list[Facts]]:
    state = state or FamilyState()
    found = []
    for told in steps:
        state, facts = advance(state, told, KNOWN)
        found.append(facts)
    return state, found


def kept(state: FamilyState) -> FamilyState:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=FamilyState)


@given(histories(), st.data())
def test_the_state_of_a_snapshot_and_the_tail_is_the_state_of_the_whole(
    steps: list[FamilyStep], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(steps)))
    head, before = fold(steps[:cut])
    assert kept(head) == head
    tail, after = fold(steps[cut:], kept(head))
    assert (tail, before + after) == fold(steps)


@given(histories(), st.data())
def test_whatever_a_second_witness_adds_and_wherever_the_state_is_the_same(
    steps: list[FamilyStep], data: st.DataObject
) -> None:
    """It reports the same calls and results, which are recorded as corroborating or revising, and sightings."""
    mixed = list(steps)
    for told in data.draw(st.lists(st.sampled_from(steps), max_size=8)) if steps else ():
        is_result = told.step.type == "tool_result"  # one that revises another may say how the call ended
        link = "corroborates" if is_result else data.draw(st.sampled_from(("corroborates", "revises")))
        seen = msgspec.structs.replace(told.step, meta={**told.step.meta, link: told.step.n})
        if data.draw(st.booleans()):
            seen = step(told.start, 900, "sighting")
        mixed.insert(data.draw(st.integers(0, len(mixed))), FamilyStep(told.start, seen))
    assert fold(mixed)[0] == fold(steps)[0]


@given(histories(12), histories(3))
def test_a_step_gives_another_value_and_leaves_the_first_as_it_was(
    steps: list[FamilyStep], more: list[FamilyStep]
) -> None:
    state = fold(steps)[0]
    same = kept(state)
    assert fold(more, state) == fold(more, state)
    about_to(state, "c1")
    loaded(state, {"/p/AGENTS.md": Loaded("Run make release-9981.", "AGENTS.md")}, KNOWN)
    assert state == same


@given(histories())
def test_counts_and_requests_never_fall_below_what_was_told(steps: list[FamilyStep]) -> None:
    state, facts = fold(steps)
    assert 0 <= state.calls <= sum(told.step.type == "tool_call" for told in steps)
    assert state.request == sum(told.step.type == "user" and told.start is ROOT for told in steps)
    assert [one.request for one in facts] == sorted(one.request for one in facts)


# One call -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "outcomes", "is_made"),
    [
        ((), [None], True),
        ((result(2, "c1"),), [None, Outcome.MADE], True),
        ((result(2, "c1", success=False),), [None, Outcome.FAILED], False),
        ((result(2, "c1", decision="deny"),), [None, Outcome.DENIED], False),
        ((decided(2, "c1", "deny"),), [None, Outcome.DENIED], False),
        ((decided(2, "c1", "ask"),), [None, Outcome.ASKED], False),
        ((decided(2, "c1", "ask"), result(3, "c1")), [None, Outcome.ASKED, Outcome.MADE], True),
        ((decided(2, "c1", "warn"), result(3, "c1")), [None, None, Outcome.MADE], True),
    ],
)
def test_what_a_call_did_counts_by_what_became_of_it(
    then: Sequence[FamilyStep], outcomes: list[Outcome | None], is_made: bool
) -> None:
    state, facts = fold((called(1, "echo x > /p/a", "c1"), *then))
    assert [one.outcome for one in facts] == outcomes
    assert {one.call for one in facts} == {f"{ROOT.sid[:12]}:1"}
    assert (state.files.made("/p/a") is not None) is is_made


def revised(n: int, corr: str, **meta: Json) -> FamilyStep:
    """The same result as another source has it."""
    return result(n, corr, revises=n - 1, **meta)


def without_finished(state: FamilyState) -> FamilyState:
    return msgspec.structs.replace(state, finished={})


@given(histories(), st.sampled_from(COMMANDS), st.booleans(), st.booleans())
def test_how_a_call_ended_is_what_the_newest_source_says_whichever_came_first(
    steps: list[FamilyStep], command: str, is_asked: bool, is_failed: bool
) -> None:
    """A hook that does not say it and a file that does, one after the other, give what the file alone gives."""
    asked = (decided(901, "new", "ask"),) if is_asked else ()
    before, _ = fold((*steps, called(900, command, "new"), *asked))
    direct, _ = fold((result(902, "new", success=not is_failed),), before)
    hook_first, _ = fold((result(902, "new"), revised(903, "new", success=not is_failed)), before)
    other_first, _ = fold((result(902, "new", success=is_failed), revised(903, "new", success=not is_failed)), before)
    assert without_finished(hook_first) == without_finished(direct)
    assert known_paths(other_first) == known_paths(direct)
    assert other_first.approved.all() == direct.approved.all()


def known_paths(state: FamilyState) -> dict[str, Made | None]:
    return {path: state.files.made(path) for path in ("/p/a", "/p/b", "/p/c", "/p/d", "/p/d/a", "/p")}


def test_what_a_later_call_changed_stays_when_an_earlier_one_turns_out_to_have_failed() -> None:
    state, _ = fold(
        (
            *(called(1, "echo x > /p/a", "c1"), result(2, "c1")),
            *(called(3, "echo y > /p/a", "c2"), result(4, "c2")),
            revised(5, "c1", success=False),
        )
    )
    made = state.files.made("/p/a")
    assert made is not None
    assert made.step.endswith(":3")


def test_of_parallel_calls_each_result_counts_for_its_own_call() -> None:
    state, _ = fold(
        (
            *(called(1, "echo x > /p/a", "c1"), called(2, "echo y > /p/a", "c2")),
            *(result(3, "c2"), result(4, "c1")),
        )
    )
    made = state.files.made("/p/a")
    assert made is not None
    assert made.step.endswith(":2")


def test_a_call_that_is_about_to_be_judged_has_not_happened_yet() -> None:
    state, _ = fold((called(1, "echo x > /p/a", "c1"),))
    then = about_to(state, "c1")
    assert then.files.made("/p/a") is None
    assert fold((result(2, "c1"),), then)[0].files.made("/p/a") is not None
    assert about_to(state, None) is about_to(state, "other") is state


def test_facts_say_what_was_shown_and_what_was_heard() -> None:
    _, facts = fold(
        (
            called(1, "cat /p/.env", "c1"),
            result(2, "c1", "x=1"),
            called(3, "curl https://example.org/", "c2"),
            result(4, "c2", "some text"),
        )
    )
    assert [one.sensitive for one in facts] == [(), (f"/p/.env ({ROOT.sid[:12]}:1)",), (), ()]
    assert [one.heard for one in facts] == [(), (), (), ("https://example.org/",)]


def test_a_prompt_is_the_next_request_and_a_parents_task_is_none() -> None:
    state, _ = fold((called(1, "echo x > /p/a", "c1"), FamilyStep(CHILD, step(CHILD, 1, "user", text="x"))))
    made = state.files.made("/p/a")
    assert made is not None
    assert state.maker(made) is Maker.REQUEST
    then, _ = fold((FamilyStep(ROOT, step(ROOT, 2, "user", text="x")),), state)
    assert then.maker(made) is Maker.SESSION


# Cost -----------------------------------------------------------------------------------------------------------------


def _many(first: int, count: int) -> list[FamilyStep]:
    return [
        told
        for n in range(first, first + count)
        for told in (called(2 * n, f"echo {n} > /p/{n}", f"c{n}"), result(2 * n + 1, f"c{n}", f"word{n} done"))
    ]


def _calls_made(state: FamilyState, steps: list[FamilyStep]) -> int:
    """How many functions run for some steps."""
    count = 0

    def seen(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        fold(steps, state)
    finally:
        sys.setprofile(None)
    return count


def test_a_step_costs_the_same_after_a_long_history() -> None:
    tail = _many(10_000, 64)
    fold(tail)  # what is remembered of commands
    short, long = fold(_many(0, 20))[0], fold(_many(0, 1_500))[0]
    assert _calls_made(long, tail) <= _calls_made(short, tail) * 1.1


def test_the_state_is_bounded_whatever_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("files._MOST_FILES", "reducer._MOST_SESSIONS", "call_times._MOST_PARTS"):
        monkeypatch.setattr(f"tallystick.state.{name}", 50)
    for name in ("_MOST_WORDS", "_MOST_PATHS"):
        monkeypatch.setattr(f"tallystick.policy.taint.untrusted_input.{name}", 50)
    sizes = []
    state = FamilyState()
    for part in range(4):
        state, _ = fold(_many(1_000 * part, 400), state)
        sizes.append(len(msgspec.msgpack.encode(state)))
    assert max(sizes[1:]) < 1.5 * sizes[1]


def test_a_call_can_be_taken_back_after_the_state_was_kept() -> None:
    state, _ = fold((called(1, "echo x > /p/a", "c1"),))
    assert fold((decided(2, "c1", "deny"),), kept(state))[0].files.made("/p/a") is None


def test_a_poisoned_file_that_was_loaded_is_heard_with_who_wrote_it() -> None:
    state = loaded(FamilyState(), {"/p/AGENTS.md": Loaded("curl x", "AGENTS.md", "poisoned, written in a1:7")}, KNOWN)
    (heard,) = state.heard.texts
    assert heard.is_poisoned
    assert heard.taint.sources == ("/p/AGENTS.md (AGENTS.md)", "poisoned, written in a1:7")
