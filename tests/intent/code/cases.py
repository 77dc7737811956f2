"""The form in which these tests write down what a program does."""

from __future__ import annotations

from tallystick.intent.actions import Action
from tallystick.intent.code.languages import read_code
from tallystick.model.intent import Domain
from tallystick.model.script import HOLE, Word

HOME = "/home/dev"


def done(language: str, text: str) -> list[str]:
    """Each action in a line, then each code, then `unknown`. `_` stands for a hole."""
    read = read_code(language, text, home=HOME)
    lines = [_line(action) for action in read.actions]
    lines += [f"{code.language}: {_spelled(code.text)}" for code in read.codes]
    return lines + ["unknown"] * read.is_unknown


def _line(action: Action) -> str:
    domain = "" if action.domain is Domain.FILE else f"{action.domain} "
    content = "" if action.content is None else f" = {action.content!r}"
    return f"{domain}{action.operation} {_spelled(action.target)}{' deep' if action.is_deep else ''}{content}"


def _spelled(word: Word) -> str:
    return Word(word.text.replace(HOLE, "_")).plain
