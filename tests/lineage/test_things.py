from __future__ import annotations

import pytest

from tallystick.lineage.things import Thing, commit_thing, file_thing, touched
from tallystick.model.intent import Domain, Intent, Operation
from tests.support.cases import each


def intent(target: str, operation: Operation = Operation.READ, domain: Domain = Domain.FILE, **more: bool) -> Intent:
    return Intent(domain=domain, operation=operation, target=target, **more)  # type: ignore[arg-type]


@each("path", ["/tmp/a", "/w/a b", "/w/%41", "/w/app/[slug]/page.tsx", "/w/é"])
def test_a_path_is_spelled_as_it_is(path: str) -> None:
    assert file_thing(path) == Thing("file", f"file://{path}")


def test_a_relative_path_says_that_it_is_one() -> None:
    assert file_thing("a/b") == Thing("file", "file:a/b")


def test_an_intent_that_does_not_tell_which_file_touches_none() -> None:
    assert touched(intent("/w/*.py", is_pattern=True)) is None
    assert touched(intent("/w/", is_known=False)) is None
    assert touched(intent("")) is None
    assert touched(intent("/w/a\0b")) is None
    assert touched(intent("/" + "a" * 5000)) is None


def test_listing_a_folder_and_entering_it_touch_nothing() -> None:
    assert touched(intent("/w", Operation.LIST)) is None
    assert touched(intent("/w", Operation.FOLDER)) is None


@pytest.mark.parametrize(
    ("target", "thing"),
    [
        ("https://example.org/a", Thing("url", "https://example.org/a")),
        ("db.example.org:5432", Thing("url", "tcp://db.example.org:5432")),
        ("mcp://notes/memo://1", Thing("mcp_resource", "mcp://notes/memo://1")),
        ("websearch:tally sticks", Thing("search", "websearch:tally sticks")),
        ("pkg:pypi/h11", Thing("package", "pkg:pypi/h11")),
        ("origin", None),
    ],
)
def test_what_is_reached_over_a_network_has_a_kind(target: str, thing: Thing | None) -> None:
    assert touched(intent(target, Operation.FETCH, Domain.NETWORK)) == thing


def test_a_program_that_runs_is_no_thing() -> None:
    assert touched(intent("make", Operation.RUN, Domain.PROCESS)) is None


def test_a_commit_is_named_by_its_hash() -> None:
    assert commit_thing("1a2b3c4") == Thing("commit", "commit:1a2b3c4")
