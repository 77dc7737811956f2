from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.journal import lines as lines_module
from tallystick.journal.lines import JudgedLines, LineFile
from tests.support.cases import each


@given(
    st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line)), st.binary(max_size=5), st.integers(1, 9)
)
def test_lines_come_back_as_they_were_written(written: list[bytes], tail: bytes, chunk: int) -> None:
    import tempfile

    tail = tail.replace(b"\n", b"")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lines")
        path.write_bytes(b"".join(line + b"\n" for line in written) + tail)
        before = lines_module._CHUNK
        lines_module._CHUNK = chunk
        try:
            file = LineFile(path)
            assert list(file) == written
            assert list(file) == written
        finally:
            lines_module._CHUNK = before
        assert file.torn == len(tail)
        assert file.end == path.stat().st_size - len(tail)


def test_a_long_line_comes_cut_and_the_next_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 1_000_000 + b"\nshort\n" + b"y" * 11 + b"\n" + b"z" * 10 + b"\n")
    assert list(LineFile(path, limit=10)) == [b"x" * 11, b"short", b"y" * 11, b"z" * 10]


@each("chunk", (1, 7, 12, 100))
def test_what_is_judged_ends_with_a_line_over_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(lines_module, "_CHUNK", chunk)
    path = tmp_path / "lines"
    for text, found, torn in (
        (b"a\n" + b"x" * 10 + b"\nb\n", [b"a", b"x" * 10, b"b"], 0),
        (b"a\n" + b"x" * 11 + b"\nb\n", [b"a", b"x" * 11], 0),
        (b"a\n" + b"x" * 11, [b"a", b"x" * 11], 0),
        (b"a\n" + b"x" * 10, [b"a"], 10),
        (b"x" * 40, [b"x" * 11], 0),
    ):
        path.write_bytes(text)
        lines = JudgedLines(path, limit=10)
        assert (list(lines), lines.torn) == (found, torn)


def test_reading_can_begin_and_stop_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\nthree\n")
    file = LineFile(path, start=4, until=10)
    assert list(file) == [b"two"]
    assert (file.end, file.torn) == (8, 2)
