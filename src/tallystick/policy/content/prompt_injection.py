"""Text → what it tells an agent to do against its user: tags.

Owns the tags, the plain form in which wordings are looked for (case, white space, marks and look-alike letters make no
difference), how the wordings of the catalogue are compiled, what of a text is not seen where it is shown (signs without
width, comments, text in other clothes), and what is not an order but given as an example. Must not know where a text
stands. What a text means is not understood here: an order in other words than those of the catalogue goes unseen.
Sources: specs/gensee.md 5.3; Unicode 16.0 (general category Cf), UTS 51 on flags and joiners, UTR 36 on bidirectional
text; RFC 4648.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

import msgspec
from ahocorasick_rs import AhoCorasick

from tallystick.catalog.agents import addressed
from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of

_NARROW = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb"
)
_TURNING = "\u202a-\u202e\u2066-\u2069"
_TAG = "\U000e0020-\U000e007e"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_DROPPED = pattern_of(f"[{_NARROW}{_TURNING}{_SELECTORS}]")
_TAGS = pattern_of(f"[{_TAG}]")
_FLAG = pattern_of(f"\U0001f3f4[{_TAG}]{{1,8}}\U000e007f")
_TURNS = pattern_of(f"[{_TURNING}]")
_IN_WORDS = pattern_of("[A-Za-z][\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff]{1,8}[A-Za-z]")
_MANY = pattern_of(f"[{_NARROW}]{{4}}|[\U000e0100-\U000e01ef]{{2}}|[\ufe00-\ufe0f]{{4}}")
_NOTE = pattern_of(r"^\[(?://|comment)\]: ?#? ?[(\"']([^\n]{1,1000})", re.MULTILINE)
_CODED = pattern_of(r"[A-Za-z0-9+/]{24,8192}={0,2}|(?:[0-9a-fA-F]{2}){24,4096}")
_MOST_CODED = 20


def visible(text: str) -> str:
    """The text without signs that are not seen; tags, which spell ASCII unseen, as what they spell."""
    return _TAGS.sub(lambda tag: chr(ord(tag[0]) - 0xE0000), _DROPPED.sub("", text))


def has_unseen(text: str) -> bool:
    """Whether signs that are not seen stand where neither a script nor an emoji needs them."""
    if text.isascii():
        return False
    if _TURNS.search(text) or _IN_WORDS.search(text) or _MANY.search(text):
        return True
    return _TAGS.search(text) is not None and _TAGS.search(_FLAG.sub("", text)) is not None


def comments(text: str) -> Iterator[str]:
    """Comments of HTML and Markdown; one without an end goes to the end."""
    begin = text.find("<!--")
    while begin >= 0:
        end = text.find("-->", begin)
        yield text[begin + 4 : end if end >= 0 else None]
        if end >= 0:
            begin = text.find("<!--", end)
        else:
            begin = -1
    for found in _NOTE.finditer(text):
        yield found[1]


def coded_texts(text: str) -> Iterator[str]:
    """Texts that are in a text as base64 or as hexadecimal numbers."""
    for count, found in enumerate(_CODED.finditer(text)):
        if count >= _MOST_CODED:
            return
        for decoded in (_decoded(found[0]), _from_hex(found[0])):
            if decoded is not None:
                yield decoded


def _decoded(text: str) -> str | None:
    bare = text.rstrip("=")
    try:
        return _readable(base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _from_hex(text: str) -> str | None:
    try:
        return _readable(bytes.fromhex(text))
    except ValueError:
        return None


def _readable(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if all(sign.isprintable() or sign.isspace() for sign in text):
        return text
    return None


class Wording(msgspec.Struct, frozen=True):
    """Something that may be said in one sentence."""

    tag: str
    needs: tuple[str, ...]
    """One of these is in a sentence that says it."""
    parts: tuple[re.Pattern[str], ...]
    """They follow each other, not far apart."""
    is_order: bool = True
    """Said with `never` or `do not` before it, it is the opposite."""


class _Wording(Entry, frozen=True):
    tag: str
    needs: tuple[str, ...]
    parts: tuple[str, ...]


class _Facts(Entry, frozen=True):
    """Facts of catalog/injection_wordings.toml."""

    negative: frozenset[str]
    names: Mapping[str, str]
    wordings: tuple[_Wording, ...]


def _compiled(part: str, names: Mapping[str, str]) -> re.Pattern[str]:
    """A part as the catalogue has it: line breaks and spaces in it mean nothing, and `_` is a space."""
    spelled = re.sub(r"\s+", "", part)
    for name, pattern in names.items():
        spelled = spelled.replace(f"<{name}>", re.sub(r"\s+", "", pattern))  # a name may be in those before it
    return re.compile(spelled.replace("_", " "))


@cache
def wordings() -> tuple[Wording, ...]:
    """Every wording that is known. They are compiled when a text is first looked at: few calls write one."""
    facts = load("injection_wordings", _Facts)
    names = {**facts.names, "AGENT": "|".join(addressed())}
    return tuple(
        Wording(
            tag=wording.tag,
            needs=wording.needs,
            parts=tuple(_compiled(part, names) for part in wording.parts),
            is_order=wording.tag not in facts.negative,
        )
        for wording in facts.wordings
    )


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
_BLANK = pattern_of(r"\s+")
_PARAGRAPH = pattern_of(r"\n[ \t]*(?:\n|(?=[-#>*+|] )|(?=\d{1,3}[.)] ))")
_SENTENCE = pattern_of(r"[.!?;](?= |$)|\u2029")
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
    shown = _PARAGRAPH.sub(" \u2029 ", shown.replace("\u2029", "\n")).translate(_MARKS).lower()
    if not shown.isascii():
        shown = shown.translate(_LIKE)
    return "\u2029".join(_BLANK.sub(" ", part).strip() for part in shown.split("\u2029"))


# What is said --------------------------------------------------------------------------------------------------------


def _told(text: str) -> Iterator[str]:
    found: set[str] = set()
    needs, wanted = _needed()
    for sentence in _sentences(text):
        seen = {need for need, _, _ in needs.find_matches_as_indexes(sentence, overlapping=True)}
        for wording in sorted({n for need in seen for n in wanted[need]}):
            one = wordings()[wording]
            if one.tag not in found and _is_said(one, sentence):
                found.add(one.tag)
                yield one.tag


@cache
def _needed() -> tuple[AhoCorasick, tuple[tuple[int, ...], ...]]:
    """What finds the words that wordings need, and which wordings need each of them."""
    words = tuple(dict.fromkeys(need for wording in wordings() for need in wording.needs))
    wanted = tuple(tuple(n for n, wording in enumerate(wordings()) if word in wording.needs) for word in words)
    return AhoCorasick(words), wanted


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


_NEGATED = pattern_of(
    r"\b(?:never|not|don't|dont|cannot|can't|mustn't|avoid|no|without|refuse to|instead of|nor)(?: [\w-]+){0,3} ?$"
)
_OPTION = pattern_of(r"(?:^|- |[|] )[`|]?--?[a-z][\w-]{0,40}[`|]? (?:[|] `?-\w`? )?[-|:] ?$")
"""An option that is explained by what comes next."""
_TOLD_OF = pattern_of(
    r"\b(?:like|such as|e\.g|for example|attackers?|attacks?|injections?|injected|malicious|phrases?|treat|untrusted|says?|"
    r"saying|claim\w*|detect\w*|avoid\w*|language|wordings?|classified|spam|examples?(?!\.\w)|texts?|strings?|contain\w*|flag|"
    r"report)\b"
)


def _is_told_of(wording: Wording, sentence: str, at: int) -> bool:
    """Whether what stands before a wording makes it the opposite, or it is quoted as what others write."""
    before = sentence[:at]
    clause = before.rpartition(":")[2].rpartition(",")[2]
    if wording.is_order and (_NEGATED.search(clause) or _OPTION.search(before)):
        return True
    return before[-1:] in ("'", '"', "`") and before != "" and _TOLD_OF.search(sentence) is not None


# What a comment orders -----------------------------------------------------------------------------------------------

_AT_AGENT = pattern_of(
    rf"\byou (?:must|should|are|will)\b|\b(?:ai )?(?:assistants?|agents?|llms?|models?|ai|{'|'.join(addressed())})"
    r"(?:[:,]| (?:must|should|shall|has to|have to|please|always|reading)\b)"
)
_DOES = pattern_of(r"\b(?:execute|run|fetch|download|curl|wget|send|upload|post|append|ignore|approve|delete)\b")
_HARMS = pattern_of(
    r"https?://|\.env\b|\b(?:curl|wget|ignore|approve)\b|secret|token|password|credential|without asking|\.sh\b|\./"
)


def _is_order(comment: str) -> bool:
    """Whether a comment, which no one sees where the text is shown, orders an agent to do what may do harm."""
    said = plain(comment)
    return all(pattern.search(said) is not None for pattern in (_AT_AGENT, _DOES, _HARMS))
