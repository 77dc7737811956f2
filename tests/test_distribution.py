"""What is handed out: man pages of every command, and archives that are the same wherever they are built."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import click

from tallystick.cli import main
from tests.test_project import commands
from tools.dist import digest, normalise
from tools.man_pages import pages, write


def test_each_command_has_a_page_and_each_page_its_sections() -> None:
    assert isinstance(main, click.Group)
    found = dict(pages("2026-11-22"))
    names = {name.replace(" ", "-") for name in commands(main, "tally")}
    assert names <= {name.removesuffix(".1") for name in found}
    for name, text in found.items():
        for section in (".TH", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH SEE ALSO"):
            assert f"\n{section}" in f"\n{text}", name
    assert ".SH EXAMPLES\n.nf\ntally verify\n" in found["tally-verify.1"]
    assert "\\fBtally\\-session\\-show\\fR(1)" in found["tally-session.1"]


def test_no_line_of_a_page_is_taken_for_a_request() -> None:
    known = {".TH", ".SH", ".PP", ".TP", ".nf", ".fi"}
    for name, text in pages("2026-11-22"):
        requests = {line.split()[0] for line in text.splitlines() if line.startswith((".", "'"))}
        assert requests <= known, name


def test_pages_are_dated_by_what_they_are_told(tmp_path: Path) -> None:
    assert write(tmp_path, 0.0) == len(list(tmp_path.iterdir()))
    assert '"1970-01-01"' in (tmp_path / "tally.1").read_text()


def packed(path: Path, names: list[str], *, mtime: int, mode: int) -> Path:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode, member.uname = 1, mtime, mode, "ann"
            archive.addfile(member, io.BytesIO(b"x"))
    path.write_bytes(gzip.compress(plain.getvalue(), mtime=mtime))
    return path


def test_an_archive_says_nothing_of_who_packed_it_and_when(tmp_path: Path) -> None:
    one = packed(tmp_path / "one.tar.gz", ["a", "b"], mtime=1, mode=0o664)
    other = packed(tmp_path / "other.tar.gz", ["b", "a"], mtime=2, mode=0o600)
    for path in (one, other):
        normalise(path, 86_400)
    assert digest(one) == digest(other)
    with tarfile.open(one) as archive:
        assert {(member.mtime, member.mode, member.uname) for member in archive} == {(86_400, 0o644, "")}
