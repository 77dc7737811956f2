"""Paths and URLs as the graph names them."""

import posixpath

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.tools.paths import absolute, web_address
from tests.support.cases import each, each_case

SEGMENTS = st.lists(st.sampled_from(["a", "b.c", ".", "..", "", ".d", "e f", "-"]), max_size=8).map("/".join)


@each_case("path, expected")
def test_a_path_is_absolute_and_normal(path: str, expected: str) -> None:
    assert absolute(path, "/w", "/home/dev") == (expected, True)


@given(SEGMENTS)
def test_normal_means_what_it_means_to_the_standard_library(path: str) -> None:
    expected = posixpath.normpath(posixpath.join("/w", path))
    assert absolute(path, "/w", None) == (expected[1:] if expected.startswith("//") else expected, True)


@given(SEGMENTS)
def test_a_normal_path_stays_as_it_is(path: str) -> None:
    once, _ = absolute(path, "/w", None)
    assert absolute(once, "/elsewhere", "/home/dev") == (once, True)


@each("path", ["/a\0b", "/\ud800", "/" + "a" * 5000])
def test_what_no_file_can_be_called_is_not_known(path: str) -> None:
    found, is_known = absolute(path, None, None)
    assert not is_known
    assert found.encode()


def test_an_address_has_a_scheme() -> None:
    assert web_address("x.org/a") == "http://x.org/a"
    assert web_address(" https://x.org ") == "https://x.org"
