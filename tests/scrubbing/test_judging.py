"""Whether a value under a secret's name is the secret."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing.judging import Stands, entropy, is_secret, is_words, looks_random
from tallystick.scrubbing.markers import marker
from tallystick.scrubbing.names import Says
from tests.support.cases import each

HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


@each("value", ["your-api-key", "changeme", "${TOKEN}", "<password>", "********", "xxxxxxxx", "None", "$VAR", "/run/x"])
@each("name", [Says.MAYBE, Says.SECRET, Says.PASSWORD])
def test_a_placeholder_is_no_secret_whatever_its_name(value: str, name: Says) -> None:
    assert not is_secret(value.encode(), name, Stands.MEMBER)


@each(
    "value",
    [
        "tests/e2e/.env",
        "e2e/.env",
        ".env.local",
        "apps/web2/.env.example",
        "k8s/prod1a/secret.yaml",
        "Api/V2/keys.json",
    ],
)
@each("name", [Says.MAYBE, Says.SECRET, Says.PASSWORD])
@each("stands", list(Stands))
def test_the_path_of_a_plain_file_is_no_secret_whatever_its_name(value: str, name: Says, stands: Stands) -> None:
    assert not is_secret(value.encode(), name, stands)


@each("value", ["q9x2m4v7z1/w8k3j5.txt", "Ab3dE9/x7Yq2/.env", "hunter2/e2e9x", "tests/e2e/.env7Kq", "s3cr3t.json"])
def test_what_only_resembles_a_path_is_a_secret(value: str) -> None:
    assert is_secret(value.encode(), Says.PASSWORD, Stands.MEMBER)


def test_a_password_that_a_person_chose_is_one() -> None:
    assert is_secret(b"swordfish", Says.PASSWORD, Stands.MEMBER)
    assert is_secret(b"hunter2", Says.PASSWORD, Stands.QUOTED)
    assert not is_secret(b"swordfish", Says.PASSWORD, Stands.BARE)


@each("value", [HASH, HASH[:40], "0b1f6c1e-9d3a-4a6e-8f0a-3f1d2c4b5a69"])
def test_a_hash_or_uuid_is_a_secret_only_under_a_name_that_says_so_outright(value: str) -> None:
    assert not is_secret(value.encode(), Says.MAYBE, Stands.MEMBER)
    assert is_secret(value.encode(), Says.SECRET, Stands.MEMBER)


@each("prefix", ["sha256:", "sha512-", "sha1-", "h1:", "md5:"])
def test_a_digest_of_a_lock_file_is_never_a_secret(prefix: str) -> None:
    assert not is_secret(f"{prefix}{HASH}".encode(), Says.PASSWORD, Stands.MEMBER)


@each("value", ["my-app-secret-v2", "getUserToken", "config.api_key", "APIKeyAuth", "a.b.c"])
def test_names_are_words(value: str) -> None:
    assert is_words(value.encode())
    assert not looks_random(value.encode())


def test_entropy_is_in_bits_a_byte() -> None:
    assert entropy(b"aaaa") == 0
    assert entropy(bytes(range(256))) == 8


@given(
    st.sampled_from(list(Says)),
    st.sampled_from(list(Stands)),
    st.from_regex(r"[a-z]{2,20}(-[a-z]{2,20}){0,2}", fullmatch=True),
)
def test_a_marker_is_never_a_secret(name: Says, stands: Stands, kind: str) -> None:
    assert not is_secret(marker(kind).encode(), name, stands)
