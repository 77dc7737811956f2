"""What a judgement found on the machine is noted, and found again when files are others; what the record says is not."""

from pathlib import Path

from tallystick.guard.judgement import NotedMachine, NotedWorld
from tallystick.guard.live_world import LiveWorld
from tallystick.policy.world import Content, FileKind, Past, Provenance, Unread


class Record:
    """A record that says something else each time."""

    def __init__(self) -> None:
        self.calls = 0

    def past(self) -> Past:
        self.calls += 1
        return Past(calls=self.calls)

    def provenance(self, path: str) -> Provenance:
        return Provenance(session=path)

    def is_approved(self, digest: str) -> bool:
        return digest == "sha256:yes"


def test_the_machine_answers_as_it_did_and_the_record_as_it_does_now(tmp_path: Path) -> None:
    path, link = tmp_path / "a.sh", tmp_path / "link"
    path.write_text("echo hello\n")
    link.symlink_to(path)
    record = Record()
    then = NotedWorld(LiveWorld(record))
    asked = (
        then.real(str(link)),
        then.state(str(path)),
        then.matches(f"{tmp_path}/*.sh"),
        then.content(str(path)),
        then.repository(str(path)),
        then.tracking(str(path)),
    )
    assert then.past().calls == 1
    path.unlink()
    link.unlink()
    now = NotedMachine(LiveWorld(record), then.answers)
    assert (
        now.real(str(link)),
        now.state(str(path)),
        now.matches(f"{tmp_path}/*.sh"),
        now.content(str(path)),
        now.repository(str(path)),
        now.tracking(str(path)),
    ) == asked
    assert now.state(str(link)).kind is FileKind.NOTHING
    assert now.past().calls == 2
    assert now.provenance("x").session == "x"
    assert (now.is_approved("sha256:yes"), now.is_approved("sha256:no")) == (True, False)
    assert now.has_secret("hello") is then.has_secret("hello") is False


def test_it_is_told_which_files_were_looked_into_and_how_much_that_was(tmp_path: Path) -> None:
    looked: list[str] = []
    world = NotedWorld(LiveWorld(), looked.append)
    (tmp_path / "a").write_text("twelve bytes")
    assert isinstance(world.content(str(tmp_path / "a")), Content)
    assert world.content(str(tmp_path / "b")) is Unread.MISSING
    assert looked == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert world.size == 12
