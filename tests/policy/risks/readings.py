"""Calls that are read on a machine without files, and what one module of risks finds in them."""

from collections.abc import Callable, Iterator, Sequence

from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings
from tallystick.policy.world import Content, FileKind, FileState, Past, Provenance, Tracking, Unread, World

HOME = "/home/dev"
FOLDER = f"{HOME}/project"
Detector = Callable[[CallReading, Settings], Iterator[Risk]]


class Bare:
    """A machine that has nothing but some texts, and a record without a past."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    def real(self, path: str) -> str:
        return path

    def state(self, path: str) -> FileState:
        return FileState(kind=FileKind.FILE if path in self._files else FileKind.NOTHING)

    def keeps_commits(self, path: str) -> bool:
        return False

    def matches(self, pattern: str) -> Sequence[str]:
        return ()

    def content(self, path: str) -> Content | Unread:
        return Content(digest="sha256:", text=self._files[path]) if path in self._files else Unread.MISSING

    def provenance(self, path: str) -> Provenance:
        return Provenance()

    def tracking(self, path: str) -> Tracking:
        return Tracking()

    def is_approved(self, digest: str) -> bool:
        return False

    def past(self) -> Past:
        return Past()

    def has_secret(self, text: str) -> bool:
        return False


def reading(command: str, files: dict[str, str] | None = None) -> CallReading:
    """A shell command, read in the project."""
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=FOLDER)
    world: World = Bare(files or {})  # type: ignore[assignment]
    return read_call(call, world, home=HOME, workspace=FOLDER)


def found(detector: Detector, command: str, files: dict[str, str] | None = None) -> set[str]:
    """The words that a module finds in a command."""
    return {risk.name for risk in detector(reading(command, files), Settings())}
