"""Commands and what they mean to do, from the tables in `corpus/`. Their form: the top of `structure_basics.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.model.intent import Chance, Domain, Effects, Intent, Operation
from tests.support.cases import each

_FOLDER = "/w"
_HOME = "/home/dev"


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command, and what is expected of it."""

    text: str
    folder: str | None = _FOLDER
    """None is written as ""."""
    intents: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    runs: tuple[str, ...] | None = None
    content: dict[str, str] = {}
    files: dict[str, str] = {}
    """What can be read and found when the command is looked at: path → text. Relative ones are below the folder."""


def cases() -> list[object]:
    """All cases of all tables, each named by its file and text."""
    found: list[object] = []
    for path in sorted((Path(__file__).parent / "corpus").glob("*.toml")):
        for raw in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            case = msgspec.convert(raw, Case)
            found.append(pytest.param(case, id=f"{path.stem}: {case.text[:60]!a}"))
    return found


def environment(case: Case) -> Environment:
    """What is known before the command of a case."""
    files = {path if path.startswith("/") else f"{_FOLDER}/{path}": text for path, text in case.files.items()}
    return Environment(
        variables={"HOME": _HOME, "USER": "dev"},
        folder=case.folder or None,
        glob=(lambda pattern: sorted(path for path in files if Path(path).match(pattern))) if files else None,
        read_text=files.get if files else None,
    )


def shown(target: str, domain: Domain) -> str:
    """A target as the tables spell it."""
    if domain is not Domain.FILE or target == _FOLDER or target == "":
        return target
    if target.startswith(f"{_FOLDER}/"):
        return target.removeprefix(f"{_FOLDER}/")
    return target if target.startswith(("/", "~")) else f"./{target}"


def line(intent: Intent) -> str:
    """An intent as the tables spell it."""
    flags = [
        name
        for name, holds in (
            ("deep", intent.is_deep),
            ("authored", intent.is_authored),
            ("pattern", intent.is_pattern),
            ("partial", not intent.is_known),
            ("maybe", intent.chance is Chance.MAYBE),
        )
        if holds
    ]
    operation = (
        "unknown-file" if (intent.domain, intent.operation) == (Domain.FILE, Operation.UNKNOWN) else intent.operation
    )
    return f"{operation}{'[' + ','.join(flags) + ']' if flags else ''} {shown(intent.target, intent.domain)}".rstrip()


def flow_lines(found: Effects) -> set[str]:
    """The flows as the tables spell them."""
    names = [shown(intent.target, intent.domain) for intent in found.intents]
    return {f"{names[flow.source]} -> {names[flow.target]}" for flow in found.flows}


@each("case", cases())
def test_a_command_means_to_do_what_its_table_says(case: Case) -> None:
    found = effects(case.text, environment(case))
    others = [intent for intent in found.intents if intent.operation is not Operation.RUN]
    assert sorted(map(line, others)) == sorted(case.intents)
    assert flow_lines(found) == set(case.flows)
    if case.runs is not None:
        assert [intent.target for intent in found.intents if intent.operation is Operation.RUN] == list(case.runs)
    for target, text in case.content.items():
        assert text in [intent.content for intent in others if shown(intent.target, intent.domain) == target]


def test_the_corpus_has_six_hundred_different_commands() -> None:
    texts = {case.values[0].text for case in cases()}  # type: ignore[attr-defined]
    assert len(texts) >= 600
