"""Which policies are in force: profiles, the user's, a repository's, plugins', and what happens to broken ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.errors import PolicyError
from tallystick.guard.policies import Policies, load_set, policies_below, read_policy_file, shipped_policies
from tallystick.guard.policy_change import Change
from tallystick.journal.home import Home
from tallystick.policy.settings import Profile

ASK = '@id("mine.ask") @decision("ask") forbid (principal, action == Action::"run", resource);'
BROKEN = "\n\nforbid (principal, action, resource) when { context.nope };"


class Place:
    """A store whose policies change, and a clock that passes when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "store")
        self.home.make_folder(self.home.folder)
        self.now = 0.0
        self.told: list[Change] = []

    def policies(self) -> Policies:
        """The policies in force, with somebody who listens."""
        found = Policies(self.home, monotonic=lambda: self.now)
        found.listen(self.told.append)
        return found

    def write(self, text: str | None, folder: Path | None = None) -> None:
        """Write a policy, or take it away, and let some time pass."""
        path = (folder or self.home.folder) / "policy" / "mine.cedar"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
        self.now += 2.0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def ids(policies: Policies, root: str | None = None) -> set[str]:
    return {rule.id for rule in policies.in_force(root).rules}


def test_each_profile_has_a_set_that_loads() -> None:
    digests = {profile: load_set(profile).digest for profile in Profile}
    assert digests[Profile.OBSERVE] == digests[Profile.STANDARD]
    assert len(set(digests.values())) == 3
    names = {name for name, _ in shipped_policies(Profile.DEFAULT_DENY)}
    assert "base.cedar" not in names
    assert {name for name, _ in shipped_policies(Profile.STANDARD)} < {
        name for name, _ in shipped_policies(Profile.STRICT)
    }


def test_a_file_that_changes_is_in_force_a_second_later(place: Place) -> None:
    policies = place.policies()
    assert "mine.ask" not in ids(policies)
    place.write(ASK)
    assert "mine.ask" in ids(policies)
    place.write(None)
    assert "mine.ask" not in ids(policies)


@pytest.mark.parametrize("break_it", [lambda path: path.write_text(BROKEN), lambda path: path.write_bytes(b"\xff\xfe")])
def test_a_broken_file_leaves_the_last_good_set_in_force(place: Place, break_it: Callable[[Path], None]) -> None:
    policies = place.policies()
    place.write(ASK)
    good = policies.in_force(None).digest
    place.write("")
    break_it(place.home.folder / "policy" / "mine.cedar")
    assert policies.in_force(None).digest == good
    assert "mine.cedar" in (policies.error or "")
    assert place.policies().in_force(None).digest == good, "a recorder that starts anew knows it too"
    place.write(None)
    assert "mine.ask" not in ids(policies)
    assert policies.error is None


def test_settings_that_cannot_be_read_leave_the_settings_in_force(place: Place) -> None:
    place.home.config.write_text('[policy]\nprofile = "strict"\n')
    policies = place.policies()
    assert policies.settings.profile is Profile.STRICT
    place.home.config.write_text('[policy]\nprofile = "lenient"\n')
    place.now += 2.0
    strict = policies.in_force(None).digest
    assert (policies.settings.profile, strict) == (Profile.STRICT, load_set(Profile.STRICT).digest)
    assert "policy.profile" in (policies.error or "")


def test_each_change_is_told_once(place: Place) -> None:
    policies = place.policies()
    for text in (None, ASK, ASK, BROKEN, BROKEN, None):
        place.write(text)
        policies.in_force(None)
    assert [(change.error is not None, len(change.files)) for change in place.told] == [
        (False, 1),
        (True, 1),
        (False, 0),
    ], "as it is shipped is no change"
    assert [change.before for change in place.told[1:]] == [change.digest for change in place.told[:-1]]
    place.policies()
    assert len(place.told) == 3


def test_a_repository_adds_to_the_set_where_it_is_worked_in(place: Place, tmp_path: Path) -> None:
    policies = place.policies()
    place.write(ASK, tmp_path / "repo" / ".tally")
    assert "mine.ask" in ids(policies, str(tmp_path / "repo"))
    assert "mine.ask" not in ids(policies, str(tmp_path / "other"))
    assert "mine.ask" not in ids(policies)


@pytest.mark.parametrize("text", [BROKEN, "permit (principal, action, resource);", '@id("tally.store") ' + ASK[15:]])
def test_a_repository_whose_policies_cannot_be_used_takes_nothing_away(place: Place, tmp_path: Path, text: str) -> None:
    policies = place.policies()
    root = str(tmp_path / "repo")
    place.write(text, tmp_path / "repo" / ".tally")
    assert policies.in_force(root) is policies.current
    assert "mine.cedar" in (policies.error_in(root) or "")
    assert policies.error_in(str(tmp_path)) is None
    place.write(ASK, tmp_path / "repo" / ".tally")
    assert "mine.ask" in ids(policies, root)
    place.write(text, tmp_path / "repo" / ".tally")
    assert "mine.ask" in ids(policies, root), "the last good set stays"


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.cedar"
    path.write_bytes(b"//" + b"x" * (1 << 20))
    with pytest.raises(PolicyError, match=r"big\.cedar: it is larger than"):
        read_policy_file(path)
    with pytest.raises(PolicyError, match=r"big\.cedar"):
        policies_below(tmp_path)
