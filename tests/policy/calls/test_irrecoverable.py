"""What is gone for good, and for whom."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.calls.irrecoverable import NOTHING, Loss, PastOf, beginning, loss, loss_of
from tallystick.policy.world import Maker, Provenance, Tracking
from tests.support.cases import each


def wrote(own: set[str]) -> PastOf:
    """A record in which the session made some files."""
    return lambda path: Provenance(maker=Maker.REQUEST, is_new=True) if path in own else Provenance()


PATHS = st.lists(st.sampled_from(["/w/a", "/w/b", "/w/c"]), max_size=3, unique=True).map(tuple)


@given(PATHS, PATHS, st.sets(st.sampled_from(["/w/a", "/w/b", "/w/c"])), st.booleans())
def test_only_what_others_made_is_lost(
    changed: tuple[str, ...], untracked: tuple[str, ...], own: set[str], is_removed: bool
) -> None:
    tracking = Tracking(root="/", changed=changed, untracked=untracked)
    found = loss("/w", tracking, wrote(own), is_removed=is_removed)
    assert found == Loss(changes=not own.issuperset(changed), files=not own.issuperset(untracked))


def test_what_the_session_made_itself_is_no_loss() -> None:
    assert loss("/w", Tracking(changed=("/w/a",)), wrote({"/w"}), is_removed=True) == NOTHING


def test_what_the_session_only_changed_is_its_own_where_a_commit_has_the_rest() -> None:
    def changed(_: str) -> Provenance:
        return Provenance(maker=Maker.SESSION)

    assert loss("/w", Tracking(changed=("/w",)), changed, is_removed=True) == NOTHING
    assert loss("/w", Tracking(untracked=("/w",)), changed, is_removed=True) == Loss(files=True)


@each(
    "pattern, folder, last",
    [("/w/*.py", "/w", "*.py"), ("/w/**/*.py", "/w", "*.py"), ("/w/a/*", "/w/a", ""), ("/w/a?/x.py", "/w", "x.py")],
)
def test_a_pattern_begins_where_it_is_told(pattern: str, folder: str, last: str) -> None:
    assert beginning(pattern) == (folder, last)


def test_of_a_pattern_only_what_it_names_is_lost() -> None:
    tracking = Tracking(changed=("/w/a.py", "/w/b.c"), untracked=("/w/x/n.txt",))
    assert loss_of("/w", tracking, "*.py", wrote(set())) == Loss(changes=True)
    assert loss_of("/w", tracking, "*.py", wrote({"/w/a.py"})) == NOTHING
    assert loss_of("/w", tracking, "n.*", wrote(set())) == Loss(files=True)


def test_a_repository_goes_with_all_that_it_has_committed() -> None:
    committed = Tracking(root="/w", is_tracked=True, is_committed=True)
    assert loss("/w", committed, wrote(set()), is_removed=True) == Loss(changes=True, files=True)
    assert loss("/w", committed, wrote(set()), is_removed=False) == NOTHING
    assert loss_of("/w", Tracking(untracked=("/w",)), "n.*", wrote(set())) == Loss(files=True)
