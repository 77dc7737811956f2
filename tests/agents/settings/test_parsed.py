from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.settings import NAMES, settings_adapters
from tallystick.agents.settings.audit import key_text, settings_hits
from tallystick.agents.settings.parsed import bad_line, parse, parse_value, walk
from tallystick.catalog.agents import Base
from tallystick.errors import FormatError
from tallystick.model.step import Json
from tests.agents.settings.cases import found, scrub
from tests.support.cases import each

JSON = b'{\n  // a comment\n  "a": {"b": [1,\n    2]},\n  "a": {"b": [3,\n    4,],},\n}\n'
TOML = b'x = 1\n[a]\nb = 2 # two\n[[c."d e"]]\nf.g = 3\n'


def test_lines_of_json_are_told_the_last_of_equal_names_counts() -> None:
    document = parse(JSON, "settings.json", Base.USER)
    assert document.at("a", "b") == [3, 4]
    assert [document.line(where) for where in (("a",), ("a", "b", 1), ("a", "z"), ())] == [5, 6, 5, 1]


def test_lines_of_toml_are_told() -> None:
    document = parse(TOML, "config.toml", Base.USER)
    assert [document.line(where) for where in (("x",), ("a", "b"), ("c", "d e", 0, "f", "g"), ("z",))] == [
        1,
        3,
        5,
        None,
    ]


def test_an_empty_file_holds_nothing() -> None:
    document = parse(b" \n", "settings.json", Base.USER)
    assert (document.value, document.line(("a",))) == ({}, None)


@each(
    "data, name, line",
    [
        (b'{"a": 1\n "b"}', "a.json", 2),
        (b"\xff", "a.json", 1),
        (b"[" * 100_000, "a.json", 1),
        (b"a = 1\nb = \n", "a.toml", 2),
        (b"a = 1\n\xff", "a.toml", 2),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(data: bytes, name: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        parse(data, name, Base.USER)
    assert bad_line(caught.value) == line


def test_what_is_nested_too_deep_for_toml_cannot_be_read() -> None:
    with pytest.raises(FormatError):
        parse(b"a = " + b"[" * 100_000, "a.toml", Base.USER)


def test_a_walk_is_bounded() -> None:
    assert sum(1 for _ in walk([0] * 100_000)) == 20_000


values: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=15,
)
keys = st.sampled_from(
    (
        *(
            "permissions",
            "allow",
            "sandbox",
            "network",
            "env",
            "hooks",
            "mcpServers",
            "mcp",
            "tools",
            "telemetry",
            "security",
        ),
        *("general", "server", "plugin", "provider", "otel", "history", "profiles", "projects", "permission", "agent"),
        *(
            "instructions",
            "trustedFolders",
            "autoApprovalSettings",
            "sandbox_workspace_write",
            "features",
            "share",
            "bash",
        ),
    )
)


@given(
    st.dictionaries(keys, values | st.dictionaries(keys, values, max_size=3), max_size=5), st.sampled_from(list(Base))
)
def test_no_shape_of_settings_makes_a_rule_fail_and_each_hit_has_a_line(content: dict[str, Any], base: Base) -> None:
    document = parse(json.dumps(content, indent=1).encode(), "settings.json", base)
    for adapter in settings_adapters().values():
        for hit in settings_hits(adapter, document, scrub):
            assert document.line(hit.where) is not None
            assert isinstance(key_text(hit), str)


@each("value", [None, True, 3, "text", [], [[]]])
def test_settings_that_are_no_object_hold_nothing(value: Any) -> None:
    assert len(NAMES) == len(settings_adapters())
    assert all(found(agent, value if not isinstance(value, str) else [value]) == [] for agent in settings_adapters())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
def test_the_value_alone_is_that_of_the_document(value: Json) -> None:
    data = json.dumps(value).encode()
    assert parse_value(data, "settings.json") == parse(data, "settings.json", Base.USER).value == value


@each(
    "data, name, value",
    [
        (b"", "settings.json", {}),
        (b" \n", "config.toml", {}),
        (b'{"a": 1, // one\n}', "settings.json", {"a": 1}),
        (b"a = 1\n[b]\nc = 2\n", "config.toml", {"a": 1, "b": {"c": 2}}),
    ],
)
def test_comments_and_toml_are_read_for_their_value_too(data: bytes, name: str, value: Json) -> None:
    assert parse_value(data, name) == value


@each("data, name", [(b"{", "settings.json"), (b"a = ", "config.toml"), (b"\xff", "x.toml")])
def test_what_the_agent_would_not_read_has_no_value(data: bytes, name: str) -> None:
    with pytest.raises(FormatError):
        parse_value(data, name)
