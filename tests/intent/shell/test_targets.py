"""What a word names."""

import posixpath

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.targets import Target, clean, is_no_file, path_of, socket_of, spelled, target_of
from tallystick.model.intent import Domain
from tallystick.model.script import HOLE, STAR, Word

PATHS = st.text(alphabet="ab./", min_size=1, max_size=12)


@given(PATHS)
def test_a_path_in_a_folder_is_absolute_and_simple(path: str) -> None:
    found = path_of(Word(path), "/w/x")
    assert found.is_known
    assert found.text == posixpath.normpath("/" + posixpath.join("/w/x", path).lstrip("/"))


@given(PATHS)
def test_where_the_folder_is_not_known_only_absolute_paths_are(path: str) -> None:
    assert path_of(Word(path), None).text.startswith("/") == path.startswith("/")


def test_what_is_not_known_is_left_out() -> None:
    assert path_of(Word(f"a/{HOLE}/b"), "/w") == Target("/w/a/b", False)
    assert path_of(Word(f"{HOLE}/etc/b"), "/w") == Target("etc/b", False)
    assert path_of(Word(HOLE), "/w") == Target("", False)
    assert path_of(Word(""), "/w") == Target("", False)
    assert path_of(Word("a" * 5000), "/w").is_known is False


def test_wildcards_are_shown_as_they_are_written() -> None:
    assert path_of(Word(f"{STAR}.c"), "/w") == Target("/w/*.c", True, True)
    assert path_of(Word("*.c"), "/w") == Target("/w/*.c", True, False)


def test_what_is_no_file_is_taken_as_it_stands() -> None:
    assert target_of(Domain.NETWORK, Word("http://h/../x"), "/w") == Target("http://h/../x")
    assert path_of(Word("//a//b/"), None).text == "/a/b"


def test_devices_and_sockets_are_told_from_files() -> None:
    assert is_no_file("/dev/null")
    assert is_no_file("/dev/fd/3")
    assert not is_no_file("/dev/sda")
    assert not is_no_file("/w/dev/null")
    assert socket_of("/dev/tcp/host/80") == "host:80"
    assert socket_of("/dev/tcp/host") is None


@given(st.text(max_size=20) | st.text(alphabet="\ud800a", max_size=5))
def test_any_text_is_made_fit_to_be_stored(text: str) -> None:
    clean(text).encode("utf-8")
    assert clean(text) == text or not text.isascii()


def test_words_are_shown_cut() -> None:
    assert spelled((Word("a"), Word("b" * 9999))) == ("a", "b" * 1024)
    assert len(spelled((Word("a"),) * 999)) == 64
