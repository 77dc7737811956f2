"""Fingerprints: Lango's golden digests, and the laws of ours."""

import hmac
import json
import struct
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.model.step import Json
from tallystick.sessions.fingerprint import (
    Hook,
    fingerprint,
    in_order,
    input_digest,
    lango_metadata,
    lango_registry,
    overall_digest,
    section_digest,
    section_key,
)
from tests.support.cases import each

KEY = bytes(range(32))
FRESH = {"knowledge": True, "memory": True, "retrieval": True}
FOUR = {"enabled": True, "securityFilter": True, "accessControl": True, "eventPublishing": True}

# Made by Lango's own encoder: specs/lango.md 8.1.
GOLDEN: tuple[tuple[str, list[str] | None, dict[str, bool], dict[str, Json], str], ...] = (
    ("nothing at all", None, {}, {}, "dab05aa057f5d56dc814cda9f6a37777e9d062494928207f7d8f43160f2d694f"),
    ("an empty map of keys", [], {}, {}, "65bb5054b26c7efcbad4b4c767e51426daaeb7bea8ae0e34a12f9acc7ee90b99"),
    ("a fresh install", None, FRESH, {}, "584f89c0f9adff1fb1085cf822d108b9e47fd1315f36aef4bc7ff47f682a7c8e"),
    (
        "keys, flags, hooks and blocked commands",
        ["knowledge.enabled", "graph.enabled", "embedding.provider"],
        {"memory": True, "retrieval": True},
        {**FOUR, "blockedCommands": ["rm -rf /", "curl x && sh <y>", "é\u2028"]},
        "50f620cff24e4d2cbc686cf3c72141b82bd12a85a0ec1d027ea2ca63a97c6948",
    ),
    (
        "an empty list of blocked commands",
        None,
        {},
        {"blockedCommands": []},
        "642b7c3540b713a315ebdad6b69b66b981a71b77b7b84006cf3e19940b7baa98",
    ),
    (
        "control characters",
        None,
        {},
        {"blockedCommands": ['a\bb\fc\nd\x01"\\/\x7f']},
        "90f32e499d37ddc47f79366d08d82f1e1b8f85fd2c77b2d4f181ae3d0482cd62",
    ),
)


@each("explicit, auto, hooks, digest", [case[1:] for case in GOLDEN], ids=[case[0] for case in GOLDEN])
def test_langos_fingerprints_are_reproduced(
    explicit: list[str] | None, auto: dict[str, bool], hooks: dict[str, Json], digest: str
) -> None:
    assert fingerprint(explicit=explicit, auto_enabled=auto, hooks=hooks) == digest
    assert fingerprint(explicit=explicit, auto_enabled=auto, hooks=hooks, profile="lango") == digest


def test_no_keys_and_no_map_of_keys_differ() -> None:
    absent = fingerprint(explicit=None, auto_enabled={}, hooks={})
    assert absent != fingerprint(explicit=(), auto_enabled={}, hooks={})


def test_an_explicit_key_may_be_given_with_its_value_too() -> None:
    values = {"graph.enabled": False, "knowledge.enabled": True}
    named = fingerprint(explicit=sorted(values, reverse=True), auto_enabled={}, hooks={})
    assert fingerprint(explicit=values, auto_enabled={}, hooks={}) == named


def test_a_flag_that_is_off_is_as_one_that_is_not_there() -> None:
    off = dict.fromkeys(("knowledge", "memory", "retrieval", "embedding"), False)
    hooks = dict.fromkeys(FOUR, False)
    assert fingerprint(explicit=None, auto_enabled=off, hooks=hooks) == GOLDEN[0][-1]


def test_flags_may_be_given_as_names_and_nothing_as_none() -> None:
    assert fingerprint(explicit=None, auto_enabled=["retrieval", "memory", "knowledge"], hooks=None) == GOLDEN[2][-1]
    assert fingerprint(explicit=None, auto_enabled=None, hooks=None) == GOLDEN[0][-1]


@each("explicit, auto, blocked", [("graph.enabled", {}, []), (None, "memory", []), (None, {}, "rm -rf /")])
def test_a_text_is_not_taken_for_a_list_of_its_letters(
    explicit: str | None, auto: str | dict[str, bool], blocked: Json
) -> None:
    with pytest.raises(UsageError, match="one text"):
        fingerprint(explicit=explicit, auto_enabled=auto, hooks={"blockedCommands": blocked})


@each("auto, hooks, profile", [({"sync": True}, {}, "lango"), ({}, {"onStart": 1}, "lango"), ({}, {}, "other")])
def test_what_lango_does_not_have_is_refused(auto: dict[str, bool], hooks: dict[str, Json], profile: str) -> None:
    with pytest.raises(UsageError):
        fingerprint(explicit=None, auto_enabled=auto, hooks=hooks, profile=profile)


# Hooks ------------------------------------------------------------------------------------------------------------------

FILTER = Hook(name="security_filter", priority=10)
ACCESS = Hook(name="agent_access_control", priority=20)
BUS = Hook(name="eventbus", priority=50)
BUS_AFTER = Hook(name="eventbus", priority=50, phase="post")


@each(
    "hooks, text",
    [
        ((), "[]"),
        ((FILTER,), '[{"name":"security_filter","priority":10}]'),
        (
            (BUS_AFTER, BUS, ACCESS, FILTER),
            '[{"name":"security_filter","priority":10},{"name":"agent_access_control","priority":20},'
            '{"name":"eventbus","priority":50},{"name":"eventbus","priority":50}]',
        ),
    ],
    ids=["before any is registered", "the default", "access control and event publishing"],
)
def test_langos_registry_is_its_compact_json(hooks: tuple[Hook, ...], text: str) -> None:
    assert lango_registry(hooks) == text


def test_metadata_in_langos_form_is_a_map_of_strings() -> None:
    said = lango_metadata("00ff", ())
    assert said == {"config_fingerprint": "00ff", "hook_registry": "[]"}
    assert json.loads(lango_metadata("00ff", (FILTER,))["hook_registry"]) == [
        {"name": "security_filter", "priority": 10}
    ]


HOOKS = st.lists(
    st.builds(
        Hook,
        name=st.text(max_size=3),
        priority=st.integers(0, 3),
        phase=st.sampled_from(["pre", "post", "stop"]),
        enabled=st.booleans(),
        digest=st.none() | st.sampled_from(["00", "ff"]),
    ),
    max_size=8,
)


@given(HOOKS, st.randoms(use_true_random=False))
def test_the_order_of_hooks_is_that_of_no_file(hooks: list[Hook], random: object) -> None:
    shuffled = sorted(hooks, key=lambda _: random.random())  # type: ignore[attr-defined]
    names = [(hook.phase, hook.priority, hook.name, hook.digest) for hook in in_order(hooks)]
    assert names == [(hook.phase, hook.priority, hook.name, hook.digest) for hook in in_order(shuffled)]


def test_our_registry_says_more_than_name_and_priority() -> None:
    told = Hook(name="guard", priority=1, phase="post", enabled=False, digest="ab").told()
    assert told == {"name": "guard", "priority": 1, "phase": "post", "enabled": False, "digest": "ab"}
    assert "digest" not in FILTER.told()


# Ours -------------------------------------------------------------------------------------------------------------------


def framed(*parts: bytes) -> bytes:
    """The message of decision 0022, written out."""
    return b"".join(struct.pack(">Q", len(part)) + part for part in (b"tallystick/configuration/1", *parts))


def test_the_formula_is_that_of_the_decision() -> None:
    def keyed(key: bytes, *parts: bytes) -> bytes:
        return hmac.digest(key, framed(*parts), "sha256")

    of_section = keyed(KEY, b"key", b"hooks")
    assert section_key(KEY, "hooks") == of_section
    one = keyed(of_section, b"input", b"a", b"data").hex()[:32]
    assert input_digest(of_section, "a", b"data") == one
    whole = keyed(of_section, b"section", b"a", one.encode()).hex()
    assert section_digest(of_section, [("a", one)]) == whole
    assert overall_digest(KEY, {"hooks": whole}) == keyed(KEY, b"all", b"hooks", whole.encode()).hex()


INPUTS = st.dictionaries(st.text(max_size=4), st.binary(max_size=6), max_size=5)


def digest_of(key: bytes, inputs: Mapping[str, bytes]) -> str:
    return section_digest(key, [(name, input_digest(key, name, data)) for name, data in inputs.items()])


@given(INPUTS, INPUTS)
def test_sections_are_the_same_if_their_inputs_are(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    key = section_key(KEY, "settings")
    assert (digest_of(key, one) == digest_of(key, other)) == (one == other)


@given(INPUTS)
def test_a_section_does_not_depend_on_the_order_of_its_inputs(inputs: dict[str, bytes]) -> None:
    key = section_key(KEY, "settings")
    assert digest_of(key, inputs) == digest_of(key, dict(reversed(inputs.items())))


@given(INPUTS)
def test_another_store_or_another_section_has_other_digests(inputs: dict[str, bytes]) -> None:
    here = section_key(KEY, "settings")
    assert digest_of(here, inputs) != digest_of(section_key(bytes(32), "settings"), inputs)
    assert digest_of(here, inputs) != digest_of(section_key(KEY, "hooks"), inputs)


@given(st.dictionaries(st.sampled_from(["a", "b", "ab"]), st.text("0f", min_size=1, max_size=3)))
def test_the_fingerprint_is_of_all_sections_and_their_names(sections: dict[str, str]) -> None:
    digest = overall_digest(KEY, sections)
    assert digest == overall_digest(KEY, dict(reversed(sections.items())))
    for name in sections:
        assert overall_digest(KEY, {**sections, name: sections[name] + "0"}) != digest
        assert overall_digest(KEY, {other: value for other, value in sections.items() if other != name}) != digest


def test_parts_cannot_slide_into_each_other() -> None:
    key = section_key(KEY, "settings")
    assert input_digest(key, "ab", b"c") != input_digest(key, "a", b"bc")
    assert section_digest(key, [("a", "b"), ("c", "d")]) != section_digest(key, [("a", "bc"), ("", "d")])
