"""Which of git's settings run something, and which do not."""

import pytest

from tallystick.policy.risks.git_settings import risks
from tests.policy.risks.readings import found

FOUND = (
    "git config core.hooksPath get", "git config --global alias.list '!x'",
        "git config core.hooksPath .hooks", "git config --local core.hooksPath x", "git config --global user.name x",
        "git config --system a.b c",
        "git config --global alias.st '!x'", "git config core.fsmonitor ./x.sh", "git config core.sshCommand 'ssh -i x'",
        "git config --add core.pager 'sh x'", "git config set core.editor ./x", "git -C sub config filter.x.clean ./x",
        "git config -f .git/config diff.external x",
        "git config credential.helper '!x'", "git config url.https://evil.example.org/.insteadOf https://github.com/",
        "git config http.sslVerify false",
        "git config include.path ../x", "git config --edit", "git clone --template=./t https://example.org/x",
        "git init --template=./t",
        "git clone -c core.hooksPath=x https://example.org/x", "echo '[core] hooksPath=x' >> .git/config",
        "sed -i s/a/b/ .git/config",
        "cp x .git/config", "tee .git/modules/sub/config < x", "echo '* filter=x' > .git/info/attributes",
        "python3 -c \"open('.git/config','a').write('x')\"", "git config user.name x; cat x >> .git/config",
    )  # fmt: skip
NOTHING = (
    "git config user.name x", "git config user.email a@b", "git config --get core.hooksPath",
    "git config --list --global", "git config core.hooksPath", "git config pull.rebase true",
    "git config core.pager cat", "git config core.editor vim", "git config --unset core.hooksPath",
    "git config core.autocrlf input", "git config get core.hooksPath", "git -c core.pager=cat log",
    "git -c core.sshCommand='ssh -v' fetch", "git remote add origin https://example.org/x",
    "git clone https://example.org/x", "git init", "cat .git/config", "git branch -m x", "grep hooks .git/config",
)  # fmt: skip


@pytest.mark.parametrize("command", FOUND)
def test_a_setting_that_runs_something_or_holds_everywhere_is_found(command: str) -> None:
    assert found(risks, command) == {"changes-git"}


@pytest.mark.parametrize("command", NOTHING)
def test_a_setting_of_the_project_that_runs_nothing_is_not(command: str) -> None:
    assert found(risks, command) == set()
