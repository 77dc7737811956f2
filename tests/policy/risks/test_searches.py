"""Secrets that a call looks for and reads."""

import pytest

from tallystick.model.decision import Call
from tallystick.policy.reading import read_call
from tallystick.policy.risks.searches import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found

FOUND = {
    "reads-secret": (
        "find ~ -name id_rsa -exec cat {} \\;", "find ~ -maxdepth 2 -name credentials | xargs cat",
        "find . -name '.env*' -exec head {} +", "find . -iname .ENV -print0 | xargs -0 cat",
        "find ~ -path '*/.aws/credentials' | xargs cat", "cat $(find / -name 'id_ed25519*')",
        "find ~/.ssh -type f | xargs cat", "for f in $(ls ~/.ssh); do cat ~/.ssh/$f; done",
        "cat $(ls ~/.aws/credentials)", "fd -H '^\\.env$' -x cat", "grep -r KEY --include='.env*' .",
        "grep -rn KEY --include .env .", "rg KEY -g '.env'", "rg --hidden --glob='*.env' KEY", "git show HEAD:.env",
        "git show v1:config/master.key", "git cat-file -p HEAD:.env", "git log -p -- .env", "git diff .env",
        "git diff HEAD~1 -- .env.production", "git grep KEY -- .env", "git archive HEAD .env",
        "python3 -c \"from dotenv import dotenv_values; print(dotenv_values('.env'))\"",
        "node -e \"console.log(require('dotenv').config().parsed)\"",
    ),
    "reads-credential": ("grep -r BEGIN --include='*.pem' .", "rg BEGIN -g '*.key'"),
}  # fmt: skip
WORK = (
    "find . -name '.env*'", "find ~/.ssh -name '*.pub' | xargs cat", "find . -name '*.py' | xargs cat",
    "find . ! -name .env | xargs cat", "find . -not -name '.env' -exec cat {} +", "grep -r KEY --include='*.py' .",
    "rg KEY -g '!.env'", "rg -t py KEY", "git log --oneline -- .env", "git status", "git show HEAD:README.md",
    "git show --stat HEAD -- .env", "git diff --name-only", "git rm --cached .env", "git check-ignore -v .env",
    "git show HEAD:.env.example", "fd -e py -x wc -l", "ls ~/.ssh/*.pub | xargs cat", "ls ~/.ssh",
    "python3 -c \"from dotenv import load_dotenv; load_dotenv()\"", "grep -c x .gitignore",
)  # fmt: skip


@pytest.mark.parametrize(
    ("risk", "command"), [(risk, command) for risk, commands in FOUND.items() for command in commands]
)
def test_looking_for_secrets_and_reading_them_is_found(risk: str, command: str) -> None:
    assert found(risks, command) == {risk}


@pytest.mark.parametrize("command", WORK)
def test_looking_for_other_files_or_only_for_names_is_work(command: str) -> None:
    assert found(risks, command) == set()


@pytest.mark.parametrize(
    ("glob", "wanted"),
    [
        (".env*", {"reads-secret"}),
        ("*.pem", {"reads-credential"}),
        ("*.ts", set()),
        ("!.env", set()),
        (".env.example", set()),
    ],
)
def test_the_pattern_of_a_search_tool_counts(glob: str, wanted: set[str]) -> None:
    args = {"pattern": "KEY", "glob": glob, "output_mode": "content"}
    call = Call(agent="claude-code", session="s", tool="Grep", args=args, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert {risk.name for risk in risks(read, Settings())} == wanted


def test_each_risk_has_its_examples() -> None:
    assert set(RISKS) == set(FOUND)
