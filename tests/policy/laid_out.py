"""A machine for tests: a home folder with documents, a project under git, another project, and the shipped policies."""

import tomllib
from pathlib import Path

import msgspec

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.guard.policy_quality import Machine
from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.settings import OutsideWrites, Settings

LAYOUT = Path(__file__).parent / "corpus" / "machine.toml"


class Laid:
    """Answers calls on the machine of the corpora."""

    def __init__(self, folder: Path, *, outside: str = "ask", trusted: tuple[str, ...] = ()) -> None:
        machine = Machine(folder.resolve())
        machine.lay_out(msgspec.convert(tomllib.loads(LAYOUT.read_text("utf-8"))["files"], dict[str, str]))
        self._machine = machine
        self.home = machine.user
        self._decider = Decider(
            machine.home,
            AgentMachine(
                machine.user,
                environment={"HOME": str(machine.user), "TMPDIR": str(machine.temporary)},
                package=folder / "installed" / "site-packages" / "tallystick",
            ),
            settings=Settings(write_outside_workspace=OutsideWrites(outside), trusted=trusted),
        )

    def write(self, path: str, text: str) -> None:
        """Put a file below the home folder."""
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")

    def link(self, path: str, target: Path) -> None:
        """Put a symbolic link below the home folder."""
        (self.home / path).symlink_to(target)

    def said(self, command: str, *, folder: str = "project") -> tuple[str, tuple[str, ...]]:
        """What is decided on a shell command, and by which rules."""
        return self.call("Bash", {"command": command}, folder=folder)

    def call(self, tool: str, args: dict[str, Json], *, folder: str = "project") -> tuple[str, tuple[str, ...]]:
        """What is decided on a call; HOME_FOLDER in its arguments stands for the home folder."""
        filled = self._machine.filled(args)
        call = Call(agent="claude-code", session="s", tool=tool, args=filled, cwd=str(self.home / folder))
        decision = self._decider.decide(call)
        return str(decision.effect), decision.rules
