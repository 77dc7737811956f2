"""Tools of developers that run what stands in their arguments."""

import pytest

from tallystick.intent.shell.starters import started, started_text
from tallystick.model.script import HOLE, Word


def words(text: str) -> tuple[Word, ...]:
    return tuple(map(Word, text.split()))


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("mise exec node@20 -- rm a", "rm a"),
        ("doppler run --config dev -- rm a", "rm a"),
        ("aws-vault exec prod -- rm a", "rm a"),
        ("cargo watch -c -- rm a", "rm a"),
        ("nix develop .#ci -c rm a", "rm a"),
        ("gdb -q -ex run --args rm a", "rm a"),
        ("lldb -o run -- rm a", "rm a"),
        ("cross-env A=1 B=2 rm a", "rm a"),
        ("env-cmd -f x rm a", "rm a"),
        ("envchain app rm a", "rm a"),
        ("tini -g -- rm a", "rm a"),
        ("devbox run rm a", "rm a"),
        ("chamber exec app rm a", "rm a"),
        ("arch -x86_64 rm a", "rm a"),
        ("npx -y cross-env A=1 rm a", "cross-env A=1 rm a"),
    ],
)
def test_what_a_tool_runs_is_found(text: str, inner: str) -> None:
    name, *rest = words(text)
    assert started(name.text, tuple(rest)) == words(inner)


@pytest.mark.parametrize(
    "text",
    [
        "cargo test -- --nocapture",
        "git log -- a",
        "mise install",
        "arch",
        "nix build",
        "npx create-vite",
        "npm run a -- b",
        "doppler",
    ],
)
def test_other_words_after_a_tool_are_its_own(text: str) -> None:
    name, *rest = words(text)
    assert started(name.text, tuple(rest)) is None


def test_texts_are_found() -> None:
    assert started_text("concurrently", (Word("-k"), Word("rm a"), Word("npm:dev"), Word("ls b"))) == Word("rm a\nls b")
    assert started_text("nodemon", (Word("--watch"), Word("src"), Word("--exec"), Word("rm a"))) == Word("rm a")
    assert started_text("doppler", (Word("run"), Word("--command=rm a"))) == Word("rm a")
    assert started_text("sops", (Word("exec-env"), Word("f"), Word("rm a"))) == Word("rm a")
    assert started_text("cargo", (Word("watch"), Word("-s"), Word("rm a"))) == Word("rm a")
    assert started_text("cargo", (Word("build"), Word("-s"), Word("rm a"))) is None
    assert started_text("nodemon", words("app.js")) is None
    assert started_text("concurrently", words("npm:a npm:b")) is None


def test_what_is_not_told_of_a_text_goes_along() -> None:
    found = started_text("concurrently", (Word(f"rm {HOLE}", "ls", (3,)), Word("ls b")))
    assert found is not None
    assert (found.hidden, found.commands, found.is_known) == ("ls", (3,), False)
