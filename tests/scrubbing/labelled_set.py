"""The labelled set: lines with secrets in them, and lines that look like it and have none.

Owns how the templates in `labelled/*.jsonl` become lines: a secret stands between ⟦ and ⟧, `{alnum:36}` is 36 characters made
by chance from a fixed seed, and `{}` is nothing: it cuts prefixes in two, so that no file of the project has the form of a
key.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "labelled"
_SEED = 20260102
_SLOT = re.compile(r"\{([A-Za-z0-9]*)(?::(\d+))?\}")
_MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)
_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "url": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "hex": "0123456789abcdef",
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "digits": string.digits,
}


class Labelled(NamedTuple):
    """A line, the secret in it (None: there is none), the kind that should stand in its place, and where it comes from."""

    text: str
    secret: str | None
    kind: str
    part: str


def labelled_set(copies: int = 3) -> Iterator[Labelled]:
    """All lines: each template `copies` times, with other characters each time, and each shape in each context."""
    chance = random.Random(_SEED)
    for _ in range(copies):
        yield from _shapes(chance)
        for row in _rows("named"):
            yield _labelled(row["text"], row["kind"], "named", chance)
        for row in _rows("innocent"):
            yield Labelled(filled(row["text"], chance), None, "", "innocent")


def secrets_of_every_kind(chance: random.Random) -> list[tuple[str, str]]:
    """One secret of each shape, whole, with the address it is in: (kind, text)."""
    return [(row["kind"], filled(row["secret"], chance).strip("⟦⟧").replace("⟦", "")) for row in _rows("shapes")]


def filled(template: str, chance: random.Random) -> str:
    """A template with its slots filled. Braces that are no slot stay."""
    return _SLOT.sub(lambda slot: _value(slot, chance), template)


def _value(slot: re.Match[str], chance: random.Random) -> str:
    kind, size = slot[1], int(slot[2] or 0)
    if slot[0] == "{}":
        return ""
    if kind == "uuid":
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    if kind == "pem":
        return "\n".join(base64.b64encode(chance.randbytes(48)).decode() for _ in range(size))
    return "".join(chance.choice(_ALPHABETS[kind]) for _ in range(size)) if kind in _ALPHABETS else slot[0]


def _rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _shapes(chance: random.Random) -> Iterator[Labelled]:
    for row in _rows("shapes"):
        for context in _rows("contexts"):
            secret = row["secret"] if "⟦" in row["secret"] else f"⟦{row['secret']}⟧"
            text = context["text"].replace("⟦⟧", secret)
            yield _labelled(text, row["kind"], "shapes", chance)


def _labelled(template: str, kind: str, part: str, chance: random.Random) -> Labelled:
    text = filled(template, chance)
    marked = _MARKED.search(text)
    assert marked is not None, template
    return Labelled(text.replace("⟦", "").replace("⟧", ""), marked[1], kind, part)


def remains(secret: str, clean: str) -> bool:
    """Whether a secret, or a third of it or more, can still be read."""
    return any(piece in clean for piece in thirds(secret))


def thirds(secret: str) -> set[str]:
    """The pieces of a secret, each a third of it, of which none may be read."""
    size = max(6, len(secret) // 3)
    return {secret[at : at + size] for at in range(max(1, len(secret) - size + 1))}
