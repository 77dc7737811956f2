"""What no ordinary program has to do."""

import pytest

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.calls.high_impact import GRAVE, grave
from tallystick.policy.settings import Settings


@pytest.mark.parametrize(
    ("operation", "target", "word"),
    [
        (Operation.READ, "/h/.ssh/id_rsa", "reads-secret"),
        (Operation.COPY_SOURCE, "/h/.aws/credentials", "reads-secret"),
        (Operation.READ, "/h/p/.env", "reads-secret"),
        (Operation.READ, "/h/p/.env.example", None),
        (Operation.READ, "/h/p/src/main.py", None),
        (Operation.LIST, "/h/.ssh", None),
        (Operation.DELETE, "/h", "deletes-home"),
        (Operation.DELETE, "/", "deletes-home"),
        (Operation.DELETE, "/usr/bin", "deletes-home"),
        (Operation.DELETE, "/h/p/build", None),
        (Operation.APPEND, "/h/.bashrc", "writes-start"),
        (Operation.WRITE, "/h/.ssh/authorized_keys", "writes-start"),
        (Operation.WRITE, "/h/p/out.txt", None),
        (Operation.READ, "p/.env", None),
    ],
)
def test_a_path_tells(operation: Operation, target: str, word: str | None) -> None:
    intent = Intent(domain=Domain.FILE, operation=operation, target=target)
    assert grave(intent, Settings(), home="/h", workspace="/h/p") == word
    assert word is None or word in GRAVE


@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("http://169.254.169.254/latest", "reaches-metadata"),
        ("http://0xA9FEA9FE/", "reaches-metadata"),
        ("https://example.org", None),
    ],
)
def test_a_host_tells(target: str, word: str | None) -> None:
    intent = Intent(domain=Domain.NETWORK, operation=Operation.FETCH, target=target)
    assert grave(intent, Settings(), home="/h", workspace="/h/p") == word


def test_what_is_not_known_to_be_meant_is_not_grave() -> None:
    for intent in (
        Intent(domain=Domain.FILE, operation=Operation.DELETE, target="/", is_known=False),
        Intent(domain=Domain.FILE, operation=Operation.READ, target="/h/.ssh/*", is_pattern=True),
        Intent(domain=Domain.PROCESS, operation=Operation.RUN, target="sudo"),
    ):
        assert grave(intent, Settings(), home="/h", workspace="/h/p") is None
