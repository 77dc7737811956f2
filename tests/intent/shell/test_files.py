"""The texts that scripts are read from."""

from tallystick.intent.shell.files import Files, language_of
from tests.support.cases import each


def test_a_file_is_read_once() -> None:
    asked: list[str] = []

    def read(path: str) -> str:
        asked.append(path)
        return "text"

    files = Files(read)
    assert [files.text("/a"), files.text("/a"), files.before("/a")] == ["text"] * 3
    assert asked == ["/a"]


def test_what_the_call_writes_is_what_it_runs() -> None:
    files = Files({"/a": "old"}.get)
    files.change("/a", "new")
    assert (files.text("/a"), files.before("/a"), files.is_changed("/a")) == ("new", "old", True)
    files.change("/a", None)
    assert files.text("/a") is None
    assert Files(None).text("/a") is None


def test_files_are_bounded() -> None:
    files = Files(lambda path: "x" * 300_000)
    texts = [files.text(f"/{n}") for n in range(100)]
    assert max(len(text) for text in texts if text is not None) == 256 << 10
    assert sum(len(text) for text in texts if text is not None) <= 5 << 18
    assert sum(text is not None for text in texts) <= 20


def test_a_script_is_not_opened_in_itself_nor_too_deep() -> None:
    files = Files(None)
    assert files.may_open("/a")
    files.open += ["/a", "/b"]
    assert not files.may_open("/a")
    assert files.may_open("/c")
    files.open += ["/c", "/d", "/e"]
    assert files.may_open("/f")
    files.open.append("/f")
    assert not files.may_open("/g")


@each(
    "text, path, interpreter, language",
    [
        ("#!/bin/sh\n", "/x.py", "python", "sh"),
        ("#!/usr/bin/env python3\n", "/x", "", "python"),
        ("#!/usr/bin/env -S node --x\n", "/x", "", "javascript"),
        ("#! /usr/local/bin/perl -w\n", "/x", "", "perl"),
        ("", "/x.rb", "bash", "ruby"),
        ("", "/a.b/x", "bash", "sh"),
        ("", "/x.txt", "python", "python"),
        ("", "/x", "x", None),
        ("#!/opt/unheard\n", "/x", "", None),
    ],
)
def test_the_first_line_tells_the_language_then_the_name_then_the_program(
    text: str, path: str, interpreter: str, language: str | None
) -> None:
    assert language_of(text, path, interpreter) == language
