from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks import HookCommand, handlers
from tallystick.agents.kit.json_text import COMMENTED, JSON, RELAXED, read
from tallystick.errors import FormatError
from tests.agents._json_texts import settings_files
from tests.support.cases import each

_EVENTS = ("Start", "Stop", "PreToolUse")
_NEW = HookCommand(python="/opt/new/python", hook="/opt/new tree/tallystick/hook.py")
_OLD = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py", home="/data/tally")


def _flat(hook: HookCommand, events: tuple[str, ...] = _EVENTS) -> dict[str, Any]:
    return {event: {"bash": hook.shell("agent", event), "timeoutSec": 5} for event in events}


def _nested(hook: HookCommand, events: tuple[str, ...] = _EVENTS) -> dict[str, Any]:
    return {event: {"matcher": "*", "hooks": [{"command": hook.shell("agent"), "timeout": 5}]} for event in events}


_SHAPES = st.sampled_from((_flat, _nested))
_DIALECTS = st.sampled_from((JSON, COMMENTED, RELAXED))


@given(_SHAPES, _DIALECTS, st.data())
def test_taking_ours_out_again_restores_the_file_to_the_byte(shape: Any, dialect: Any, data: st.DataObject) -> None:
    content = data.draw(settings_files(dialect, _EVENTS))
    configured = handlers.configure(content, shape(_NEW), dialect)
    assert set(handlers.hooked(configured, dialect)) == set(_EVENTS)
    assert handlers.remove(configured, dialect) == content
    assert handlers.remove(content, dialect) == content
    assert handlers.hooked(content, dialect) == ()


@given(_SHAPES, _DIALECTS, st.data())
def test_twice_is_as_once(shape: Any, dialect: Any, data: st.DataObject) -> None:
    content = data.draw(settings_files(dialect, _EVENTS))
    once = handlers.configure(content, shape(_NEW), dialect)
    assert handlers.configure(once, shape(_NEW), dialect) == once


@given(_SHAPES, _SHAPES, _DIALECTS, st.data())
def test_an_older_form_of_ours_is_replaced(old: Any, new: Any, dialect: Any, data: st.DataObject) -> None:
    content = data.draw(settings_files(dialect, _EVENTS))
    before = data.draw(st.sampled_from((_EVENTS, ("Stop",), ("Gone", "Stop"))))
    older = handlers.configure(content, old(_OLD, before), dialect)
    configured = handlers.configure(older, new(_NEW), dialect)
    assert _without_ours(configured, dialect) == _without_ours(content, dialect)
    assert b"/usr/lib/tallystick/hook.py" not in configured
    assert set(handlers.hooked(configured, dialect)) == set(_EVENTS)


@given(_SHAPES, _DIALECTS, st.data())
def test_what_the_user_has_stays_in_its_order(shape: Any, dialect: Any, data: st.DataObject) -> None:
    content = data.draw(settings_files(dialect, _EVENTS))
    configured = handlers.configure(content, shape(_NEW), dialect)
    before, after = (read(text, dialect).root.value for text in (content, configured))
    assert list(after) == list(before) + ["hooks"] * ("hooks" not in before)
    for key, value in before.items():
        assert after[key] == value or key == "hooks"
    for event, items in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(items)] == items
        assert len(after["hooks"][event]) == len(items) + (event in _EVENTS)


@given(_SHAPES, st.sampled_from((None, 2, 4)), st.data())
def test_a_file_that_the_agent_wrote_anew_loses_ours_alone(shape: Any, indent: int | None, data: st.DataObject) -> None:
    content = data.draw(settings_files(JSON, _EVENTS))
    configured = handlers.configure(content, shape(_NEW), JSON)
    rewritten = json.dumps(json.loads(configured.decode("utf-8-sig")), indent=indent).encode()
    assert set(handlers.hooked(rewritten, JSON)) == set(_EVENTS)
    assert _without_ours(rewritten, JSON) == _without_ours(content, JSON)


def _without_ours(content: bytes, dialect: Any) -> Any:
    """What is in a file besides our handlers, and besides lists and objects with nothing in them."""
    left = handlers.remove(content, dialect)
    value = read(left, dialect).root.value if left else {}
    hooks = {event: items for event, items in value.pop("hooks", {}).items() if items}
    return value, hooks


def test_a_file_that_was_ours_alone_ends_empty() -> None:
    made = handlers.configure(b"", _nested(_NEW), JSON)
    assert json.loads(made)["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 5
    assert handlers.remove(made, JSON) == b""


def test_a_new_file_begins_with_what_the_agent_wants() -> None:
    made = handlers.configure(b"\n", _flat(_NEW), JSON, {"version": 1})
    assert list(json.loads(made)) == ["version", "hooks"]


def test_our_handler_in_a_group_of_the_user_is_changed_alone() -> None:
    theirs = {"type": "command", "command": "theirs"}
    ours = {"type": "command", "command": _OLD.shell("agent")}
    content = json.dumps({"hooks": {"Stop": [{"matcher": "Bash", "hooks": [ours, theirs]}]}}).encode()
    configured = handlers.configure(content, _nested(_NEW, ("Stop",)), JSON)
    assert json.loads(configured)["hooks"]["Stop"] == [
        {"matcher": "Bash", "hooks": [_nested(_NEW)["Stop"]["hooks"][0], theirs]}
    ]
    assert json.loads(handlers.remove(configured, JSON))["hooks"]["Stop"] == [{"matcher": "Bash", "hooks": [theirs]}]


def test_of_two_handlers_of_ours_one_stays() -> None:
    twice = [_nested(_OLD)["Stop"], {"hooks": []}, _nested(_NEW)["Stop"]]
    configured = handlers.configure(json.dumps({"hooks": {"Stop": twice}}).encode(), _nested(_NEW, ("Stop",)), JSON)
    assert json.loads(configured)["hooks"]["Stop"] == [_nested(_NEW)["Stop"], {"hooks": []}]


def test_the_later_of_two_doubled_keys_counts() -> None:
    first = json.dumps({"Stop": [_nested(_NEW)["Stop"]]})
    content = f'{{"hooks": {first}, "hooks": {{"Other": []}}}}'.encode()
    assert handlers.hooked(content, JSON) == ()
    configured = handlers.configure(content, _nested(_NEW, ("Stop",)), JSON)
    assert handlers.hooked(configured, JSON) == ("Stop",)
    assert configured.count(b"hook.py'") == 2  # one handler: its command names the script twice
    assert handlers.remove(configured, JSON) == b'{"hooks": {"Stop": []}, "hooks": {"Other": []}}'


@each(
    "content, message",
    [
        (b'\n{"hooks": []}', "line 2: hooks is no object"),
        (b'{"hooks": {\n"Stop": {}}}', "line 2: hooks.Stop is no list"),
        (b'["hooks"]', "line 1: the file is no object"),
        (b'{"hooks": {},\n}', "line 2, column 1: a value is expected after the comma"),
    ],
)
def test_what_the_agent_would_not_read_is_refused_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        handlers.configure(content, _nested(_NEW), JSON)
    assert str(caught.value).startswith(message)
