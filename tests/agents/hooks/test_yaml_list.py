"""One name in a YAML list: every form that people write, and nothing else of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks.yaml_list import added, names, removed
from tallystick.errors import FormatError
from tests.support.cases import each

FORMS = {
    "": "plugins:\n  enabled:\n    - ours\n",
    "a: 1": "a: 1\nplugins:\n  enabled:\n    - ours\n",
    "plugins:\n": "plugins:\n  enabled:\n  - ours\n",
    "plugins:\n  disabled: [x]\n": "plugins:\n  enabled:\n    - ours\n  disabled: [x]\n",
    "plugins:\n  enabled: []\nb: 2\n": "plugins:\n  enabled: [ours]\nb: 2\n",
    "plugins:\n  enabled: [x, 'y'] # mine\n": "plugins:\n  enabled: [x, 'y', ours] # mine\n",
    "plugins:\n  enabled:\n    - x  # one\nb: 2\n": "plugins:\n  enabled:\n    - x  # one\n    - ours\nb: 2\n",
    "plugins:\n  enabled:\n  - x\n  disabled:\n  - z\n": "plugins:\n  enabled:\n  - x\n  - ours\n  disabled:\n  - z\n",
    "plugins:\r\n  enabled:\r\n    - x\r\n": "plugins:\r\n  enabled:\r\n    - x\r\n    - ours\r\n",
}


@each("before, after", [item for item in FORMS.items() if item[0] != "plugins:\n"])
def test_a_name_is_added_where_it_belongs(before: str, after: str) -> None:
    assert added(before, "plugins", "enabled", "ours") == after
    assert added(after, "plugins", "enabled", "ours") == after
    assert "ours" in names(after, "plugins", "enabled")


@each("after", FORMS.values())
def test_a_name_is_removed_and_nothing_else(after: str) -> None:
    rest = removed(after, "plugins", "enabled", "ours")
    assert "ours" not in names(rest, "plugins", "enabled")
    gone = [line for line in after.splitlines(keepends=True) if line not in rest.splitlines(keepends=True)]
    assert len(gone) == 1
    assert "ours" in gone[0]


@each("text", ["plugins: {enabled: [x]}\n", "plugins:\n  enabled: &anchor\n    - x\n"])
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="form that is not edited"):
        added(text, "plugins", "enabled", "ours")


@given(st.lists(st.from_regex(r"\A[a-z][a-z0-9-]{0,8}\Z"), unique=True, max_size=5), st.booleans())
def test_names_come_back(listed: list[str], flow: bool) -> None:
    if flow:
        text = f"plugins:\n  enabled: [{', '.join(listed)}]\n"
    else:
        text = "plugins:\n  enabled:\n" + "".join(f"    - {name}\n" for name in listed)
    assert names(text, "plugins", "enabled") == listed
    once = added(text, "plugins", "enabled", "ours")
    assert set(names(once, "plugins", "enabled")) == {*listed, "ours"}
