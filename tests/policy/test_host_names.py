"""Hosts that are known by their names."""

from tallystick.policy.host_names import METADATA_NAMES, PASTES, REGISTRIES, is_below


def test_names_are_written_as_they_are_compared() -> None:
    for name in METADATA_NAMES | PASTES | REGISTRIES:
        assert name == name.lower().strip(".")


def test_no_host_is_in_two_lists() -> None:
    assert not METADATA_NAMES & PASTES
    assert not METADATA_NAMES & REGISTRIES
    assert not PASTES & REGISTRIES


def test_what_is_below_a_name_is_a_whole_label_below_it() -> None:
    names = frozenset({"example.org"})
    assert is_below("example.org", names)
    assert is_below("a.b.example.org", names)
    assert not is_below("notexample.org", names)
    assert not is_below("example.org.net", names)
    assert not is_below("", names)
    assert not is_below("org", frozenset())
