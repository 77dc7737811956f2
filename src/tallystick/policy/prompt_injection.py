"""Text → what it tells an agent to do against its user: tags.

Owns the tags, the plain form in which wordings are looked for (case, white space, marks and look-alike letters make no
difference), and what is not an order but told of as an example. Must not know where a text stands. What a text means is
not understood here: an order in other words than those of `wordings` goes unseen. Source: specs/gensee.md 5.3.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from tallystick.catalog.agents import addressed
from tallystick.policy.injection_wordings import Wording, wordings
from tallystick.policy.unseen import coded_texts, comments, has_unseen, visible

TAGS: dict[str, str] = {
    "override": "It puts the agent's other instructions or safeguards out of force.",
    "conceals": "It tells the agent to keep something from its user.",
    "approves": "It says that calls are approved, or tells the agent to skip approval.",
    "leaks": "It tells the agent to send secrets or conversations somewhere.",
    "standing-order": "It tells the agent to run or send something by itself whenever something happens.",
    "deceives": "It tells the agent what to answer, whatever is true.",
    "remote-code": "It tells the agent to run what a host sends.",
    "hidden-text": "Parts of it, which may be orders, are not seen where it is shown.",
}
"""Every tag and what it means."""

_MOST = 256 << 10
_MOST_IN_SENTENCE = 2000
_MOST_BETWEEN = 160
_MOST_TRIES = 8
_BLANK = re.compile(r"\s+")
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n|(?=[-#>*+|] )|(?=\d{1,3}[.)] ))")
_SENTENCE = re.compile(r"[.!?;](?= |$)|\u2029")
_MARKS = str.maketrans("", "", "*_~")
_LOOK_ALIKES = {
    "a": "\u0430\u04d3\u0251\u03b1", "c": "\u0441\u03f2", "d": "\u0501", "e": "\u0435\u0451\u0454", "g": "\u0261",
    "h": "\u04bb",
    "i": "\u0456\u0457\u03b9\u0131", "j": "\u0458\u03f3", "k": "\u03ba\u043a", "l": "\u04cf", "m": "\u043c", "n": "\u043f",
    "o": "\u043e\u03bf", "p": "\u0440\u03c1", "q": "\u051b", "s": "\u0455", "t": "\u03c4\u0442", "u": "\u03c5", "v": "\u03bd",
    "w": "\u051d", "x": "\u0445\u03c7", "y": "\u0443\u04af", "'": "\u2018\u2019\u02bc", '"': "\u201c\u201d\u00ab\u00bb",
    "-": "\u2010\u2011\u2012\u2013\u2014",
}  # fmt: skip
"""Letters of Latin and signs → those of other scripts that look the same."""
_LIKE = str.maketrans({sign: letter for letter, signs in _LOOK_ALIKES.items() for sign in signs})


@lru_cache(maxsize=64)
def tags_of(text: str) -> frozenset[str]:
    """What a text tells an agent to do against its user: words of TAGS. Never raises; only the first 256 KiB count."""
    beginning = text[:_MOST]
    found = {*_told(plain(beginning))}
    if has_unseen(beginning) or any(_is_order(comment) for comment in comments(beginning)):
        found.add("hidden-text")
    for decoded in coded_texts(beginning):
        told = {*_told(plain(decoded))}
        found |= {"hidden-text", *told} if told else set()
    return frozenset(found)


def plain(text: str) -> str:
    """The text as wordings are looked for in it: lower case, without marks and what is not seen; a paragraph's end stays."""
    shown = text if text.isascii() else unicodedata.normalize("NFKC", visible(text))
    shown = _PARAGRAPH.sub(" \u2029 ", shown).translate(_MARKS).lower()
    if not shown.isascii():
        shown = shown.translate(_LIKE)
    return "\u2029".join(_BLANK.sub(" ", part).strip() for part in shown.split("\u2029"))


# What is said --------------------------------------------------------------------------------------------------------


def _told(text: str) -> Iterator[str]:
    found: set[str] = set()
    for sentence in _sentences(text):
        for wording in wordings():
            if (
                wording.tag not in found
                and any(need in sentence for need in wording.needs)
                and _is_said(wording, sentence)
            ):
                found.add(wording.tag)
                yield wording.tag


def _sentences(text: str) -> Iterator[str]:
    begin = 0
    for end in _SENTENCE.finditer(text):
        yield from _cut(text[begin : end.start()])
        begin = end.end()
    yield from _cut(text[begin:])


def _cut(sentence: str) -> Iterator[str]:
    for at in range(0, len(sentence), _MOST_IN_SENTENCE):
        yield sentence[at : at + _MOST_IN_SENTENCE]


def _is_said(wording: Wording, sentence: str) -> bool:
    """Whether a sentence says it, and neither forbids it nor tells of it."""
    first, *rest = wording.parts
    for count, found in enumerate(first.finditer(sentence)):
        if count >= _MOST_TRIES:
            return False
        if _follow(rest, sentence, found.end()) and not _is_told_of(wording, sentence, found.start()):
            return True
    return False


def _follow(parts: list[re.Pattern[str]], sentence: str, at: int) -> bool:
    """Whether parts follow each other from a place on, none far from the one before it."""
    for part in parts:
        found = part.search(sentence[at : at + _MOST_BETWEEN])
        if found is None:
            return False
        at += found.end()
    return True


_NEGATED = re.compile(
    r"\b(?:never|not|don't|dont|cannot|can't|mustn't|avoid|no|without|refuse to|instead of|nor)(?: [\w-]+){0,3} ?$"
)
_TOLD_OF = re.compile(
    r"\b(?:like|such as|e\.g|for example|attackers?|attacks?|injections?|injected|malicious|phrases?|treat|untrusted|says?|"
    r"saying|claim\w*|detect\w*|avoid\w*|language|wordings?|classified|spam|examples?(?!\.\w)|texts?|strings?|contain\w*|flag|"
    r"report)\b"
)


def _is_told_of(wording: Wording, sentence: str, at: int) -> bool:
    """Whether what stands before a wording makes it the opposite, or it is quoted as what others write."""
    before = sentence[:at]
    clause = before.rpartition(":")[2].rpartition(",")[2]
    if wording.is_order and _NEGATED.search(clause):
        return True
    return before[-1:] in ("'", '"', "`") and before != "" and _TOLD_OF.search(sentence) is not None


# What a comment orders -----------------------------------------------------------------------------------------------

_AT_AGENT = re.compile(
    rf"\byou (?:must|should|are|will)\b|\b(?:ai )?(?:assistants?|agents?|llms?|models?|ai|{'|'.join(addressed())})"
    r"(?:[:,]| (?:must|should|shall|has to|have to|please|always|reading)\b)"
)
_DOES = re.compile(r"\b(?:execute|run|fetch|download|curl|wget|send|upload|post|append|ignore|approve|delete)\b")
_HARMS = re.compile(
    r"https?://|\.env\b|\b(?:curl|wget|ignore|approve)\b|secret|token|password|credential|without asking|\.sh\b|\./"
)


def _is_order(comment: str) -> bool:
    """Whether a comment, which no one sees where the text is shown, orders an agent to do what may do harm."""
    said = plain(comment)
    return all(pattern.search(said) is not None for pattern in (_AT_AGENT, _DOES, _HARMS))
