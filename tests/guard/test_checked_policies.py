"""What the engine said of policies is kept for the next start, and is used for the same policies only."""

from pathlib import Path

import pytest

from tallystick.errors import PolicyError
from tallystick.guard.checked_policies import kept, stamp_of
from tallystick.guard.policies import schema, shipped_policies
from tallystick.policy.cedar.parsing import Checked, checked_in, parse
from tallystick.policy.settings import Profile

ONE = (("a.cedar", 'forbid (principal, action == Action::"delete", resource) when { resource.place == "home" };'),)


def never() -> dict[str, Checked]:
    raise AssertionError("it was made again")


def test_what_was_kept_is_not_made_again(tmp_path: Path) -> None:
    place, stamp = tmp_path / "checked.json", stamp_of(("schema", "text"))
    made = kept(stamp, lambda: checked_in(ONE, schema()), place)
    assert len(made) == 1
    assert kept(stamp, never, place) == made


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"stamp":'])
def test_what_is_of_other_policies_or_damaged_is_made_again(tmp_path: Path, content: bytes | None) -> None:
    place = tmp_path / "checked.json"
    kept(stamp_of(("other",)), dict, place)
    if content is not None:
        place.write_bytes(content)
    assert len(kept(stamp_of(("text",)), lambda: checked_in(ONE, schema()), place)) == 1
    assert len(kept(stamp_of(("text",)), never, place)) == 1


def test_where_nothing_can_be_kept_it_is_made_each_time(tmp_path: Path) -> None:
    place = tmp_path / "no" / "checked.json"
    assert len(kept("stamp", lambda: checked_in(ONE, schema()), place)) == 1
    assert not place.exists()


def test_policies_that_cannot_be_used_are_not_known(tmp_path: Path) -> None:
    def broken() -> dict[str, Checked]:
        raise PolicyError("broken")

    assert kept("stamp", broken, tmp_path / "checked.json") == {}


def test_policies_that_are_known_are_the_same_as_those_that_are_checked() -> None:
    files = shipped_policies(Profile.STRICT)
    plain, known = parse(files, schema()), parse(files, schema(), checked_in(files, schema()))
    assert (plain.rules, plain.mentions, plain.digest) == (known.rules, known.mentions, known.digest)
    assert (plain.by_name, plain.lifting) == (known.by_name, known.lifting)
    assert known.permits is None
