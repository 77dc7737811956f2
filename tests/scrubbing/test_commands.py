"""Secrets that commands and calls are given."""

from __future__ import annotations

import pytest

from tallystick.scrubbing.commands import call_literals, pipe_literals, program_literals
from tests.scrubbing.scrubbing import kinds, scrubbed
from tests.support.cases import each

SECRET = "Velorinda"


@each(
    "command",
    [
        "mysql -u bob -p{} shop",
        "sshpass -p {} ssh bob@h",
        "sshpass -p'{}' ssh bob@h",
        "docker login -u bob -p {} h.example",
        "htpasswd -b /etc/x bob {}",
        "htpasswd -nb bob {}",
        "redis-cli -h h -a {} ping",
        "aws ssm put-parameter --name /x --value {}",
        "curl -su bob:{} https://h.example",
        "curl --user 'bob:{}' https://h.example",
        "smbclient //h/s -U bob%{}",
        "sqlplus bob/{}@h",
        "openssl rsa -passin pass:{} -in k",
        "rabbitmqctl add_user bob {}",
        "cd x && zip -P {} -r a.zip a",
        "echo {} | sudo -S ls",
        "printf '%s\\n' '{}' | docker login -u bob --password-stdin",
        "echo 'bob:{}' | sudo chpasswd",
        "requests.get(url, auth=('bob', '{}'))",
        'new NetworkCredential("bob", "{}")',
        'source.setPassword("{}");',
        'DriverManager.getConnection(url, "bob", "{}")',
    ],
)
def test_a_secret_that_is_given_is_found(command: str) -> None:
    clean = scrubbed(command.format(SECRET))
    assert SECRET not in clean
    assert clean.replace("‹secret:password›", SECRET) == command.format(SECRET)


@each(
    "command",
    [
        "docker run -p 8080:80 nginx",
        "mysql -u root -p shop",
        "ssh -p 2222 bob@h",
        "mkdir -p src/a",
        "redis-cli -a $REDIS_PASSWORD ping",
        "sshpass -p <password> ssh h",
        "aws s3 ls --value Velorinda",
        "mymysql -pVelorinda",
        "echo hello | sudo tee /etc/motd",
        "source.setPassword(password);",
        'label("user", "Velorinda")',
    ],
)
def test_what_is_no_secret_stays(command: str) -> None:
    assert scrubbed(command) == command


def test_a_secret_of_a_kind_of_its_own_has_it() -> None:
    assert kinds("kubectl create secret generic s --from-literal=first=Velorinda") == {"secret": 1}


@pytest.mark.parametrize("literals", [program_literals(), pipe_literals(), call_literals()])
def test_each_literal_is_there_once_and_is_more_than_a_letter(literals: tuple[str, ...]) -> None:
    assert len(set(literals)) == len(literals)
    assert min(map(len, literals)) > 2
