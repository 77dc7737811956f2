"""What the text does not tell and that may be of a grave kind."""

import pytest

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.reading import read_call
from tallystick.policy.risks.opaque import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found

FOUND = {
    "untold-code": (
        'eval "$X"',
        'bash -c "$X"',
        'sh -c "${X}${Y}"',
        "sh $X",
        'eval "$(cat a)"',
        "base64 -d a | sh",
        "gpg -d a | bash",
        'python3 -c "$X"',
        'node -e "$(cat a)"',
        'echo "$X" | python3',
        'echo "$X" | base64 -d | python3 -',
        "unzip -p a b | python3",
        'while read -r l; do eval "$l"; done < a',
        "cat a | xargs -I{} sh -c {}",
        "source <(cat a | tr a-z b-za)",
        'bash <<< "$X"',
    ),
    "untold-program": (
        "$X ~/.ssh/id_rsa",
        '"$(cat a)" ~/.netrc',
        'eval "$X ~/.aws/credentials"',
        "$X -rf ~",
        "$X $Y ~/.bashrc",
        "frobnicate ~/.ssh/id_rsa",
        "$X --file=/home/dev/.ssh/id_rsa",
    ),
    "untold-syntax": (
        "cat '~/.ssh/id_rsa",
        "if cat $HOME/.aws/credentials; then",
        "echo $(cat ~/.ssh/id_rsa",
        "echo 'x >> ~/.bashrc",
    ),
    "untold-deletion": (
        'rm -rf "$X"/',
        "rm -rf $X/*",
        "rm -rf ${X}/usr",
        "cat a | xargs rm -rf",
        "rm -rf $(cat a)",
        "xargs rm -rf < a",
        "nice xargs rm -rf < a",
        "git ls-files | xargs rm",
        "git ls-files -oz | xargs -0 rm -f",
        "chmod -R 777 $X/",
        "dd if=$A of=$B",
        "xargs -a a rm -rf",
        "rm -r -f -- $X/..",
    ),
    "untold-file": (),
}
NOTHING = (
    'rm -rf "$X"',
    "rm -rf $HOME/$X",
    'eval "$(ssh-agent -s)"',
    'eval "$(direnv hook bash)"',
    'eval "$(pyenv init -)"',
    "eval $(minikube docker-env)",
    "source <(kubectl completion bash)",
    "X='make test'; eval \"$X\"",
    "$X -m pytest",
    "${PYTHON:-python3} a.py",
    '"$(which python3)" a.py',
    'sh -c "echo $X"',
    "bash -i",
    'for f in *.sh; do bash -n "$f"; done',
    "find . -name '*.sh' -exec bash {} ;",
    "git ls-files '*.sh' | xargs -n1 bash -n",
    "echo ls | sh",
    "xargs ls < a",
    "git ls-files '*.orig' | xargs rm",
    "git ls-files -d | xargs git rm",
    "chmod 644 $X",
    "dd if=/dev/zero of=/tmp/a",
    "cat a.sh | bash",
    "bash < a.sh",
    "cat a | python3 -c 'print(1)'",
    "cat a | python3 a.py",
    "frobnicate ~/a",
    "cat ~/.ssh/id_rsa",
    "echo 'unclosed",
    'rm -rf "${X:?}/"*',
    'T=$(mktemp -d); rm -rf "$T"',
    "rm -rf $X/build",
    "find . -name a | xargs rm -rf",
    "rm $X",
    'rm -f "$X"',
    "for d in a b; do rm -rf $d; done",
    "D=build; rm -rf $D/*",
    'jq "$X" a.json',
    'V=$(./version.sh) && ./release.sh --to "$V"',
    "ctest -j `nproc` --test-dir build",
    'bash "$DIR/stop.sh" "$PID"',
    "find . -exec bash -c 'echo \"$0\"' {} ;",
    'find . -exec sh -c \'a "{}" | grep "$1"\' -- "$1" ;',
    "xargs python -c 'print sys.argv[1:]' < a",
    "source <(frobnicate --generate complete-zsh)",
    "git frobnicate secret",
    "frobnicate token list",
    'psql -c "$X"',
)
TOOLS: tuple[tuple[str, Json, bool], ...] = (
    ("Write", {"path_to_it": "/home/dev/.bashrc", "content": "x"}, True),
    ("apply_patch", {"input": "*** Begin Patch\n*** Frobnicate: ~/.bashrc\n*** End Patch"}, True),
    ("Write", {"file_path": "/home/dev/project/a", "content": "x"}, False),
    ("save_memory", {"fact": "The user prefers British spelling."}, False),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}, False),
)


@pytest.mark.parametrize(("name", "command"), [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_grave_gap_is_found(name: str, command: str) -> None:
    assert name in found(risks, command)


@pytest.mark.parametrize("command", NOTHING)
def test_ordinary_gaps_are_let_be(command: str) -> None:
    assert found(risks, command) == set()


@pytest.mark.parametrize(("tool", "args", "is_found"), TOOLS)
def test_a_tool_that_changes_a_file_must_say_which(tool: str, args: Json, *, is_found: bool) -> None:
    call = Call(agent="codex", session="s", tool=tool, args=args, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert ({risk.name for risk in risks(read, Settings())} == {"untold-file"}) is is_found


def test_each_risk_is_listed_once() -> None:
    assert FOUND.keys() == RISKS.keys()


def test_gaps_in_a_script_on_disk_are_not_asked_about() -> None:
    files = {f"{FOLDER}/a.sh": 'eval "$X"\nsh -c "$Y"\n$Z --help\n'}
    assert found(risks, "sh a.sh", files) == set()
