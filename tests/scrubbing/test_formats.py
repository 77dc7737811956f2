"""What a format of files says is a secret."""

from __future__ import annotations

import base64

from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

SECRET = "Velorinda"
ENCODED = base64.b64encode(b"not a password by its look").decode()
FORMATS = {
    "netrc": f"machine h.example\n  login bob\n  password {SECRET}\n",
    "netrc in JSON": f"machine h.example\\n  login bob\\n  password {SECRET}\\n",
    "netrc of no machine": f"default login bob password {SECRET}",
    "mail": f"user bob\npassword {SECRET}\n",
    "pgpass": f"db:5432:shop:bob:{SECRET}",
    "a Secret in YAML": f"apiVersion: v1\nkind: Secret\ndata:\n  first: {ENCODED}\n",
    "a Secret in JSON": f'{{"kind":"Secret","data":{{"first":"{ENCODED}"}}}}',
    "docker": '{"auths":{"h":{"auth":"' + base64.b64encode(b"bob:abc123").decode() + '"}}}',
    "CSV": f"name,password\nbob,{SECRET}\n",
    "Markdown": f"| user | password |\n|---|---|\n| bob | {SECRET} |\n",
    "IDENTIFIED BY": f"create user bob identified by '{SECRET}'",
    "PRAGMA": f"PRAGMA key = '{SECRET}';",
    "INSERT": f"insert into users (name, password) values ('bob', '{SECRET}');",
    "an input": f'<input type="password" value="{SECRET}">',
    "thin": f"jdbc:oracle:thin:bob/{SECRET}@//h:1521/X",
    "dsn": f"bob:{SECRET}@tcp(h:3306)/shop",
    "relay": f"[smtp.example]:587 bob:{SECRET}",
    "ipsec": f'1.2.3.4 : PSK "{SECRET}"',
    "AUTH": f"AUTH {SECRET}",
    "ACL": f"user bob on >{SECRET} ~*",
    "printenv": "$ printenv API_TOKEN\nx8Kq2LmP0zR4tY7w\n",
    "subversion": f"password\nV 9\n{SECRET}\n",
    "German": f"Passwort: {SECRET}",
    "Japanese": f"パスワード: {SECRET}",
    "JWK": '{"kty":"oct","k":"8sJqVb0aX3nLr2TgYw5ZcD"}',
}


@each("format", FORMATS)
def test_what_a_format_says_is_a_secret_is_one(format: str) -> None:
    clean = scrubbed(FORMATS[format])
    assert "‹secret:" in clean
    assert SECRET not in clean
    assert ENCODED not in clean


INNOCENT = {
    "a ConfigMap": f"kind: ConfigMap\ndata:\n  first: {ENCODED}\n",
    "a template": "kind: Secret\ndata:\n  first: {{ .Values.first }}\n",
    "a table without one": "name,email\nbob,b@example.org\n",
    "a locked user": "root:*:19000:0:99999:7:::",
    "parameters": "insert into users (name, password) values (?, ?)",
    "a variable": "machine h login bob password $PASSWORD",
    "a sentence": "Please enter your password to continue.",
}


@each("format", INNOCENT)
def test_what_is_no_secret_stays(format: str) -> None:
    assert scrubbed(INNOCENT[format]) == INNOCENT[format]


def test_another_document_in_the_same_file_is_none_of_the_secret() -> None:
    other = f"kind: ConfigMap\ndata:\n  first: {ENCODED}\n"
    clean = scrubbed(f"kind: Secret\ndata:\n  one: {ENCODED[:-2]}AA\n---\n{other}")
    assert clean.endswith(other)
