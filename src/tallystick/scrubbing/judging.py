"""Whether a value that stands under a secret's name is the secret: not a placeholder, a path, an expression or plain words.

Owns that judgement. Must not know where name and value were found.
"""

import base64
import binascii
import enum
import math
import re
from collections import Counter
from functools import lru_cache

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.markers import OPEN_BYTES
from tallystick.scrubbing.names import Says


class Stands(enum.Enum):
    """How a value stands beside its name."""

    MEMBER = "a member of an object, a line of an environment file: it can be nothing but the value of that name"
    QUOTED = "in quotes, in text or code"
    LINE = "the rest of its line, a part of an address or of a command: not a part of an expression"
    BARE = "in text or code, without quotes: it may be an expression or a word of a sentence"


class _PlainWords(Entry, frozen=True):
    """Facts of catalog/plain_words.toml: words with blanks between them."""

    types: str
    people: str
    code: str
    languages: str
    said: str
    said_endings: str

    def all(self) -> frozenset[str]:
        """Every word that is no password."""
        return frozenset(f"{self.types} {self.people} {self.code} {self.languages}".split())


_FACTS = load("plain_words", _PlainWords)
_PLAIN = _FACTS.all()
_SAID = frozenset(_FACTS.said.split())
_SAID_ENDINGS = tuple(_FACTS.said_endings.split())
_WORDS = pattern_of(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
LONGEST = 8192
_LONGEST_ORDINARY = 100
_LONGEST_PATH = 200
_UUID = pattern_of(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_HASH = pattern_of(rb"(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})\Z")
_LOCK_DIGEST = pattern_of(rb"(?:sha(?:1|224|256|384|512)|md5|blake[23][a-z0-9]*|h1)[-:=]", re.IGNORECASE)
_NO_VALUE = pattern_of(
    rb"""[$<{\[(] | (?:\xe2\x80\xa2|\xe2\x97\x8f|[*#xX._-])+\Z   # a variable, a template, a tag, a drawing
    | (?:true|false|null|nil|none|undefined|yes|no|string|str|bytes|text|any|optional|required|hidden|secret|token|password
        |passwd|passphrase|credentials?|key|basic|bearer|default|empty|unset|env|unknown|invalid|missing|void)\Z
    | (?:https?|file|git|ssh|ftp|wss?)://
    | [.~]{1,2}[A-Za-z-]*/ | /(?![A-Za-z0-9+/]{30,100}={0,2}\Z) | [A-Za-z]:\\                          # a path
    | x{3,} | \.{3} | -{3} | _{3} | (?:\\u[0-9a-f]{4})+\Z
    | (?:process|os|self|this|env|config|settings|args|opts|options|params|ctx|request|req|secrets|vault|op|arn|urn|ref|file
        |state|props|data|user|response|res|client|app|obj|e|t|n)[.:]""",
    re.IGNORECASE | re.VERBOSE,
)
_PLACEHOLDER = pattern_of(
    rb"(?<![A-Za-z0-9])(?:your|my-?own|example|placeholder|change-?_?me|dummy|redacted|masked|insert|replace|todo|fake|sample|elided)"
    rb"(?![A-Za-z0-9])|\*{4}|x{6}|\.\.\.|\xe2\x80\xa6|\$\{|\{\{|<[A-Za-z]|EXAMPLE(?:KEY)?(?![A-Za-z])",
    re.IGNORECASE,
)
_FOLDER = rb"[A-Za-z][a-z]{0,15}(?:[0-9]{1,2}[a-z]{0,8})?(?:[_-][A-Za-z]?[a-z]{0,15}[0-9]{0,2}){0,4}"
_PLAIN_FILE = pattern_of(
    rb"(?:" + _FOLDER + rb"/){0,8}\.env(?:\.[a-z]{2,12}){0,2}\Z"
    rb"|(?:" + _FOLDER + rb"/){1,8}" + _FOLDER + rb"\.(?:json|ya?ml|toml|ini|conf|cfg|txt|md|env)\Z"
)
"""A file by a path of plain words, where secrets are kept or told of: `tests/e2e/.env`, `k8s/secret.yaml`."""
_PART = rb"(?:[A-Za-z]{1,24}[0-9]{0,3}|[0-9]{1,4})"
_IDENTIFIER = pattern_of(_PART + rb"(?:[-_./:@]{1,4}" + _PART + rb")*\Z")
_CAMEL = pattern_of(rb"[A-Z]{0,6}[a-z]+(?:[A-Z]{1,6}[a-z]+)*[0-9]{0,2}\Z")
_CLASSES = (pattern_of(rb"[0-9]"), pattern_of(rb"[a-z]"), pattern_of(rb"[A-Z]"))
_MARKS = (b"*", b"%", b"#", b"@")
"""An alias, a variable, a comment, a name: or what a made password begins with, which is long and mixed then."""
_LEAST_MARKED = 10
_NO_LETTERS = b"0123456789-_./:@"
_LEAST_OF_RUN = 16
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CHANGE = pattern_of(rb"(?=[a-z][A-Z]|[A-Z][a-z])")
_ONE_WORD = pattern_of(rb"[A-Za-z\x80-\xff]+\Z")
_HUMPS = pattern_of(
    rb"[A-Za-z]?[a-z]{8,}\Z|(?:[A-Z][a-z]{2,}){2,}\Z|(?=[A-Za-z]{14})[A-Za-z]*[a-z][A-Z]{2,}[A-Za-z]*\Z"
)
"""A word, several with a capital each, or letters in which capitals follow each other as chance has it."""
_LEAST_WORD = 6
_LEAST_WORDS = 3
_PHRASE_WORD = pattern_of(rb"[A-Za-z0-9]{2,16}\Z")
_NUMBERED = pattern_of(rb"[A-Za-z]{5,40}[0-9]{2,8}\Z")
_INNER_SIGN = pattern_of(rb"[A-Za-z0-9][!#$%^&*@=+?~]{1,3}[A-Za-z0-9]|[0-9_][!#$%^&*@=+?~]\Z")
_SENTENCE = frozenset(
    [
        "the",
        "your",
        "enter",
        "an",
        "for",
        "of",
        "to",
        "is",
        "please",
        "with",
        "this",
        "and",
        "or",
        "must",
        "in",
        "not",
        "no",
        "are",
        "be",
        "has",
        "key",
        "file",
        "from",
        "will",
        "should",
    ]
)
_LETTER = pattern_of(rb"[A-Za-z\x80-\xff]")
_SYMBOL = pattern_of(rb"[!-,;-@\[-^`{-~]")
_SHORT, _LEAST_SHORT, _LEAST = 20, 2.8, 3.0
"""Bits a byte: random hex of 16 digits has about 3.2, English words written together about 3.3 but one class."""


def is_secret(value: bytes, name: Says, stands: Stands) -> bool:
    """Whether `value` is a secret, given what its name says and how it stands."""
    if not 4 <= len(value) <= LONGEST or name is Says.NOTHING or _is_no_value(value):
        return False
    if name is Says.PASSWORD:
        return _is_password(value, stands)
    if name is Says.SECRET:
        return _is_outright(value, stands)
    if is_basic(value):
        return True
    if len(value) < 16 or not looks_random(value):
        return False
    return (name is Says.TOKEN and stands is Stands.LINE) or not (_UUID.match(value) or _HASH.match(value))


def is_told(value: bytes) -> bool:
    """Whether a word that a sentence gives as a password is one, and not what it says of it: "the password is wrong"."""
    if len(value) < _LEAST_WORD or _is_no_value(value) or is_ordinary(value):
        return False
    if not value.isascii() and not _CLASSES[0].search(value):
        return False
    if _ONE_WORD.match(value):
        return not _is_said(value.decode("utf-8", "replace").lower())
    if _CLASSES[0].search(value) and _LETTER.search(value):
        return not is_words(value) or _NUMBERED.match(value) is not None
    if _is_joined_phrase(value):
        return True
    return _INNER_SIGN.search(value) is not None


def _is_said(word: str) -> bool:
    return word in _SAID or word in _SENTENCE or word.endswith(_SAID_ENDINGS)


def is_basic(value: bytes) -> bool:
    """Whether a value is the base64 of a user and a password with a colon between them."""
    if len(value) < 8 or len(value) % 4:
        return False
    try:
        text = base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return text.isascii() and text.decode().isprintable() and 0 < text.find(b":") < len(text) - 3


def is_placeholder(value: bytes) -> bool:
    """Whether a value says that something else belongs in its place."""
    return _PLACEHOLDER.search(value) is not None


def is_ordinary(value: bytes) -> bool:
    """Whether a value is made of words that stand for a password, or beside one in code: `newPassword`, `changeme`."""
    if len(value) > _LONGEST_ORDINARY or _CLASSES[0].search(value):
        return False
    return _is_ordinary(value)


@lru_cache(maxsize=4096)
def _is_ordinary(value: bytes) -> bool:
    words = _WORDS.findall(value.decode("utf-8", "replace"))
    return bool(words) and all(word.lower() in _PLAIN for word in words)


def _is_no_value(value: bytes) -> bool:
    if OPEN_BYTES in value or b" " in value or b"\n" in value or len(set(value)) < 3:
        return True
    if value[:1] in _MARKS:
        return not (_CLASSES[0].search(value) and _CLASSES[1].search(value) and len(value) >= _LEAST_MARKED)
    if len(value) <= _LONGEST_PATH and _PLAIN_FILE.match(value):
        return True
    return bool(_NO_VALUE.match(value) or _LOCK_DIGEST.match(value) or _PLACEHOLDER.search(value))


def _is_password(value: bytes, stands: Stands) -> bool:
    if is_ordinary(value):
        return False
    if stands is Stands.MEMBER:
        return True
    if stands is not Stands.BARE:
        return len(value) >= 5 and (_is_mixed(value) or looks_random(value) or _is_one_word(value))
    return len(value) >= 6 and _is_mixed(value) and not is_words(value)


def _is_one_word(value: bytes) -> bool:
    """Letters, or digits, and nothing else, as a password is that people remember."""
    return len(value) >= _LEAST_WORD and (value.isdigit() or _ONE_WORD.match(value) is not None)


def is_phrase(value: bytes) -> bool:
    """Whether a text is a phrase of words by chance: three or more, and none that holds a sentence together or is of code."""
    words = value.split()
    if len(words) < _LEAST_WORDS or not all(_PHRASE_WORD.match(word) for word in words):
        return False
    plain = {word.decode().lower() for word in words}
    return plain.isdisjoint(_SENTENCE) and plain.isdisjoint(_PLAIN)


def _is_outright(value: bytes, stands: Stands) -> bool:
    if len(value) < 8 or is_ordinary(value):
        return False
    if is_words(value):
        return stands is not Stands.BARE and (_HUMPS.match(value) is not None or _is_joined_phrase(value))
    if stands is Stands.BARE:
        return len(value) >= 12 and looks_random(value)
    return _is_mixed(value) or looks_random(value)


def _is_joined_phrase(value: bytes) -> bool:
    """A phrase with dashes for its blanks: `correct-horse-battery`."""
    words = value.decode("ascii", "replace").split("-")
    strange = [
        word for word in words if word.islower() and word.isalpha() and word not in _PLAIN and word not in _SENTENCE
    ]
    return len(strange) >= _LEAST_WORDS and len(words) - len(strange) < _LEAST_WORDS - 1


def _is_mixed(value: bytes) -> bool:
    """Letters, and digits or signs that words do not have."""
    if _LETTER.search(value) is None:
        return False
    return _CLASSES[0].search(value) is not None or _SYMBOL.search(value) is not None


def is_words(value: bytes) -> bool:
    """Words with signs between them, as names are: `my-app-secret-v2`, `getUserToken`, `config.api_key`."""
    if len(value) > 200 or not (_IDENTIFIER.match(value) or _CAMEL.match(value)):
        return False
    return not _is_one_run(value)


def _is_one_run(value: bytes) -> bool:
    """Letters, or many of them with few others, that are not words: too many changes between capitals and small letters."""
    letters = value.translate(None, _NO_LETTERS)
    if len(letters) < len(value) and len(letters) < _LEAST_OF_RUN:
        return False
    capitals = len(letters) - len(letters.translate(None, _CAPITALS))
    return len(_CHANGE.findall(value)) * 3 >= len(letters) and 0.3 <= capitals / len(letters) <= 0.7


def looks_random(value: bytes) -> bool:
    """Whether a value looks made by chance: enough different characters, of several classes, and not words."""
    if len(value) < 10 or is_words(value):
        return False
    several = sum(kind.search(value) is not None for kind in _CLASSES)
    return several >= 2 and entropy(value) >= (_LEAST_SHORT if len(value) < _SHORT else _LEAST)


def entropy(value: bytes) -> float:
    """Shannon's entropy of the bytes, in bits a byte."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())
