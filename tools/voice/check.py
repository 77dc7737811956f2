"""The words that people read, held to a list: `python -m tools.voice.check [--count] [--update]`.

Owns where prose is (pages, strings and docstrings of code) and the ratchet: a page, or a package of code, may have as many
words of the list as allowed.toml says, never more, and the number only falls. Must not know which words: words.toml lists
them.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md")
CODE = ("src/tallystick/**/*.py",)
NOT_OURS = ("docs/decisions/", "src/tallystick/samples/")
"""Decisions are history; samples are what agents wrote."""
_GENERATED = re.compile(r"<!-- \[\[\[cog.*?\]\]\] ?-->.*?<!-- \[\[\[end\]\]\] ?-->|<!--.*?-->", re.DOTALL)
_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`[^`\n]+`|\]\([^)]*\)")
_WORDY = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}")


class Find(msgspec.Struct, frozen=True):
    """A word of the list, where it is, and what we write."""

    path: str
    line: int
    word: str
    instead: str


def listed(folder: Path = HERE) -> list[tuple[re.Pattern[str], str]]:
    """The words of the list as patterns, each with what we write."""
    with (folder / "words.toml").open("rb") as file:
        words = tomllib.load(file)["words"]
    return [(re.compile(rf"\b(?:{word})\b", re.IGNORECASE), instead) for word, instead in words.items()]


def finds(root: Path = ROOT, folder: Path = HERE) -> Iterator[Find]:
    """All words of the list in what people read."""
    words = listed(folder)
    for patterns, prose in ((PAGES, page_prose), (CODE, code_prose)):
        for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
            name = path.relative_to(root).as_posix()
            if not name.startswith(NOT_OURS):
                yield from _found(name, prose(path.read_text("utf-8")), words)


def _found(name: str, prose: Iterator[tuple[int, str]], words: list[tuple[re.Pattern[str], str]]) -> Iterator[Find]:
    some_word = re.compile("|".join(pattern.pattern for pattern, _ in words), re.IGNORECASE)
    for line, text in prose:
        if not some_word.search(text):
            continue
        for pattern, instead in words:
            for match in pattern.finditer(text):
                yield Find(name, line + text.count("\n", 0, match.start()), match[0], instead)


def page_prose(text: str) -> Iterator[tuple[int, str]]:
    """What a person wrote in a page: without generated parts, code and addresses. Lines keep their numbers."""
    for pattern in (_GENERATED, _BLOCK, _SPAN):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    yield 1, text


def code_prose(text: str) -> Iterator[tuple[int, str]]:
    """Strings and docstrings of a module that hold at least two words in a row."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORDY.search(node.value):
            yield node.lineno, node.value


def place(path: str) -> str:
    """What a file is counted with: its package, so that modules can move within one; a page by itself."""
    parts = path.split("/")
    return "/".join(parts[:3]) if parts[0] == "src" else path


def allowed(folder: Path = HERE) -> dict[str, int]:
    """How many words of the list each page or package may still have."""
    path = folder / "allowed.toml"
    return tomllib.loads(path.read_text("utf-8"))["places"] if path.exists() else {}


def write_allowed(counts: Counter[str], folder: Path = HERE) -> None:
    """Lower the allowance to what is there; it never rises, but for a first list."""
    before = allowed(folder)
    kept = {name: min(count, before.get(name, count)) for name, count in counts.items() if not before or name in before}
    lines = [f'"{name}" = {count}\n' for name, count in sorted(kept.items())]
    head = (
        "# What is left of the words of words.toml, by page or package.\n"
        "# `make voice` lowers the numbers; nothing raises them.\n\n[places]\n"
    )
    (folder / "allowed.toml").write_text(head + "".join(lines), "utf-8")


def main(words: Sequence[str]) -> int:
    """Check, or lower the allowance; the exit code."""
    found = list(finds())
    counts = Counter(place(find.path) for find in found)
    if "--update" in words:
        write_allowed(counts)
        sys.stdout.write(f"{sum(counts.values())} words of the list are left in {len(counts)} places\n")
        return 0
    over = {name for name, count in counts.items() if count > allowed().get(name, 0)}
    shown = found if "--all" in words else [find for find in found if place(find.path) in over]
    for find in shown:
        sys.stdout.write(f"{find.path}:{find.line}: {find.word!r}: write {find.instead}\n")
    stale = [name for name, count in allowed().items() if counts.get(name, 0) < count]
    if over:
        counted = ", ".join(f"{name}: {counts[name]}, allowed {allowed().get(name, 0)}" for name in sorted(over))
        sys.stdout.write(f"too many words of tools/voice/words.toml in {counted}\n")
    if stale:
        sys.stdout.write(
            f"{len(stale)} places have fewer such words than tools/voice/allowed.toml allows: make voice\n"
        )
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
