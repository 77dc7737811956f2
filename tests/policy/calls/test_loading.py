"""What runs because a call runs: read before it does, and judged as if the call said it.

Each case is what lies in a project, and a command. `/h/` in a file stands for the home folder.
"""

import itertools
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect

Files = dict[str, str]
SEC = "cat ~/.ssh/id_rsa"

CASES = tomllib.loads((Path(__file__).parent / "loading.toml").read_text("utf-8"))["case"]
LONG = [
    ({"big.sh": "# " + "x" * 70_000 + "\n" + SEC}, "sh big.sh"),
    ({"big.sh": "echo a | cat\n" * 3000 + SEC}, "sh big.sh"),
    ({"big.py": "# x\n" * 30_000 + "import os\nos.system('cat ~/.ssh/id_rsa')"}, "python3 big.py"),
    ({"big.py": "a = 1 + 1\n" * 12_000 + "import os\nos.system('cat ~/.ssh/id_rsa')"}, "python3 big.py"),
    ({"huge.sh": "# " + "x" * 300_000 + "\n" + SEC}, "sh huge.sh"),
]
LONG_WORK = [
    ({"dist/bundle.js": "var a=1;" * 40_000}, "node dist/bundle.js"),
    ({"app": "\x7fELF\x02\0\0" + "\0" * 400_000}, "./app"),
    ({"big.py": "a = 1 + 1\n" * 12_000}, "python3 big.py"),
    ({"big.sh": "echo a | cat\n" * 900}, "sh big.sh"),
]


def cases(wants: str) -> list[tuple[Files, str]]:
    return [(case.get("files", {}), case["command"]) for case in CASES if case["wants"] == wants]


class Place:
    """A home folder with secrets, and a project under git in it; outside of the system's temporary folder."""

    def __init__(self, home: Path, project: Path, decider: Decider) -> None:
        self.home = home
        self.project = project
        self._decider = decider

    def decided(self, files: Files, command: str) -> Decision:
        """What is decided on a command once these files are in the project."""
        for name, text in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace('"/h/', f'"{self.home}/').replace(" /h/", f" {self.home}/"))
        call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=str(self.project))
        return self._decider.decide(call)


@pytest.fixture(scope="module")
def home() -> Iterator[tuple[Path, Decider]]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        home = Path(folder) / "dev"
        for path in (".ssh/id_rsa", ".netrc", ".npmrc", ".bashrc"):
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text("x\n")
        yield home, Decider(Home(home / ".tally"), AgentMachine(home))


PROJECTS = itertools.count()


@pytest.fixture
def place(home: tuple[Path, Decider]) -> Place:
    """The home folder with a project that no other test has seen."""
    project = home[0] / f"project{next(PROJECTS)}"
    for path in ("hooks", "objects", "refs"):
        (project / ".git" / path).mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
    (project / "README.md").write_text("x\n")
    return Place(home[0], project, home[1])


@pytest.mark.parametrize(("files", "command"), [*cases("ask-or-deny"), *LONG])
def test_what_runs_unsaid_is_judged_as_if_it_were_said(place: Place, files: Files, command: str) -> None:
    assert place.decided(files, command).effect in (Effect.DENY, Effect.ASK)


@pytest.mark.parametrize(("files", "command"), [*cases("silence"), *LONG_WORK])
def test_work_is_not_interrupted_by_what_it_runs(place: Place, files: Files, command: str) -> None:
    decision = place.decided(files, command)
    assert decision.effect in (Effect.ALLOW, Effect.WARN), decision.rules


def test_a_denial_names_the_file_and_its_digest(place: Place) -> None:
    decision = place.decided({"a.sh": "sh b.sh", "b.sh": SEC}, "sh a.sh")
    because = next(one for one in decision.evidence if one.rule == "secrets.read").because
    assert any(text.startswith(f"in {place.project}/b.sh (sha256:") for text in because)


def test_a_changed_module_is_read_again(place: Place) -> None:
    assert place.decided({"lib.py": "x = 1", "m.py": "import lib"}, "python m.py").effect is Effect.ALLOW
    harmful = {"lib.py": f"import os\nos.system('{SEC}')"}
    assert place.decided(harmful, "python m.py").effect is Effect.DENY
    assert place.decided({"lib.py": "x = 1"}, "python m.py").effect is Effect.ALLOW


def test_libraries_are_not_read(place: Place) -> None:
    files = {
        "node_modules/a/index.js": "require('child_process').execSync('cat ~/.ssh/id_rsa')",
        "m.js": "require('a')",
    }
    assert place.decided(files, "node m.js").effect is Effect.ALLOW


def test_little_is_read_of_very_much(place: Place) -> None:
    files = {f"tests/test_{n:03}.py": "import os\nprint(os.environ)\n" * 500 for n in range(100)}
    assert place.decided(files, "pytest").effect is Effect.ALLOW
