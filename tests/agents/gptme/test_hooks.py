from __future__ import annotations

import json
import tomllib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.gptme import hooks as gptme
from tallystick.agents.hooks import HookCommand
from tallystick.errors import FormatError
from tallystick.model.step import Ref
from tests.agents.hooks.recorded import ASK, DENY, payloads, recorded, steps
from tests.agents.hooks.same_run import assert_both_agree
from tests.support.cases import each, each_case

HOOK = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")
ELSEWHERE = HookCommand(python="/opt/python", hook="/opt/tallystick/hook.py")
OURS = "/usr/lib/tallystick/plugins/gptme/tallystick_gptme"
(USER,) = gptme.settings(project=False)


def parsed(hook: str, **members: Any) -> Any:
    return gptme.parse(json.dumps({"hook": hook, "session": "s", "at": 1, **members}).encode(), None)


# Payloads -------------------------------------------------------------------------------------------------------------


def test_hooks_and_log_of_one_run_name_everything_alike() -> None:
    assert_both_agree(gptme)


def test_a_refused_call_has_its_reason() -> None:
    (refused,) = [step for step in steps(payloads(gptme), "tool_result") if "decision" in step.meta]
    assert (refused.meta["decision"], refused.meta["success"]) == ("deny", False)
    assert refused.values["content.output"] == "the rule says no"


def test_a_tool_that_shows_nothing_here_says_nothing_of_its_output() -> None:
    results = [step for step in steps(payloads(gptme), "tool_result") if step.meta["tool"] == "complete"]
    assert results
    assert [step.values for step in results] == [{}] * len(results)


@each_case("tool, shape, args")
def test_the_three_shapes_of_a_call_have_the_arguments_that_the_log_has(
    tool: str, shape: dict[str, Any], args: dict[str, Any]
) -> None:
    payload = parsed("tool.execute.pre", tool=tool, **shape)
    (step,) = steps([payload])
    if args.get("content") == "":
        args = {name: value for name, value in args.items() if value}
    assert step.values["content.args"] == payload.asks.args == args


def test_arguments_in_another_form_are_judged_as_they_are() -> None:
    for kwargs in ('{"command": "ls"}', [{"command": "ls"}]):
        assert parsed("tool.execute.pre", tool="shell", kwargs=kwargs).asks.args == kwargs


def test_a_call_without_an_id_is_found_by_its_arguments() -> None:
    (call,) = steps([parsed("tool.execute.pre", tool="shell", args=[], content="ls")])
    (result,) = steps([parsed("tool.execute.post", tool="shell", args=[], content="ls", output=["a", "b"])])
    assert call.source_id is None
    assert (result.source_id, result.after) == (None, ())
    assert result.values == {"content.args": {"command": "ls"}, "content.output": "a\nb"}


def test_a_result_follows_its_call() -> None:
    for result in steps(payloads(gptme), "tool_result"):
        assert result.after == (Ref(str(result.meta["corr"])),)


def test_hooks_that_were_gone_are_a_warning() -> None:
    (warning,) = steps([parsed("hooks.missing", missing=["tool.confirm"])])
    assert (warning.type, warning.meta) == ("warning", {"event": "hooks-missing", "hooks": ["tool.confirm"]})


def test_gptme_obeys_this() -> None:
    asking = next(payload for payload in payloads(gptme) if payload.asks is not None)
    assert json.loads(gptme.reply(asking, DENY).stdout) == {"deny": DENY.reason}
    assert json.loads(gptme.reply(asking, ASK).stdout)["deny"].startswith(ASK.reason)


def test_every_recorded_event_is_one_that_is_listed() -> None:
    assert {each.event for each in recorded("gptme")} <= set(gptme.EVENTS)


# Settings -------------------------------------------------------------------------------------------------------------


def test_the_settings_name_the_store() -> None:
    named = msgspec.structs.replace(HOOK, home="/home/dev/.tally")
    installed = gptme.configure(USER, b"", named)
    assert tomllib.loads(installed.decode())["plugin"] == {"tallystick": {"home": "/home/dev/.tally"}}
    moved = gptme.configure(USER, installed, msgspec.structs.replace(HOOK, home="/x"))
    assert tomllib.loads(moved.decode())["plugin"] == {"tallystick": {"home": "/x"}}
    assert gptme.configure(USER, moved, msgspec.structs.replace(HOOK, home="/x")) == moved
    assert gptme.remove(USER, moved) == b""


def test_what_else_is_in_the_tables_of_plugins_stays() -> None:
    named = msgspec.structs.replace(HOOK, home="/x")
    before = b"[plugin.other]\nkey = 1\n\n[plugin.tallystick]\n# mine\nextra = 2\n"
    installed = gptme.configure(USER, before, named)
    own = {"home": "/x", "extra": 2}
    assert tomllib.loads(installed.decode())["plugin"] == {"other": {"key": 1}, "tallystick": own}
    assert tomllib.loads(gptme.remove(USER, installed).decode()) == tomllib.loads(before.decode())


@pytest.mark.parametrize("content", [b"plugin = 3\n", b"[plugin]\ntallystick = 3\n"])
def test_a_table_of_another_form_is_not_written_to(content: bytes) -> None:
    with pytest.raises(FormatError, match="is no table"):
        gptme.configure(USER, content, msgspec.structs.replace(HOOK, home="/x"))


def test_the_folder_of_the_plugin_stands_among_the_paths() -> None:
    assert tomllib.loads(gptme.configure(USER, b"", HOOK).decode()) == {"plugins": {"paths": [OURS]}}


def test_a_user_who_names_the_plugins_has_ours_named() -> None:
    before = b'[plugins]\nenabled = [\n  "other", # mine\n]\n'
    after = gptme.configure(USER, before, HOOK)
    assert tomllib.loads(after.decode()) == {"plugins": {"enabled": ["other", "tallystick_gptme"], "paths": [OURS]}}
    assert b"# mine" in after
    assert gptme.hooked(USER, after) == gptme.EVENTS
    assert tomllib.loads(gptme.remove(USER, after).decode()) == tomllib.loads(before.decode())


def test_a_plugin_that_is_not_among_the_enabled_is_not_hooked() -> None:
    installed = gptme.configure(USER, b"", HOOK)
    later = installed + b'enabled = ["other"]\n'
    assert gptme.hooked(USER, later) == ()
    again = gptme.configure(USER, later, HOOK)
    assert gptme.hooked(USER, again) == gptme.EVENTS
    assert tomllib.loads(again.decode())["plugins"]["enabled"] == ["other", "tallystick_gptme"]


def test_an_empty_list_stays_empty_since_it_allows_all() -> None:
    after = gptme.configure(USER, b"[plugins]\nenabled = []\n", HOOK)
    assert tomllib.loads(after.decode())["plugins"]["enabled"] == []
    assert gptme.hooked(USER, after) == gptme.EVENTS


def test_our_name_alone_stays_since_an_empty_list_would_allow_all() -> None:
    alone = f'[plugins]\npaths = ["{OURS}"]\nenabled = ["tallystick_gptme"]\n'.encode()
    left = gptme.remove(USER, alone)
    assert tomllib.loads(left.decode()) == {"plugins": {"enabled": ["tallystick_gptme"]}}
    assert gptme.remove(USER, left) == left


@each(
    "content, message",
    [
        (b"plugins = 3\n", "plugins is no table"),
        (b"[[plugins]]\n", "plugins is no table"),
        (b'[plugins]\npaths = "x"\n', r"plugins\.paths is no list"),
        (b"[plugins]\nenabled = [1]\n", r"plugins\.enabled is no list"),
        (b"[plugins\n", "line 1"),
        (b"a = '\xff'\n", r"config\.toml"),
    ],
)
def test_what_gptme_would_not_read_is_refused(content: bytes, message: str) -> None:
    for change in (
        lambda: gptme.configure(USER, content, HOOK),
        lambda: gptme.remove(USER, content),
        lambda: gptme.hooked(USER, content),
    ):
        with pytest.raises(FormatError, match=message):
            change()


_NAMES = st.sampled_from(['"other"', "'/their/plugins'", '"a b"', '"tallystick"'])


@st.composite
def settings_files(draw: st.DrawFn) -> str:
    """A config.toml as people write it, with a table of plugins or without."""
    comment = st.sampled_from(["", "  # theirs"])
    lines = draw(st.lists(st.sampled_from(["# top\n", "\n", 'name = "x"  # me\n']), max_size=3, unique=True))
    if draw(st.booleans()):
        lines.append(f"[plugins]{draw(comment)}\n")
        for key in draw(st.permutations(["paths", "enabled", "extra"])):
            names = draw(st.lists(_NAMES, unique=True, max_size=3))
            if draw(st.booleans()):
                lines.append(f"{key} = [{', '.join(names)}]{draw(comment)}\n")
            elif draw(st.booleans()):
                lines.append(f"{key} = [\n" + "".join(f"    {name},{draw(comment)}\n" for name in names) + "]\n")
    if draw(st.booleans()):
        lines.append('[models]\ndefault = "m"  # best\n')
    return "".join(lines)


@given(settings_files())
def test_taking_ours_out_again_leaves_what_the_user_had(text: str) -> None:
    before, content = tomllib.loads(text), text.encode()
    once = gptme.configure(USER, content, HOOK)
    assert gptme.hooked(USER, once) == gptme.EVENTS
    assert gptme.configure(USER, once, HOOK) == once
    assert once.count(b"#") == content.count(b"#")
    removed = gptme.remove(USER, once)
    assert gptme.hooked(USER, removed) == ()
    assert gptme.remove(USER, removed) == removed
    assert removed.count(b"#") == content.count(b"#")
    assert _without_empty_paths(tomllib.loads(removed.decode())) == _without_empty_paths(before)
    assert gptme.remove(USER, content) == content


@given(settings_files())
def test_an_older_place_of_ours_is_replaced(text: str) -> None:
    moved = gptme.configure(USER, gptme.configure(USER, text.encode(), ELSEWHERE), HOOK)
    ours = [path for path in tomllib.loads(moved.decode())["plugins"]["paths"] if "tallystick_gptme" in path]
    assert ours == [OURS]


def _without_empty_paths(settings: dict[str, Any]) -> dict[str, Any]:
    """An empty list of paths, and an empty table, say the same as none."""
    plugins = {key: value for key, value in settings.get("plugins", {}).items() if value or key != "paths"}
    return {key: value for key, value in settings.items() if key != "plugins"} | (
        {"plugins": plugins} if plugins else {}
    )
