"""What every adapter of hooks must do, on what real agents told."""

from __future__ import annotations

import contextlib
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks import SILENT, HookAdapter, HookCommand, hook_adapter, hook_adapters
from tallystick.agents.hooks.asks import ASKS
from tallystick.catalog.agents import Asking
from tallystick.errors import FormatError
from tallystick.model.decision import Decision, Effect
from tallystick.model.step import Opening, SessionKind, Source, Step
from tests.agents.hooks.recorded import ASK, DENY, FOLDER, Told, openings, payloads, recorded, steps

ADAPTERS = hook_adapters()
RECORDED = [name for name in ADAPTERS if any(FOLDER.glob(f"{name}-[0-9]*.jsonl"))]
HOOK = HookCommand(python="/opt/a b/python", hook="/opt/a b/tallystick/hook.py")
OLDER = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py", home="/data/tally")


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> HookAdapter:
    return ADAPTERS[request.param]


@pytest.fixture(params=RECORDED)
def told(request: pytest.FixtureRequest) -> HookAdapter:
    """An adapter whose agent's payloads are recorded."""
    return ADAPTERS[request.param]


def test_an_adapter_is_found_by_its_name_alone() -> None:
    assert {name: hook_adapter(name) for name in ADAPTERS} == ADAPTERS
    assert hook_adapter("nobody") is None
    assert hook_adapter("__init__") is None


@pytest.mark.parametrize("project", [False, True])
def test_settings_are_changed_once_and_back(adapter: HookAdapter, project: bool) -> None:
    files = adapter.settings(project=project)
    chosen = [file for file in files if file.name != "toml"]
    hooked: list[str] = []
    for file in chosen:
        content = adapter.configure(file, b"", HOOK)
        assert adapter.configure(file, content, HOOK) == content
        hooked += adapter.hooked(file, content)
        removed = adapter.remove(file, content)
        assert adapter.hooked(file, removed) == ()
        assert adapter.remove(file, removed) == removed
        assert removed == b"" or not file.ours
        older = adapter.configure(file, b"", OLDER)
        assert adapter.configure(file, older, HOOK) == content
    assert set(hooked) == set(adapter.EVENTS if chosen else ())


def test_what_is_installed_names_the_store(adapter: HookAdapter) -> None:
    files = [file for file in adapter.settings(project=False) if file.name != "toml"]
    installed = b"".join(adapter.configure(file, b"", OLDER) for file in files)
    assert b"/data/tally" in installed


def test_a_relative_place_is_given_for_each_file(adapter: HookAdapter) -> None:
    for project in (False, True):
        for file in adapter.settings(project=project):
            assert not file.path.startswith(("/", "~"))
            assert ".." not in file.path
            assert file.variable is None or not project


def test_what_was_recorded_is_understood(told: HookAdapter) -> None:
    found = payloads(told)
    assert found
    for payload in found:
        assert payload.session
        for event in payload.events:
            assert isinstance(event, Opening | Step)
            assert event.source is Source.HOOK
            assert event.session == payload.session or payload.session.startswith(event.session) or _is_child(payload)


def _is_child(payload: Any) -> bool:
    return any(isinstance(event, Opening) and event.kind is SessionKind.CHILD for event in payload.events)


def test_each_event_that_was_recorded_opens_its_session(told: HookAdapter) -> None:
    for payload in payloads(told):
        assert payload.session in [event.session for event in payload.events if isinstance(event, Opening)]


def test_a_call_asks_and_nothing_else_does(told: HookAdapter) -> None:
    for payload in payloads(told):
        calls = [event for event in payload.events if isinstance(event, Step) and event.type == "tool_call"]
        assert (payload.asks is not None) == bool(calls)
        if payload.asks is not None:
            assert payload.asks.agent == told.NAME
            assert payload.asks.session == payload.session == calls[0].session
            assert payload.asks.tool == calls[0].meta["tool"]
            assert payload.asks.args == calls[0].values["content.args"]
            assert payload.asks.call_id == calls[0].source_id


def test_a_result_names_its_call(told: HookAdapter) -> None:
    found = payloads(told)
    names = {step.source_id for step in steps(found, "tool_call")}
    for result in steps(found, "tool_result"):
        if result.source_id is None:  # it is found by tool and arguments
            assert "content.args" in result.values
        else:
            (call,) = result.after
            assert result.source_id == f"{call.source_id}/result"
            assert call.source_id in names


def test_a_sub_agent_hangs_on_a_session_that_was_opened_before(told: HookAdapter) -> None:
    opened: set[str] = set()
    for opening in openings(payloads(told)):
        if opening.kind is SessionKind.CHILD:
            assert opening.parent is not None
            assert opening.parent.session in opened
        opened.add(opening.session)


SUB_AGENT = {"subagentstart": "start", "subagentstop": "end"}


def test_a_sub_agent_starts_where_its_agent_says_so_and_ends_after_that(told: HookAdapter) -> None:
    begun: set[str | None] = set()
    for each, payload in zip(recorded(told.NAME), payloads(told), strict=True):
        told_of = [step for step in steps([payload]) if step.type.startswith("subagent_")]
        which = SUB_AGENT.get(each.event.lower().replace("_", ""))
        if each.payload.get("agent_type") == "":  # Claude Code's own helpers, which it starts in silence
            which = None
        assert [step.type for step in told_of] == ([] if which is None else [f"subagent_{which}"])
        for step in told_of:
            name, _, when = str(step.source_id).removeprefix("hook/").rpartition("/")
            assert (when, payload.ends and which == "start") == (which, False)
            if which == "start":
                begun.add(name)
            else:
                assert name in begun
    assert {event.lower().replace("_", "") for event in told.EVENTS}.isdisjoint(SUB_AGENT) == (not begun)


def _asking(adapter: HookAdapter) -> Any:
    return next(payload for payload in payloads(adapter) if payload.asks is not None)


def test_no_opinion_is_silence(told: HookAdapter) -> None:
    for effect in (Effect.ALLOW, Effect.WARN):
        assert told.reply(_asking(told), Decision(effect=effect, reason="x")) == SILENT


def test_only_a_call_is_answered(told: HookAdapter) -> None:
    others = [payload for payload in payloads(told) if payload.asks is None]
    assert [told.reply(payload, DENY) for payload in others] == [SILENT] * len(others)


def test_a_refusal_says_why(told: HookAdapter) -> None:
    assert DENY.reason.encode() in told.reply(_asking(told), DENY).stdout


def test_an_agent_that_cannot_ask_is_told_no(told: HookAdapter) -> None:
    no = told.reply(_asking(told), Decision(effect=Effect.DENY, reason=ASK.reason))
    asked = told.reply(_asking(told), ASK)
    assert ASK.reason.encode() in asked.stdout
    if ASKS[told.NAME] is Asking.REFUSE or _asking(told).never_asks:
        assert asked.stdout.replace(b" Nobody can be asked here, so it is refused.", b"") == no.stdout
    else:
        assert asked.stdout == no.stdout.replace(b'"deny"', b'"ask"')


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_strange_payloads_are_refused_or_understood(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(RECORDED))
    each = data.draw(st.sampled_from(recorded(name)))
    changed = dict(each.payload)
    for key in data.draw(st.lists(st.sampled_from(sorted(changed)), max_size=3)):
        changed[key] = data.draw(_JSON)
    with contextlib.suppress(FormatError):
        payload = ADAPTERS[name].parse(Told(each.case, each.event, changed).data, each.event)
        assert payload.session
        ADAPTERS[name].reply(payload, DENY)


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b'"x"', b"{", b"\xff", b"{}", b'{"a": ' * 200])
def test_what_is_no_payload_is_refused(adapter: HookAdapter, data: bytes) -> None:
    with pytest.raises(FormatError):
        adapter.parse(data, adapter.EVENTS[0])


def test_a_command_ends_well_where_tallystick_was_removed() -> None:
    command = HOOK.shell("agent", "event")
    assert command.startswith("[ -x '/opt/a b/python' ] && [ -f '/opt/a b/tallystick/hook.py' ] || exit 0; exec ")
    assert command.endswith(" agent event")
    assert cast("Any", OLDER.words("agent"))[-3:] == ["--home", "/data/tally", "agent"]
