from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go build", ["read* ."]),
        ("go build -C d ./...", ["read* d"]),
        ("go test -run X ./a", ["execute* ./a"]),
        ("go run a.go b.go x", ["execute a.go", "execute b.go"]),
        ("go run ./cmd x", ["execute* ./cmd"]),
        ("go install a.b/c@v1", ["fetch pkg:golang/a.b/c@v1"]),
        ("go mod vendor", ["edit go.mod", "write* vendor"]),
        ("go vet a.go", ["read a.go"]),
        ("go version", []),
        ("cargo +nightly b", ["execute Cargo.toml", "write* target"]),
        ("cargo b --target-dir t", ["execute Cargo.toml", "write* t"]),
        ("cargo clippy --fix", ["execute Cargo.toml", "write* target", "edit* ."]),
        ("cargo update", ["edit Cargo.lock"]),
        ("cargo fmt --check", []),
        ("cargo install --path d", ["read* d"]),
        ("cargo publish", ["read* .", "send pkg:cargo"]),
        ("cargo init", ["create* ."]),
    ],
)
def test_verbs_of_go_and_cargo(text: str, expected: list[str]) -> None:
    assert does(text) == expected
    assert not acted(text).is_unknown


def test_a_built_program_comes_from_its_sources() -> None:
    assert flows("go build -o b a.go") == ["a.go -> b"]
    assert flows("cargo add a") == ["pkg:cargo/a -> Cargo.toml"]


def test_another_verb_is_unknown() -> None:
    assert acted("go generate").is_unknown
    assert acted("cargo frobnicate").is_unknown
