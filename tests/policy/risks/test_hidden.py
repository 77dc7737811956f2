"""Code that hides what it runs."""

import pytest

from tallystick.policy.risks.hidden import risks
from tests.policy.risks.readings import FOLDER, found

HIDDEN = (
    "python3 -c \"import base64; exec(base64.b64decode('cHJpbnQoMSk='))\"",
    "python3 - <<'E'\nimport codecs\nexec(codecs.decode(x,'rot13'))\nE",
    "node -e \"eval(Buffer.from(process.argv[1],'base64').toString())\" x",
    "php -r 'eval(base64_decode(\"x\"));'",
    "powershell -enc aQBlAHgA",
    "pwsh -EncodedCommand aQBlAHgA",
)
PLAIN = (
    "python3 -c \"import base64; print(base64.b64decode('cHJpbnQoMSk='))\"",
    "python3 -c 'exec(\"print(1)\")'",
    "pwsh -File a.ps1",
    "base64 -d a",
    "node -e \"console.log(atob('eA=='))\"",
    "pwsh -ExecutionPolicy Bypass -File a.ps1",
)


@pytest.mark.parametrize("command", HIDDEN)
def test_code_that_decodes_what_it_runs_is_found(command: str) -> None:
    assert found(risks, command) == {"hidden-code"}


@pytest.mark.parametrize("command", PLAIN)
def test_code_that_can_be_seen_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_a_bundle_on_disk_is_not_what_the_agent_gave() -> None:
    files = {f"{FOLDER}/bundle.js": "eval(atob(x));\n"}
    assert found(risks, "node bundle.js", files) == set()
