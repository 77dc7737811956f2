"""Files that were written, looked at."""

from pathlib import Path

from tallystick.guard.live_world import inspect_written
from tallystick.policy.content.inspection import TAGS
from tallystick.policy.world import Unread


def test_what_was_written_is_tagged(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text("cat ~/.ssh/id_rsa\n")
    found = inspect_written(str(path), tmp_path)
    assert found is not None
    assert "reads-secret" in found.tags
    assert found.digest is not None
    path.write_text("echo hi\n")
    again = inspect_written(str(path), tmp_path)
    assert again is not None
    assert (again.tags, again.digest == found.digest) == (frozenset(), False)


def test_what_is_no_code_is_not_tagged(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("cat ~/.ssh/id_rsa")
    assert inspect_written(str(tmp_path / "a.md"), tmp_path) is None
    assert inspect_written(str(tmp_path / "b.sh"), tmp_path) is None


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("x" * 300_000)
    (tmp_path / "b.sh").mkdir()
    for name, tag in (("a.sh", "too-large"), ("b.sh", "unreadable")):
        found = inspect_written(str(tmp_path / name), tmp_path)
        assert found is not None
        assert found.tags == {tag}
        assert found.digest is None


def test_every_reason_is_a_tag() -> None:
    assert {str(reason) for reason in Unread} - {"missing"} <= set(TAGS)
