"""Text that a model takes for instructions: what is hidden in it, and what it asks for that no user would.

Owns the rules on text. A text is data here: words that look like an order are reported, and may be quoted for a good reason.
Must not know which agent reads it, nor where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tallystick.agents.settings import Hit, Rule
from tallystick.agents.settings.commands import downloads_and_runs
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog.agents import AGENTS

TAGS = rule_named("instructions.tag-characters")
BIDI = rule_named("instructions.bidirectional")
ZERO_WIDTH = rule_named("instructions.zero-width")
OVERRIDE = rule_named("instructions.override")
SECRECY = rule_named("instructions.secrecy")
HIDDEN = rule_named("instructions.hidden-comment")
DOWNLOADS = rule_named("instructions.download-and-run")
SECRETS = rule_named("instructions.reads-secrets")
UNGUARDED = rule_named("instructions.switches-guards-off")

_TAG = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,7}\U000e007f")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_ZERO_WIDTH = re.compile(
    "[\u200b\u2060-\u2064\u00ad\u180e]{2,}|(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff](?=[A-Za-z])"
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|every|the|your|of|these|those|my)\s+){0,4}"
    r"(?:previous|prior|above|earlier|preceding|existing|system|other)\s+"
    r"(?:(?:user|system|safety|security)\s+)?(?:instruction|prompt|rule|direction|message|guideline|context)s?\b",
    re.IGNORECASE,
)
_SECRECY = re.compile(
    r"\b(?:do\s+not|don['’]?t|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?"
    r"|alert(?:ing)?|show(?:ing)?)\s+(?:(?:this|it|that|anything|these\s+steps)\s+(?:to\s+)?)?(?:the\s+)?(?:user|human|developer)\b",
    re.IGNORECASE,
)
_ADDRESSED = "|".join(name for facts in AGENTS.values() for name in facts.addressed)
_PROGRAMS = "|".join(re.escape(name) for facts in AGENTS.values() for name in facts.programs)
_TELLING = 14
"""Options of so many characters mean nothing else, in whatever text they are."""
_OPTIONS = {option for facts in AGENTS.values() for option in facts.starts.unguarded if len(option) >= _TELLING}
_COMMENT_ORDER = re.compile(
    r"\byou\s+(?:must|should|shall|will)\b|\balways\s+run\b|\brun\s+the\s+following\b|\bexecute\s+the\b"
    rf"|\b(?:assistant|agent|model|{_ADDRESSED})\s*[:,]\s*(?:please|you|do|don['’]?t|never|always|run|read|send)\b"
    r"|\bsend\s+(?:the|all|it)\b|\bupload\s+(?:the|all)\b",
    re.IGNORECASE,
)
_SECRET_FILE = re.compile(
    r"\b(?:cat|read|open|print|send|upload|copy|include|post|type|base64)\b[^\n]{0,80}?"
    r"(?:~|\$HOME|/home/\S{1,40}?|/Users/\S{1,40}?)/\.(?:ssh/id_\w+(?!\.pub)\b(?!\.pub)|aws/credentials|netrc|npmrc|pypirc|pgpass"
    r"|docker/config\.json|kube/config|git-credentials|config/gcloud)",
    re.IGNORECASE,
)
_UNGUARDED = re.compile(
    rf"(?:{'|'.join(sorted(_OPTIONS))})\b|-c\s+approval_policy=[\"']?never|\b(?:agent|{_PROGRAMS})\b[^\n]{{0,60}}?\s--yolo\b"
)
_MOST_EACH = 5
_RULES: tuple[tuple[Rule, re.Pattern[str]], ...] = (
    (BIDI, _BIDI),
    (ZERO_WIDTH, _ZERO_WIDTH),
    (OVERRIDE, _ORDER),
    (SECRECY, _SECRECY),
    (SECRETS, _SECRET_FILE),
    (UNGUARDED, _UNGUARDED),
)


def look(text: str) -> Iterator[Hit]:
    """What is risky in a text that models read."""
    for rule, pattern in _RULES:
        yield from _hits(rule, text, pattern.finditer(text))
    yield from _hits(TAGS, text, _TAG.finditer(_FLAG.sub(lambda flag: " " * len(flag[0]), text)))
    yield from _hits(HIDDEN, text, (at for at, comment in _comments(text) if _gives_orders(comment)))
    yield from downloads(text, DOWNLOADS)


def downloads(text: str, rule: Rule) -> Iterator[Hit]:
    """The lines of a text that download code and run it, as hits of a rule."""
    yield from _hits(rule, text, _by_line(text, downloads_and_runs))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Where comments begin, and what they say. One that does not end is none; a pattern would look for its end each time."""
    start = text.find("<!--")
    while start >= 0 and (end := text.find("-->", start + 4)) >= 0:
        yield start, text[start + 4 : end]
        start = text.find("<!--", end + 3)


def _gives_orders(comment: str) -> bool:
    return any(pattern.search(comment) for pattern in (_COMMENT_ORDER, _ORDER, _SECRECY, _SECRET_FILE))


def _by_line(text: str, find: Callable[[str], re.Match[str] | None]) -> Iterator[re.Match[str] | int]:
    at = 0
    for line in text.split("\n"):
        if find(line[:4000]):
            yield at
        at += len(line) + 1


def _hits(rule: Rule, text: str, found: Iterator[re.Match[str]] | Iterator[re.Match[str] | int]) -> Iterator[Hit]:
    for _, match in zip(range(_MOST_EACH), found, strict=False):
        if isinstance(match, int):
            start = match
        else:
            start = match.start()
        if isinstance(match, int):
            end = text.find("\n", start)
        else:
            end = match.end()
        said = text[start : end if end >= 0 else None].strip()
        yield Hit(rule=rule, line=text.count("\n", 0, start) + 1, said=said if said.isprintable() else _codes(said))


def _codes(said: str) -> str:
    """Characters that cannot be seen, as code points; the rest as it is."""
    return "".join(
        character if character.isprintable() else f"U+{ord(character):04X} " for character in said[:60]
    ).strip()
