"""Cases of the audit's rules: for each rule what it must find, and its nearest innocent neighbour."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tallystick.agents.settings import Hit, settings_adapters
from tallystick.agents.settings.audit import settings_hits, text_hits
from tallystick.agents.settings.parsed import parse
from tallystick.catalog.agents import Base, Kind
from tallystick.model.step import Json
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.json_values import scrub_json

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Case(NamedTuple):
    """A rule, a file that it finds, and one like it that it does not."""

    rule: str
    risky: Any
    innocent: Any
    base: Base = Base.USER


def scrub(value: Json) -> Json:
    return scrub_json(value, Counts())


def found(agent: str, content: Any, base: Base = Base.USER) -> list[Hit]:
    """What is found in a settings file: an object as JSON, a text as TOML."""
    is_toml = isinstance(content, str)
    data = content.encode() if is_toml else json.dumps(content, indent=2).encode()
    document = parse(data, "settings.toml" if is_toml else "settings.json", base)
    return list(settings_hits(settings_adapters()[agent], document, scrub))


def found_in_text(kind: Kind, text: str) -> list[Hit]:
    return list(text_hits(kind, text))


def ids(hits: list[Hit]) -> set[str]:
    return {hit.rule.id for hit in hits}


def check(agent: str, case: Case) -> None:
    """The rule is met by the one file, and by the other it is not."""
    assert case.rule in ids(found(agent, case.risky, case.base))
    assert case.rule not in ids(found(agent, case.innocent, case.base))


def check_text(kind: Kind, case: Case) -> None:
    assert case.rule in ids(found_in_text(kind, case.risky))
    assert case.rule not in ids(found_in_text(kind, case.innocent))
