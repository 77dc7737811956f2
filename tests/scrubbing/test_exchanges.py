"""Secrets that programs say to each other or print."""

from __future__ import annotations

from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

SECRET = "VelvetLantern7"
EXCHANGES = {
    "FTP": f"USER bob\r\n331 Please say the password.\r\nPASS {SECRET}\r\n230 Welcome",
    "a call that is traced": f'write(3, "PASS {SECRET}\\r\\n", 16) = 16',
    "IMAP": f"a1 LOGIN bob {SECRET}\r\n",
    "Redis": f"AUTH {SECRET}",
    "a list of users of Redis": f"user bob on >{SECRET} ~*",
    "a router": f"enable secret {SECRET}\n",
    "an installer": f"d-i passwd/root-password password {SECRET}\n",
    "a command": f"$ pass show mail/box\n{SECRET}\n",
    "a command in JSON": f'{{"out": "$ op read op://a/b/password\\n{SECRET}\\n"}}',
    "a variable": f"$ echo $DB_PASSWORD\n{SECRET}\n",
}


@each("form", list(EXCHANGES))
def test_a_password_is_found_where_a_program_says_it(form: str) -> None:
    assert SECRET not in scrubbed(EXCHANGES[form])


def test_an_answer_to_a_question_for_a_password_is_found() -> None:
    clean = scrubbed("334 VXNlcm5hbWU6\nYm9i\n334 UGFzc3dvcmQ6\nVmVsdmV0TGFudGVybjc=\n235 ok")
    assert clean == "334 VXNlcm5hbWU6\nYm9i\n334 UGFzc3dvcmQ6\n‹secret:authorization›\n235 ok"


@each(
    "text",
    [
        "PASS src/auth/password.test.ts",
        "CREATE ROLE a LOGIN PASSWORD NULL;",
        "pass insert mail/box",
        "$ pass ls\nmail\n",
    ],
)
def test_what_looks_alike_stays(text: str) -> None:
    assert scrubbed(text) == text
