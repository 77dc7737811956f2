from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.reading import events_of_object
from tallystick.capture import history
from tallystick.capture.history import Companions, HistoryFile, Piece, prefix_digest, run_together, split_lines
from tallystick.errors import SourceError
from tallystick.model.step import Event, Loss, Step


class Echo:
    """An adapter whose steps say where each line began."""

    NAME = "echo"
    SHAPE = Shape.LINES
    GLOBAL_IDS = False
    COMPANIONS: tuple[str, ...] = ("{stem}.meta.json",)
    seen: SourceFile

    def locate(self) -> tuple[str, ...]:
        return ()

    def recognises(self, path: str, head: bytes) -> bool:
        return True

    def reader(self, file: SourceFile) -> Reader:
        self.seen = file
        return EchoReader()


class EchoReader:
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        yield Step(session="s", type="assistant", source_id=f"{offset}:{data.decode()}")

    def finish(self) -> Iterator[Event]:
        yield Step(session="s", type="session_end")


def read(path: Path, adapter: Echo | None = None) -> tuple[list[Piece], HistoryFile]:
    file = HistoryFile(path, adapter or Echo())
    return list(file.pieces()), file


def ids(pieces: list[Piece]) -> list[str | None]:
    return [event.source_id for piece in pieces for event in piece.events if isinstance(event, Step)]


def test_lines_come_with_their_offsets_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(b'{"a":1}\r\n\n{"b":2}\n')
    pieces, file = read(path)
    assert ids(pieces) == ['0:{"a":1}', '10:{"b":2}', None]
    assert [piece.number for piece in pieces] == [1, 3, 0]
    assert (file.offset, file.digest) == (18, hashlib.sha256(path.read_bytes()).hexdigest())


def test_a_last_line_without_its_end_is_read_if_it_is_whole_json(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2}')
    pieces, file = read(path)
    assert ids(pieces) == ['0:{"a":1}', '8:{"b":2}', None]
    assert file.offset == 8
    path.write_bytes(b'{"a":1}\n{"b":')
    pieces, file = read(path)
    (loss,) = [event for piece in pieces for event in piece.events if isinstance(event, Loss)]
    assert (loss.kind, loss.fault) == ("half_line", True)
    assert file.digest == prefix_digest(path, file.offset)


def test_a_line_over_the_limit_is_skipped_and_counted_in_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_LINE_BYTES", 50)
    path = tmp_path / "h.jsonl"
    path.write_bytes(b'{"a":1}\n' + b"x" * 5_000_000 + b'\n{"b":2}\n')
    pieces, file = read(path)
    assert ids(pieces) == ['0:{"a":1}', '5000009:{"b":2}', None]
    assert pieces[1].events[0] == Loss(
        kind="line_too_long", detail="line 2 (byte 8) has 5000001 bytes, the limit is 50", fault=True
    )
    assert file.digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_companions_are_handed_over_by_their_pattern(tmp_path: Path) -> None:
    path = tmp_path / "agent-1.jsonl"
    path.write_bytes(b"")
    (tmp_path / "agent-1.meta.json").write_bytes(b"{}")
    adapter = Echo()
    read(path, adapter)
    assert adapter.seen == SourceFile(str(path), {"{stem}.meta.json": b"{}"})


def test_a_document_is_read_whole_within_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d.json"
    path.write_bytes(b'{\n"a":1}')
    adapter = Echo()
    monkeypatch.setattr(Echo, "SHAPE", Shape.DOCUMENT)
    pieces, file = read(path, adapter)
    assert ids(pieces) == ['0:{\n"a":1}', None]
    assert file.offset == 8
    monkeypatch.setattr(history, "MOST_DOCUMENT_BYTES", 4)
    with pytest.raises(SourceError, match="has 8 bytes"):
        read(path, adapter)


def test_a_file_that_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read(tmp_path)
    with pytest.raises(SourceError, match="cannot be read"):
        prefix_digest(tmp_path / "none", 1)
    (tmp_path / "short").write_bytes(b"abc")
    assert prefix_digest(tmp_path / "short", 4) is None


def test_lines_are_split_with_their_sizes(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\nbb\nccc")
    counted: list[bytes] = []
    assert list(split_lines(path, counted.append)) == [(b"a", 2, True), (b"bb", 3, True), (b"ccc", 3, False)]
    assert counted == [b"a\n", b"bb\n"]


class Strict(Echo):
    """The same, of a reader that parses its lines, as all of ours do."""

    def reader(self, file: SourceFile) -> Reader:
        return StrictReader()


class StrictReader(EchoReader):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        return events_of_object(
            data, offset, lambda _: super(StrictReader, self).feed(data, offset), Loss(kind="other")
        )


@pytest.mark.parametrize(
    ("line", "told", "damaged"),
    [
        (b'{"a":1}{"b":[{}]}', ['0:{"a":1}', '7:{"b":[{}]}'], 0),
        (b'{"a":"}{"} \t{"b":2}', ['0:{"a":"}{"}', '12:{"b":2}'], 0),
        (b'{"a":1}{"b":', ['0:{"a":1}'], 1),
        (b'{"a":1},', ['0:{"a":1}'], 1),
        (b'{"parentUuid":"x","text":"brok{"parentUuid":"y"}', ['30:{"parentUuid":"y"}'], 1),
        (b'{"parentUuid":"x","text":{"b":1}', [], 1),
        (b"nothing of this is JSON", [], 1),
    ],
)
def test_lines_that_lost_the_line_end_between_them_are_all_read(
    tmp_path: Path, line: bytes, told: list[str], damaged: int
) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(line + b"\n")
    pieces, _ = read(path, Strict())
    assert ids(pieces) == [*told, None]
    assert [event.kind for piece in pieces for event in piece.events if isinstance(event, Loss)] == [
        "bad_line"
    ] * damaged


def test_a_line_of_a_great_many_objects_is_parted_up_to_a_limit() -> None:
    found = run_together(b"{}" * 1_000)
    assert len(found) == 65
    assert b"".join(text for _, text in found) == b"{}" * 1_000


def test_a_file_in_a_folder_beside_is_read_when_it_is_asked_for_and_no_name_leads_out_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "h/s"
    (folder / "out").mkdir(parents=True)
    (folder / "out/a.txt").write_text("whole")
    (folder / "secret.txt").write_text("secret")
    (folder / "out/link.txt").symlink_to(folder / "secret.txt")
    companions = Companions(tmp_path / "h/s.jsonl", ("{stem}/out/*", "{stem}.none"))
    assert companions["{stem}/out/a.txt"] == b"whole"
    assert dict(companions) == {}
    for name in ("b.txt", "../secret.txt", "..", "", "link.txt", "x/../../secret.txt", "a\0"):
        assert companions.get("{stem}/out/" + name) is None
    assert companions.get("{stem}.none") is None


class Holding(StrictReader):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        return events_of_object(data, offset, lambda _: iter(()), Loss(kind="other"))


def test_lines_that_run_together_are_no_damage_where_their_reader_holds_them_back(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(b'{"a":1}{"b":2}\n')
    adapter = Strict()
    adapter.reader = lambda file: Holding()  # type: ignore[method-assign]
    pieces, _ = read(path, adapter)
    assert [event for piece in pieces for event in piece.events if isinstance(event, Loss)] == []
