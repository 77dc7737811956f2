"""What runs because a call runs: read before it does, and judged as if the call said it.

Each case is what lies in a project, and a command. `/h/` in a file stands for the home folder.
"""

import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.guard.decide import AgentMachine, Decider
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


@pytest.fixture
def home() -> Iterator[Path]:
    """A home folder with secrets and a project under git, outside of the system's temporary folder."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp")) / "dev"
    for path in (".ssh/id_rsa", ".netrc", ".npmrc", ".bashrc", "project/README.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x\n")
    git = folder / "project/.git"
    for path in ("hooks", "objects", "refs"):
        (git / path).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
    yield folder
    shutil.rmtree(folder.parent)


def decided(home: Path, files: Files, command: str) -> Decision:
    for name, text in files.items():
        path = home / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace('"/h/', f'"{home}/').replace(" /h/", f" {home}/"))
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=f"{home}/project")
    return Decider(Home(home / ".tally"), AgentMachine(home)).decide(call)


@pytest.mark.parametrize(("files", "command"), [*cases("ask-or-deny"), *LONG])
def test_what_runs_unsaid_is_judged_as_if_it_were_said(home: Path, files: Files, command: str) -> None:
    assert decided(home, files, command).effect in (Effect.DENY, Effect.ASK)


@pytest.mark.parametrize(("files", "command"), [*cases("silence"), *LONG_WORK])
def test_work_is_not_interrupted_by_what_it_runs(home: Path, files: Files, command: str) -> None:
    decision = decided(home, files, command)
    assert decision.effect in (Effect.ALLOW, Effect.WARN), decision.rules


def test_a_denial_names_the_file_and_its_digest(home: Path) -> None:
    decision = decided(home, {"a.sh": "sh b.sh", "b.sh": SEC}, "sh a.sh")
    because = next(one for one in decision.evidence if one.rule == "secrets.read").because
    assert any(text.startswith(f"in {home}/project/b.sh (sha256:") for text in because)


def test_a_changed_module_is_read_again(home: Path) -> None:
    assert decided(home, {"lib.py": "x = 1", "m.py": "import lib"}, "python m.py").effect is Effect.ALLOW
    harmful = {"lib.py": f"import os\nos.system('{SEC}')"}
    assert decided(home, harmful, "python m.py").effect is Effect.DENY
    assert decided(home, {"lib.py": "x = 1"}, "python m.py").effect is Effect.ALLOW


def test_libraries_are_not_read(home: Path) -> None:
    files = {
        "node_modules/a/index.js": "require('child_process').execSync('cat ~/.ssh/id_rsa')",
        "m.js": "require('a')",
    }
    assert decided(home, files, "node m.js").effect is Effect.ALLOW


def test_little_is_read_of_very_much(home: Path) -> None:
    files = {f"tests/test_{n:03}.py": "import os\nprint(os.environ)\n" * 500 for n in range(100)}
    assert decided(home, files, "pytest").effect is Effect.ALLOW
