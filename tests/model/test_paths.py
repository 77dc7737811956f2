from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.paths import System, folder_of, home_of, identity, placed, spelled, system_of
from tests.support.cases import each


@each(
    "path, folder, found",
    [
        ("a", "/w", "/w/a"),
        ("./a//b/../c/", "/w", "/w/a/c"),
        ("../../../a", "/w/x", "/a"),
        ("/a/./b", "/w", "/a/b"),
        ("//a", "/w", "/a"),
        ("a", "/", "/a"),
        ("", "/w", "/w"),
        ("a/../b", None, "b"),
        ("../a", None, "../a"),
        ("a", "", "a"),
    ],
)
def test_a_path_has_one_spelling(path: str, folder: str | None, found: str) -> None:
    assert placed(path, folder) == found


@given(st.text("a./~ ", max_size=20), st.sampled_from(["/w", "/", "/w/x", None]))
def test_what_is_simple_stays_as_it_is(path: str, folder: str | None) -> None:
    once = placed(path, folder)
    assert placed(once, None) == once
    if folder is not None:
        assert once.startswith("/")
        assert "//" not in once


_PROJECT = "/mnt/c/Users/dev/project"


@each(
    "path",
    [
        r"C:\Users\dev\x.py",
        r"c:\Users\dev\x.py",
        "C:/Users/dev/x.py",
        "/c/Users/dev/x.py",
        "/cygdrive/c/Users/dev/x.py",
        "/proc/cygdrive/c/Users/dev/x.py",
        "/mnt/c/Users/dev/x.py",
        r"\\?\C:\Users\dev\x.py",
        r"\\.\C:\Users\dev\x.py",
        r"\\localhost\c$\Users\dev\x.py",
        r"C:\Users\dev\project\..\x.py",
        r"C:\Users\dev\x.py. ",
        r"C:\Users\dev\x.py::$DATA",
        "c:/users/DEV/x.py",
        r"..\x.py",
        "../x.py",
    ],
)
def test_a_path_of_windows_has_one_spelling(path: str) -> None:
    assert placed(path, _PROJECT) == "/mnt/c/Users/dev/x.py"
    assert placed(path, r"C:\Users\dev\project") == "/mnt/c/Users/dev/x.py"


@each(
    "path, folder, found",
    [
        ("C:", None, "/mnt/c"),
        (r"C:\..\..\x", None, "/mnt/c/x"),
        (r"\\server\share\x", None, "/mnt/unc/server/share/x"),
        (r"\\?\UNC\server\share\x", None, "/mnt/unc/server/share/x"),
        (r"\\wsl$\Ubuntu\home\dev\x", None, "/home/dev/x"),
        ("/d/work", _PROJECT, "/mnt/d/work"),
        ("/d/work", "/home/dev", "/d/work"),
        (r"a\b", "/home/dev", r"/home/dev/a\b"),
        ("c:x", "/home/dev", "/home/dev/c:x"),
        ("/private/tmp/x", None, "/tmp/x"),
        ("/private/var/folders/zz/T/x", None, "/var/folders/zz/T/x"),
        ("/private/x", None, "/private/x"),
        (r"\\.\PhysicalDrive0", "/home/dev", r"\\.\PhysicalDrive0"),
        ("/System/Volumes/Data/Users/dev/x", None, "/Users/dev/x"),
        ("/users/DEV/x", "/Users/dev/project", "/Users/dev/x"),
        ("/users/dev/x", "/home/dev", "/users/dev/x"),
        ("Cafe\u0301", "/Users/dev", "/Users/dev/Caf\u00e9"),
        ("Cafe\u0301", "/home/dev", "/home/dev/Cafe\u0301"),
    ],
)
def test_what_systems_spell_in_their_own_way(path: str, folder: str | None, found: str) -> None:
    assert placed(path, folder) == found
    assert placed(found, folder) == found


def test_on_volumes_that_know_no_case_two_spellings_are_one_file() -> None:
    assert identity("/mnt/c/Users/dev/A.py") == identity("/mnt/c/users/dev/a.py")
    assert identity("/Users/dev/Cafe\u0301") == identity("/Users/dev/caf\u00e9")
    assert identity("/home/dev/A.py") != identity("/home/dev/a.py")


def test_a_pattern_keeps_its_segments() -> None:
    assert spelled("c:/users/*") == "/mnt/c/users/*"
    assert spelled("/home/dev/./*") == "/home/dev/./*"


def test_the_folder_of_a_session_tells_its_system_and_home() -> None:
    assert system_of(r"C:\work") is system_of("/c/Users/dev") is System.WINDOWS
    assert system_of("/mnt/c/work") is system_of("/home/dev") is system_of(None) is System.UNIX
    assert home_of(r"C:\Users\dev\project") == "/mnt/c/Users/dev"
    assert (home_of("/Users/dev/x"), home_of("/srv/x"), home_of(None)) == ("/Users/dev", None, None)
    assert (folder_of(r"D:\work"), folder_of(""), folder_of(None)) == ("/mnt/d/work", None, None)
