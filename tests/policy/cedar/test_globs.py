"""Globs of policies against what acts work on."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.cedar.globs import Anchors, Reach, fault_of, is_anywhere, meets, within

ANCHORS = Anchors(home="/h/dev", projects=("/h/dev/p", "/real/p"))
DEEP, PATTERN = "deep", "pattern"


def reach(path: str, how: str = "") -> Reach:
    return Reach(paths=(path,), is_deep=how == DEEP, is_pattern=how == PATTERN)


@pytest.mark.parametrize(
    ("glob", "path", "how", "meant"),
    [
        ("infra/prod/**", "/h/dev/p/infra/prod/a/b", "", True),
        ("infra/prod/**", "/real/p/infra/prod/a", "", True),
        ("infra/prod/**", "/h/dev/p/infra/prod", "", True),
        ("infra/prod/**", "/h/dev/p/infra", "", False),
        ("infra/prod/**", "/h/dev/p/infra", DEEP, True),
        ("infra/prod/**", "/", DEEP, True),
        ("infra/prod/**", "/h/dev/p/infra/production", DEEP, False),
        ("infra/prod/**", "/h/dev/p/in*/pr*", PATTERN, True),
        ("infra/prod/**", "/h/dev/p/in*/d*", PATTERN, False),
        ("*.lock", "/h/dev/p/a/b.lock", "", True),
        ("*.lock", "/h/dev/p/node_modules", DEEP, False),
        ("*.lock", "/h/dev/p", DEEP, True),
        ("*.lock", "/h/dev/other/b.lock", "", False),
        ("src/**/gen/*.py", "/h/dev/p/src/gen/x.py", "", True),
        ("src/**/gen/*.py", "/h/dev/p/src/a/b/gen/x.py", "", True),
        ("src/**/gen/*.py", "/h/dev/p/src/a/gen/y/x.py", "", False),
        ("v?/a", "/h/dev/p/v1/a", "", True),
        ("v?/a", "/h/dev/p/v10/a", "", False),
        ("src/*", "/h/dev/p/src/a/b", "", False),
        ("src/*/", "/h/dev/p/src/a/b", "", True),
        ("[a-c]x/y", "/h/dev/p/bx/y", "", True),
        ("[a-c]x/y", "/h/dev/p/dx/y", "", False),
        ("[!a]x/y", "/h/dev/p/bx/y", "", True),
        (r"\*x/y", "/h/dev/p/*x/y", "", True),
        (r"\*x/y", "/h/dev/p/ax/y", "", False),
        ("**", "/h/dev/p/q/r", "", True),
        ("~/notes/**", "/h/dev/notes/a", "", True),
        ("/srv/x", "/srv/x/y", "", True),
    ],
)
def test_a_glob_means_what_gitignore_means_by_it(glob: str, path: str, how: str, meant: bool) -> None:
    assert meets(glob, reach(path, how), ANCHORS) is meant


def test_what_is_permitted_lies_in_the_glob_as_a_whole() -> None:
    def is_within(glob: str, path: str, how: str = "") -> bool:
        return within(glob, reach(path, how), ANCHORS)

    assert is_within("docs/**", "/h/dev/p/docs/a")
    assert is_within("docs/**", "/h/dev/p/docs", DEEP)
    assert not is_within("docs/**", "/h/dev/p", DEEP)
    assert not is_within("docs/*", "/h/dev/p/docs/a", DEEP)
    assert not is_within("docs/**", "/h/dev/p/docs/*", PATTERN)
    both = Reach(paths=("/h/dev/p/docs/link", "/etc/passwd"))
    assert not within("docs/**", both, ANCHORS), "a link leads out of it"
    assert meets("docs/**", both, ANCHORS)


@pytest.mark.parametrize("glob", ["", "/", "~", "a/../b", "./a", "a//b", "~root/x"])
def test_a_glob_that_names_no_path_says_why(glob: str) -> None:
    assert fault_of(glob)


def test_a_glob_may_name_files_in_folders_that_it_does_not_name() -> None:
    assert [is_anywhere(glob) for glob in ("*.pem", "a/**/b", "a/**", "**", "a/b", "a/")] == [
        True,
        True,
        False,
        False,
        False,
        True,
    ]


WILD = st.text(alphabet="ab*?", min_size=1, max_size=6)


@given(WILD, st.text(alphabet="ab", min_size=1, max_size=6))
def test_in_one_folder_a_glob_is_that_of_the_shell(glob: str, name: str) -> None:
    if "**" in glob:
        return
    assert meets(f"/d/{glob}", reach(f"/d/{name}"), ANCHORS) is fnmatch.fnmatchcase(name, glob)


@given(WILD, WILD, st.text(alphabet="ab", min_size=1, max_size=6))
def test_patterns_meet_where_one_name_has_both_forms(glob: str, other: str, name: str) -> None:
    if fnmatch.fnmatchcase(name, glob) and fnmatch.fnmatchcase(name, other):
        assert meets(f"/d/{glob}", reach(f"/d/{other}", PATTERN), ANCHORS)
