from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pygit2
import pytest

from tallystick.capture import git_histories
from tallystick.capture.git_histories import GitHistory, histories_in, is_bare, is_repository
from tallystick.errors import SourceError
from tests.support.git_objects import Files, commit, empty_repository


def checkpoint(session: str, *parts: bytes, place: str = "ab/cdef01/0") -> Files:
    """A checkpoint as Entire writes it: the transcript in parts, and who it is of."""
    files = {f"{place}/full.jsonl{f'.{number:03d}' if number else ''}": part for number, part in enumerate(parts)}
    return {
        **files,
        f"{place}/metadata.json": json.dumps({"session_id": session}).encode(),
        f"{place}/prompt.txt": b"x",
    }


def found(folder: Path) -> dict[str, bytes]:
    histories = [history for history in histories_in(folder) if isinstance(history, GitHistory)]
    return {history.path.relative_to(folder).as_posix(): history.text.read_bytes() for history in histories}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "repo"


def test_a_session_in_several_checkpoints_is_one_that_has_grown(folder: Path) -> None:
    repository = empty_repository(folder)
    grown = {
        **checkpoint("s1", b"one\n", place="ab/1/0"),
        **checkpoint("s1", b"one\ntwo\n", place="ab/2/0"),
        **checkpoint("s2", b"other\n", place="cd/3/1"),
    }
    commit(repository, "refs/heads/entire/checkpoints/v1", grown)
    assert found(folder) == {"entire/s1.jsonl": b"one\ntwo\n", "entire/s2.jsonl": b"other\n"}


def test_what_is_not_the_beginning_of_the_longest_is_read_too(folder: Path) -> None:
    repository = empty_repository(folder)
    files = {**checkpoint("s", b"b\nc\nd\n", place="ab/2/0"), **checkpoint("s", b"a\n", place="ab/1/0")}
    commit(repository, "refs/heads/entire/checkpoints/v1", files)
    first, second = (history for history in histories_in(folder) if isinstance(history, GitHistory))
    assert (first.is_earlier, second.is_earlier) == (False, True)
    assert found(folder) == {"entire/s.jsonl": b"b\nc\nd\n", "entire/ab/1/0/s.jsonl": b"a\n"}


def test_a_transcript_in_parts_is_put_together(folder: Path) -> None:
    repository = empty_repository(folder)
    whole = checkpoint("s", b"one\n", b"two\n", b"three\n", place="ab/2/0")
    commit(repository, "refs/heads/entire/checkpoints/v1", {**whole, **checkpoint("s", b"one\ntw", place="ab/1/0")})
    assert found(folder) == {"entire/s.jsonl": b"one\ntwo\nthree\n"}


@pytest.mark.parametrize(
    ("reference", "files"),
    [
        ("refs/remotes/origin/entire/checkpoints/v1", checkpoint("s", b"one\n")),
        ("refs/entire/checkpoints/7E/01KX", checkpoint("s", b"one\n", place="0")),
        ("refs/heads/entire/00f2759-e3b0c4", {".entire/metadata/s/full.jsonl": b"one\n", "src/full.jsonl": b"not one"}),
    ],
)
def test_each_kind_of_reference_is_searched(folder: Path, reference: str, files: Mapping[str, bytes]) -> None:
    commit(empty_repository(folder), reference, files)
    assert found(folder) == {"entire/s.jsonl": b"one\n"}


def test_other_branches_are_not(folder: Path) -> None:
    repository = empty_repository(folder)
    commit(repository, "refs/heads/main", checkpoint("s", b"one\n"))
    commit(repository, "refs/heads/me/entire-page", checkpoint("s", b"one\n"))
    assert found(folder) == {}


def test_a_session_without_a_usable_name_is_named_by_its_checkpoint(folder: Path) -> None:
    repository = empty_repository(folder)
    files = {
        **checkpoint("../..", b"one\n", place="ab/1/0"),
        "ab/2/0/full.jsonl": b"two\n",
        "ab/2/0/metadata.json": b"{",
        **checkpoint("/etc/passwd", b"three\n", place="ab/3/0"),
    }
    commit(repository, "refs/heads/entire/checkpoints/v1", files)
    assert sorted(found(folder).values()) == [b"one\n", b"three\n", b"two\n"]
    assert all(".." not in name and name.startswith("entire/") for name in found(folder))


def test_an_object_that_is_not_in_the_clone_is_reported_and_the_others_are_read(folder: Path) -> None:
    repository = empty_repository(folder)
    files = {**checkpoint("s1", b"one\n", place="ab/1/0"), **checkpoint("s2", b"two\n", place="ab/2/0")}
    commit(repository, "refs/heads/entire/checkpoints/v1", files)
    absent = str(repository.create_blob(b"two\n"))
    (folder / "objects" / absent[:2] / absent[2:]).unlink()
    problems = [history for history in histories_in(folder) if isinstance(history, SourceError)]
    assert [
        "1 transcripts of checkpoints are named there, but not in this clone" in str(each) for each in problems
    ] == [True]
    assert found(folder) == {"entire/s1.jsonl": b"one\n"}


def test_a_damaged_repository_is_reported(folder: Path) -> None:
    empty_repository(folder)
    (folder / "HEAD").unlink()
    assert [type(history) for history in histories_in(folder)] == [SourceError]


def test_a_walk_has_an_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_histories, "_MOST_FOLDERS", 5)
    files = {name: data for number in range(20) for name, data in checkpoint("s", b"x", place=f"ab/{number}/0").items()}
    commit(empty_repository(folder), "refs/heads/entire/checkpoints/v1", files)
    assert found(folder).keys() <= {"entire/s.jsonl"}


def test_repositories_are_known_by_their_top_folder(folder: Path, tmp_path: Path) -> None:
    empty_repository(folder)
    pygit2.init_repository(str(tmp_path / "tree"))
    assert (is_bare(folder), is_repository(folder)) == (True, True)
    assert (is_bare(tmp_path / "tree"), is_repository(tmp_path / "tree")) == (False, True)
    assert not is_repository(tmp_path)


def note(*texts: str, session: str = "a") -> bytes:
    messages = [{"type": "user", "text": text} for text in texts]
    prompts = {"02ad540": {"agent_id": {"tool": "cursor", "id": session}, "messages": messages}}
    return (
        b"a.py\n  02ad540 1-2\n---\n" + json.dumps({"schema_version": "authorship/3.0.0", "prompts": prompts}).encode()
    )


def test_of_the_notes_of_a_conversation_the_longest_is_read(folder: Path) -> None:
    repository = empty_repository(folder)
    notes = {"aa/11": note("one"), "aa/22": note("one", "two"), "bb/33": note("x", session="b"), "cc/44": note()}
    commit(repository, "refs/notes/ai", notes)
    commit(repository, "refs/notes/other", {"dd/55": note("no")})
    repository.references.create("refs/ai/authorship/ee66", repository.create_blob(note("old", session="c")))
    assert found(folder) == {
        "git-ai/aa22": note("one", "two"),
        "git-ai/bb33": note("x", session="b"),
        "git-ai/ee66": note("old", session="c"),
    }
