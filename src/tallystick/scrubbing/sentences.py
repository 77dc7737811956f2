r"""Secrets that a sentence gives: "the password for staging is …", "Votre code est …", a list of recovery codes.

Owns the forms of such sentences, in several languages; their words are data (catalog/secret_sentences.toml). Must not know
notations of names and values, which are assignments.py's. All patterns are bounded, so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import Stands, is_phrase, is_secret, is_told
from tallystick.scrubbing.names import FOREIGN, KIND, Says, says
from tallystick.scrubbing.places import Find, Place, place_of


class _Facts(Entry, frozen=True):
    """Facts of catalog/secret_sentences.toml."""

    passwords: tuple[str, ...]
    tokens: tuple[str, ...]
    pins: tuple[str, ...]
    codes: tuple[str, ...]
    lists: tuple[str, ...]
    behind: tuple[str, ...]
    pairs: tuple[str, ...]
    prepositions: str
    verbs: str
    changes: str
    given: str
    after: str


_FACTS = load("secret_sentences", _Facts)


def _any(words: str) -> bytes:
    return b"|".join(re.escape(word.encode()) for word in sorted(words.split(), key=len, reverse=True))


_END = rb"(?:\\+[nr]|\r?\n)"
_OPEN = rb"\\{0,3}[\"'`*]{0,3}"
_INNER = rb"(?:[ ]" + _OPEN + rb"[\w'./@:\x80-\xff-]{0,31}[\w'/@\],\x80-\xff]" + _OPEN + rb")"
_OF = rb"(?:[ ]\([^()\n]{1,24}\))?(?P<of>[ ](?:" + _any(_FACTS.prepositions) + rb")" + _INNER + rb"{0,6}?)?"
_VERB = (
    rb"(?P<verb>(?:[ ](?:" + _any(_FACTS.verbs) + rb")|'s|\xe2\x80\x99s|[ ]protected[ ](?:with|by))"
    rb"(?:[ ](?:now|still|just|set to|jetzt|maintenant|ahora))?:?[ ]{1,2}"
    rb"|[ ](?:has been|have been|was|is|got|wurde)[ ](?:changed|set|reset|updated|rotated|switched)[ ](?:to[ ])?|[ ]set:[ ]"
    rb"|[ ]?[:?][ ]{1,2}|[ ](?P<to>to|auf)[ ])"
)  # fmt: skip
_TOLD = pattern_of(_OPEN + rb"(?:[ ][1-9])?" + _OF + _VERB + _OPEN + rb"(?P<secret>[^\s\"'`<>\\]{4,512})")
_TOLD_PHRASE = pattern_of(
    _OF + _VERB + rb"\\{0,3}(?P<quote>[\"'`])(?P<secret>[a-z]{2,16}(?: [a-z]{2,16}){2,9})\\{0,3}(?P=quote)"
)
_PAST = pattern_of(rb"(?:(?i:changed|updated|rotated|switched|replaced)[^\n]{0,40}|\bset [A-Z][A-Z_]{3,40})\Z")
_FUTURE = pattern_of("[.,]? (?:geändert|gesetzt|zurückgesetzt)".encode())
_CHANGED = pattern_of(rb"(?:" + _any(_FACTS.changes) + rb")[^\n]{0,40}\Z", re.IGNORECASE)
_GOES_ON = pattern_of(
    rb"[.,;:!?)\"'`*]{0,3}(?:\Z|[\r\n\\]|[ ](?:" + _any(_FACTS.after) + rb")(?![\w'-]))|[.,;!?][\s\\]"
)
_TRAILING = b".,;:!?)*_"
_AFTER_PASSWORD, _AFTER_TOKEN = (" ", ":", "? ", "'s "), (" ", ":", ", ")
_BEFORE_NOUN = b" \t\r\n*`(>#|"
_ANY_NOUN = rb"(?:[ ]" + _OPEN + rb"(?P<secret>[^\s\"'`<>\\]{4,128})(?P<close>\\{0,3}[\"'`])?)"
_GIVEN = pattern_of(_ANY_NOUN)
_BEFORE_GIVEN = pattern_of(
    rb"(?:\b(?:" + _any(_FACTS.given) + rb")[ ](?:the |a |das |le |la |el )?(?:[a-z]{1,16} )?"
    rb"|\buser(?:name)? \S{1,64},? |[,;/(] ?)\Z",
    re.IGNORECASE,
)  # fmt: skip
_BELOW = pattern_of(
    rb"[^\n:\\]{0,80}:[ \t]*" + _END + rb"{1,3}[ \t]{0,8}(?P<secret>[^\s\\\"']{8,256})[ \t]*(?=[\r\n\\\"]|\Z)"
)
_LEAST_GIVEN = 8
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FOUR_WORDS = pattern_of(rb":[ ]{1,2}\\{0,3}[\"'`]?(?P<secret>[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4})(?![a-z]|[ ][a-z])")


def _password(word: bytes) -> Find:
    """A password after its noun."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        at = start + len(word)
        yield from place_of(_TOLD_PHRASE.match(data, at), is_phrase)
        found = _TOLD.match(data, at)
        if found is not None:
            yield from _told(data, start, found)
        given = _GIVEN.match(data, at)
        if given is not None and _is_given(data, start, given):
            yield _placed(given, "password")
        yield from _below(data, at, Says.PASSWORD)
        yield from place_of(_FOUR_WORDS.match(data, at), is_phrase)

    return find


def _is_noun(data: bytes, start: int, word: bytes) -> bool:
    """Whether a word of a sentence begins there, or one letter before it."""
    begin = start
    if word[:1].islower() and data[start - 1 : start].isalpha():
        begin -= 1
    if begin <= 0:
        return True
    return data[begin - 1] in _BEFORE_NOUN or data[max(0, begin - 2) : begin] == b"\\n"


def _told(data: bytes, start: int, found: re.Match[bytes]) -> Iterator[Place]:
    value = found["secret"].rstrip(_TRAILING)
    is_direct = found["verb"].strip() == b":" and found["of"] is None
    if not is_told(value) or (is_direct and data[start : start + 4].lower() == b"pass"):
        return
    if found["to"] == b"to" and not _CHANGED.search(data, max(0, start - 60), start):
        return
    if found["to"] == b"auf" and not _FUTURE.match(data, found.start("secret") + len(value)):
        return
    is_word = value.isalpha() or not value.isascii()
    if is_word and found["to"] is not None and not _PAST.search(data, max(0, start - 60), found.start("verb")):
        return
    if is_word and (
        found["verb"].strip() in (b":", b"?")
        or b":" in found["verb"]
        or not _GOES_ON.match(data, found.start("secret") + len(value))
    ):
        return
    yield _placed(found, "password")


def _is_given(data: bytes, start: int, given: re.Match[bytes]) -> bool:
    """Whether a value follows the noun at once: "log in with password …"."""
    value = given["secret"].rstrip(_TRAILING)
    before = data[max(0, start - 20) : start]
    noun = start - (len(before) - len(before.rstrip(_LETTERS)))
    if not is_told(value) or not _BEFORE_GIVEN.search(data, max(0, noun - 90), noun):
        return False
    if given["close"]:
        return says(f"password_{value.decode('utf-8', 'replace')}") is not Says.NOTHING
    return len(value) >= _LEAST_GIVEN and not value.isalpha()


def _placed(found: re.Match[bytes], kind: str) -> Place:
    begin = found.start("secret")
    return Place(begin, begin + len(found["secret"].rstrip(_TRAILING)), kind)


def _below(data: bytes, at: int, clearly: Says) -> Iterator[Place]:
    """A value on the next line, after a colon."""
    found = _BELOW.match(data, at)
    if found is not None and _KEY_TEXT.match(found["secret"]) and is_secret(found["secret"], clearly, Stands.BARE):
        yield _placed(found, "secret")


_KEY_TEXT = pattern_of(rb"(?=(?:[^0-9]{0,64}[0-9]){2})[A-Za-z0-9_+/=.~:-]+\Z")
_GROUPS = pattern_of(rb"(?=[A-Z-]{0,40}[0-9])(?:[A-Z0-9]{4,8}-){3,8}[A-Z0-9]{4,8}\Z")


def _token(word: bytes) -> Find:
    """A key or token after its noun."""
    kind = "secret"
    if word.endswith(b"oken"):
        kind = KIND[Says.TOKEN]

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        at = start + len(word)
        if not _is_noun(data, start, word):
            return
        found = _TOLD.match(data, at) or _KEY.match(data, at) or _DISTANT.match(data, at)
        if found is None:
            yield from _below(data, at, Says.SECRET)
            return
        value = found["secret"].rstrip(_TRAILING)
        if _GROUPS.match(value) or (_KEY_TEXT.match(value) and is_secret(value, Says.SECRET, Stands.BARE)):
            yield _placed(found, kind)

    return find


_KEY = pattern_of(
    rb"(?:[ ]for[ ]\S{1,64})?(?:[ ]is|[ ]?:|=|\*\*:|:\*\*)[ ]{0,4}(?:" + _END + rb")?[ \t]{0,8}"
    + _OPEN + rb"(?P<secret>[A-Za-z0-9_+/=.~-]{16,512})"
)  # fmt: skip
_DISTANT = pattern_of(
    rb",?" + _INNER + rb"{0,6}?[ ]" + _OPEN + rb"(?P<secret>(?=[A-Za-z_-]{0,60}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])"
    rb"(?=[A-Z0-9_-]{0,60}[a-z])[A-Za-z0-9_-]{24,256})(?![/.:(\[A-Za-z0-9_-]\S)"
)  # fmt: skip

_BEHIND = pattern_of(
    rb"(?:\A|[\s(:])(?:(?P<quote>[\"'`]{1,2})(?P<quoted>[^\"'`\n]{4,64})(?P=quote)|(?P<bare>[^\s\"'`()\\]{6,64}))\Z"
)


def _behind(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`… as the password`: the value is before the noun."""
    floor = max(0, start - 70)
    found = _BEHIND.search(data[floor:start])
    if found is None:
        return
    if found["quoted"] is not None and is_secret(found["quoted"], Says.PASSWORD, Stands.QUOTED):
        yield Place(floor + found.start("quoted"), floor + found.end("quoted"), "password")
    elif found["bare"] is not None and not found["bare"].isalpha() and is_told(found["bare"]):
        yield Place(floor + found.start("bare"), floor + found.end("bare"), "password")


# Digits and codes ----------------------------------------------------------------------------------------------------

_DIGITS = pattern_of(
    rb"\\{0,7}[\"'`]?" + _OF + rb"(?:[ ](?:" + _any(_FACTS.verbs) + rb")[ ]|[ ]?[:=][ ]?)"
    rb"\\{0,7}[\"'`]?(?P<secret>[0-9]{4,12})(?![\w.:-])"
)  # fmt: skip
_CODE_BEFORE = pattern_of(rb"(?P<secret>(?:[A-Z]-)?[0-9]{4,8}) is your (?:[\w.-]{1,24} ){0,3}\w{0,1}\Z")
_CODE = pattern_of(
    rb"(?:[ ]\([A-Z0-9]{2,6}\))?" + _OF + rb"(?:[ ](?:" + _any(_FACTS.verbs) + rb"):?[ ]|[ ]?[:=][ ]{0,2}|[ ](?=[0-9]{4}))"
    + _OPEN
    + rb"(?P<secret>[0-9]{3}[ -][0-9]{3}|[A-Z]{0,2}-?[0-9]{4,8}|(?=[A-Z]{0,7}[0-9])[A-Z0-9]{6,8})(?![\w:-])"
)  # fmt: skip


_PIN_END = pattern_of(rb"(?:[ ](?:for|is)|[ :=])\Z")


def _pin(word: bytes) -> Find:
    """The digits of a PIN."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        found = _DIGITS.match(data, start + len(_PIN_END.sub(b"", word)))
        if word[:1].isalpha() and data[start - 1 : start].isalpha():
            return
        if found is not None:
            yield Place(*found.span("secret"), "pin")

    return find


def _code(word: bytes) -> Find:
    """A code that is good for one time."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        found = _CODE.match(data, start + len(word))
        if found is not None:
            yield Place(*found.span("secret"), "one-time-code")
        floor = max(0, start - 70)
        before = _CODE_BEFORE.search(data[floor:start])
        if before is not None:
            yield Place(floor + before.start("secret"), floor + before.end("secret"), "one-time-code")

    return find


_LIST_HEAD = pattern_of(rb"[\"'`*]{0,3}[^\n:=\[]{0,80}[:=]?[ ]{0,2}[\[\"'`*]{0,4}")
_LIST_ITEMS = pattern_of(
    rb"(?:(?:" + _END + rb"|[ \t,;\"'`*\xe2\x80\xa2\[]|-[ ]|[0-9]{1,2}[.)][ ]){1,24}"
    rb"[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,3}(?=[\s,;\"'`\\\]]|\Z)){2,24}"
)  # fmt: skip
_LIST_ITEM = pattern_of(rb"(?<![A-Za-z0-9-])[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,3}(?=[\s,;\"'`\\\]]|\Z)")


def _codes(word: bytes) -> Find:
    """The codes under a heading that says so."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        head = _LIST_HEAD.match(data, start + len(word))
        items = None
        if head is not None:
            items = _LIST_ITEMS.match(data, head.end()) or _LIST_ITEMS.match(data, max(start, head.end() - 1))
        if items is None:
            return
        for item in _LIST_ITEM.finditer(data, *items.span()):
            if b"-" in item[0] or any(digit in item[0] for digit in (b"0123456789"[i : i + 1] for i in range(10))):
                yield Place(*item.span(), "recovery-code")

    return find


# Pairs and phrases ---------------------------------------------------------------------------------------------------

_PAIR = pattern_of(
    rb"(?:es|s)?[\"*]{0,3}" + _OF + rb"(?: are| is)?[:=]?[*]{0,2}[ ]{0,4}" + _OPEN + rb"[\w.@+-]{1,64}" + _OPEN
    + rb"(?P<sign>[ ]?[:/][ ]?|[ ]and[ ])"
    + _OPEN + rb"(?P<secret>[^\s\"'`\\<>,;]{4,128})"
)  # fmt: skip
_PHRASE = pattern_of(
    rb"(?:phrase|nemonic)[\"'`*]{0,3}(?: is)?[ ]?[:=]?[ ]{0,4}\\{0,3}[\"'`]?(?P<secret>(?:[a-z]{2,12} ){5,24}[a-z]{2,12})"
)
_RECOVERS = pattern_of(rb"(?:[Ss]eed|[Rr]ecovery|[Ss]ecret|[Bb]ackup|[Ww]allet|[Mm]nemonic)(?: recovery)?[ _-]\Z")
_LEAST_SEED = 12
_GENERATED = pattern_of(rb"password is generated for \S{1,100}: (?P<secret>\S{6,128})")


def _pair(word: bytes) -> Find:
    """`credentials: user / password`."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        found = _PAIR.match(data, start + len(word))
        if found is None:
            return
        value = found["secret"].rstrip(_TRAILING)
        if is_told(value) and (b"and" not in found["sign"] or not value.isalpha()):
            yield _placed(found, "password")

    return find


def _phrase(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A phrase of six words or more by which a wallet is recovered; its words are of a list, which has common ones."""
    found = _PHRASE.match(data, start)
    if found is None:
        return
    is_seed = _RECOVERS.search(data, max(0, start - 24), start) and len(found["secret"].split()) in (12, 15, 18, 24)
    if is_seed or is_phrase(found["secret"]):
        yield Place(*found.span("secret"), "secret")


def _generated(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """What a server says of the password that it made for itself."""
    yield from place_of(_GENERATED.match(data, start))


# Other languages -----------------------------------------------------------------------------------------------------

_NOT_ASCII = bytes(range(0x80, 0x100))
_FOREIGN = pattern_of(
    rb"\w{0,12}[ ]?\\{0,3}[\"'`*]{0,2}(?:[ ]{0,2}(?::|=|\xef\xbc\x9a|\xe6\x98\xaf|\xe4\xb8\xba|\xe3\x81\xaf)\*{0,2}[ ]{0,2})"
    rb"\\{0,3}[\"'`]?(?P<secret>[^\s\"'`,;<>(){}\\]{5,128})"
)


def _foreign(word: bytes) -> Find:
    """A password under its name in another language."""
    told = _password(word)

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        found = _FOREIGN.match(data, start + len(word))
        if found is None:
            yield from told(data, start, limit)
            return
        value = found["secret"].rstrip(b".:")
        if value[:1].isascii():
            value = value.rstrip(_NOT_ASCII)
        if is_secret(value, Says.PASSWORD, Stands.QUOTED) and (
            is_told(value) or not value.decode("utf-8", "replace").isalpha()
        ):
            yield Place(found.start("secret"), found.start("secret") + len(value), "password")

    return find


SENTENCES: tuple[tuple[str, Find], ...] = (
    *(
        (word + sign, find)
        for word in _FACTS.passwords
        for find in (_password(word.encode()),)
        for sign in _AFTER_PASSWORD
    ),
    *((word + sign, find) for word in _FACTS.tokens for find in (_token(word.encode()),) for sign in _AFTER_TOKEN),
    *((word, _pin(word.encode())) for word in _FACTS.pins),
    *((word, _code(word.encode())) for word in _FACTS.codes),
    *((word, _codes(word.encode())) for word in _FACTS.lists),
    *((word, _pair(word.rstrip(" :").encode())) for word in _FACTS.pairs),
    *((word, _behind) for word in _FACTS.behind),
    ("phrase", _phrase),
    ("nemonic", _phrase),
    ("password is generated for", _generated),
    *((word, _foreign(word.encode())) for word in FOREIGN),
)
"""Each form of a sentence with a literal that it has in it."""
