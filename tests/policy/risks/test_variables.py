"""Variables that are printed and whose names promise a secret."""

import pytest

from tallystick.policy.risks.variables import RISKS, is_secret_variable, risks
from tests.policy.risks.readings import found

FOUND = (
    "echo $API_KEY", 'echo "${GITHUB_TOKEN}"', "printf '%s' \"$DB_PASSWORD\"", "echo $AWS_SECRET_ACCESS_KEY | base64",
    "printenv DATABASE_URL", "declare -p NPM_TOKEN", "echo ${API_KEY:0:4}", "true && echo $SECRET",
    'bash -c "echo \\$API_TOKEN"',
)  # fmt: skip
WORK = (
    "echo $HOME", "echo $USER $SHELL", "printenv PATH", 'echo "$TOKEN" | docker login --password-stdin',
    '[ -n "$API_KEY" ] && echo set', 'echo "API_KEY=$API_KEY" > .env.new',
    'curl -H "Authorization: Bearer $TOKEN" https://example.org', "echo ${API_KEY:+set}", "echo $TOKEN_COUNT",
    "echo '$API_KEY'", "echo $SSH_AUTH_SOCK", "API_KEY=1 make", "export API_KEY=x", "echo $PASSWORD_FILE",
)  # fmt: skip


@pytest.mark.parametrize("command", FOUND)
def test_a_variable_with_a_telling_name_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_other_variables_and_uses_are_work(command: str) -> None:
    assert found(risks, command) == set()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("API_KEY", True),
        ("GH_PAT", True),
        ("DATABASE_URL", True),
        ("PRIMARY_KEY", False),
        ("MAX_TOKENS", False),
        ("PWD", False),
    ],
)
def test_a_name_promises_or_not(name: str, wanted: bool) -> None:
    assert is_secret_variable(name) is wanted
