from __future__ import annotations

import pytest

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pax -w a", ["read* a"]),
        ("pax -wf o a", ["read* a", "write o"]),
        ("shar a", ["read* a"]),
        ("restic -r r backup a", ["copy_source* a"]),
        ("borg create r::n a", ["copy_source* a"]),
        ("restic snapshots", []),
        ("duplicity a file:///d", ["copy_source* a"]),
        ("tar cfz o.tgz a", ["read* a", "write o.tgz"]),
        ("tar -C d -cf o a -C e b", ["read* d/a", "read* d/e/b", "write o"]),
        ("tar --directory=d -xf o", ["read o", "write* d"]),
        ("tar x", ["write*< ."]),
        ("tar -xf - -C d", ["write*< d"]),
        ("tar xf o --one-top-level=t -C d", ["read o", "write* d/t"]),
        ("tar", []),
        ("zip -rm o.zip a", ["read* a", "write o.zip", "delete* a"]),
        ("zip - a", ["read a"]),
        ("unzip o.zip -x a -d d", ["read o.zip", "write* d"]),
        ("7z x o.7z", ["read o.7z", "write* ."]),
        ("7z a -sdel o.7z d", ["read* d", "write o.7z", "delete* d"]),
        ("ar x l.a b.o", ["read l.a", "write b.o"]),
        ("jar cmf m o.jar a", ["read* a", "read* m", "write o.jar"]),
        ("cpio -p d", ["write*< d"]),
        ("gzip -dk a.gz", ["read a.gz", "write a"]),
        ("gunzip a.tgz", ["read a.tgz", "write a.tar", "delete a.tgz"]),
        ("xz -l a.xz", ["read a.xz"]),
        ("zstd a -o b", ["read a", "write b"]),
    ],
)
def test_members_and_archives_are_told_apart(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_packed_goes_into_the_archive_and_out_of_it() -> None:
    assert flows("tar czf o a b") == ["a -> o", "b -> o"]
    assert flows("tar xzf o a") == ["o -> a"]
    assert flows("gzip a") == ["a -> a.gz"]
    assert acted("tar czf - a").prints == (0,)


def test_programs_of_tar_are_run() -> None:
    assert [code.text for code in acted("tar -I 'zstd -T0' -cf o a").codes] == [Word("zstd -T0")]
    assert [code.text for code in acted("tar cf o a --checkpoint-action=exec=x").codes] == [Word("x")]


def test_a_list_of_members_is_unknown() -> None:
    assert acted("tar cf o -T list").is_unknown
    assert acted("cpio -o").is_unknown
    assert not acted("cpio -i").is_unknown
