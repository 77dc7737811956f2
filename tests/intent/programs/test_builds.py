from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("make install DESTDIR=/opt", ["execute Makefile", "write* /opt"]),
        ("make PREFIX=/opt", ["execute Makefile"]),
        ("cmake --install b --prefix /opt", ["edit* b", "write* /opt"]),
        ("cc a.c b.c -c", ["read a.c", "read b.c", "write a.o", "write b.o"]),
        ("cc -oa a.c", ["read a.c", "write a"]),
        ("cc -Iinc -DX=1 -I inc -c d/a.c", ["read d/a.c", "write a.o"]),
        ("cc -S a.c", ["read a.c", "write a.s"]),
        ("cc --version", []),
        ("rustc --out-dir d s/a.rs", ["read s/a.rs", "write d/a"]),
        ("javac @l -d o A.java", ["read l", "read A.java", "write* o"]),
        ("make -C a -C b x", ["execute a/b/Makefile"]),
        ("make --version", []),
        ("cmake -P s", ["execute s"]),
        ("cmake -S s -B b", ["execute s/CMakeLists.txt", "write* b"]),
        ("just -f j x", ["execute j"]),
        ("ninja -C b", ["execute b/build.ninja"]),
        ("objcopy -O binary a b", ["read a", "write b"]),
        ("perf record x", ["execute x"]),
    ],
)
def test_sources_and_results_are_told_apart(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_sources_go_into_their_results() -> None:
    assert flows("cc a.c b.c") == ["a.c -> a.out", "b.c -> a.out"]
    assert flows("cc -c a.c b.c") == ["a.c -> a.o", "b.c -> b.o"]


def test_what_a_target_does_is_unknown() -> None:
    assert acted("make x").is_unknown
    assert not acted("make -n x").is_unknown
    assert acted("just x").is_unknown
    assert not acted("just --list").is_unknown
    assert acted("cmake --build b").is_unknown
