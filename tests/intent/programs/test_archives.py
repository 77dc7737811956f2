from __future__ import annotations

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_members_and_archives_are_told_apart(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_packed_goes_into_the_archive_and_out_of_it() -> None:
    assert flows("tar czf o a b") == ["a -> o", "b -> o"]
    assert flows("tar xzf o a") == ["o -> a"]
    assert flows("gzip a") == ["a -> a.gz"]
    assert acted("tar czf - a").prints == (0,)


def test_programs_of_tar_are_run() -> None:
    assert [code.text for code in acted("tar cf o a --checkpoint-action=exec=x").codes] == [Word("x")]


def test_a_list_of_members_is_unknown() -> None:
    assert acted("tar cf o -T list").is_unknown
    assert acted("cpio -o").is_unknown
    assert not acted("cpio -i").is_unknown
