"""Whether a name says that its value is a secret: `DB_PASSWORD`, `x-api-key`, `clientSecret`.

Owns the words. Must not know what the value is or in which notation the name stands.
"""

import enum
from functools import lru_cache

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.markers import without_markers


class Says(enum.IntEnum):
    """How clearly a name says "secret"; the clearer, the less its value must look like one."""

    NOTHING = 0
    MAYBE = 1
    """`…_key`, `signature`: the value must look random, and must not be a UUID or the hex of a hash."""
    TOKEN = 2
    """`token`: the value must look random; a line of settings may have a UUID or the hex of a hash, too."""
    SECRET = 3
    """`client_secret`, `api_key`, `access_token`: any value that is not a word, path or expression."""
    PASSWORD = 4
    """`password`: people choose these, so any value that is not a placeholder."""


KIND = {Says.MAYBE: "token", Says.TOKEN: "token", Says.SECRET: "secret", Says.PASSWORD: "password"}

_WORDS = pattern_of(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_JOINED = pattern_of(
    r"(api|access|auth|private|secret|account|client|signing|encryption|master|storage|shared|ssh|app)(key)(?![a-z])"
    r"|([a-z]{2,16})(token|secret)(?![a-z])"
)


_MAYBE = frozenset(
    (
        "auth",
        "csrf",
        "xsrf",
        "otp",
        "sig",
        "signature",
        "sessionid",
        "phpsessid",
        "jsessionid",
        "sid",
        "middlewaretoken",
        "csrfmiddlewaretoken",
        "cookie",
        "salt",
    )
)
"""Words that say it alone, at a name's end."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What such a name ends in when it names something about a secret.
class _Facts(Entry, frozen=True):
    """Facts of catalog/secret_words.toml."""

    about: frozenset[str]
    about_first: frozenset[str]
    no_token: frozenset[str]
    no_key: frozenset[str]
    secret: tuple[str, ...]
    before_key_or_token: tuple[str, ...]
    before_token: tuple[str, ...]
    services: tuple[str, ...]
    in_other_languages: tuple[str, ...]


_FACTS = load("secret_words", _Facts)
_PASSWORD = pattern_of(
    r"passw(?:or)?d(?!less)|passphrase|passcode|contrase|_pwd_|_[a-z0-9]*pass_|_pass_phrase_|_psk_|_pw_|_rootpw_|_bindpw_|_userpw_|_requirepass_"
    r"|_masterauth_|_preshared_key_|_pre_shared_key_|_passwort_|_rocommunity_|_rwcommunity_"
)
_NO_PASSWORD = frozenset(
    ("by", "com", "sur", "tres", "under", "over", "im", "en", "multi", "single", "render", "first", "second", "test")
)
FOREIGN = _FACTS.in_other_languages
"""Words for "password" in other languages."""
_SECRET = pattern_of(
    rf"_(?:{'|'.join(_FACTS.secret)}|(?:{'|'.join(_FACTS.before_key_or_token)})_(?:key|token)"
    rf"|(?:{'|'.join(_FACTS.before_token)})_token|[a-z0-9]*apikey|authtoken|(?:{'|'.join(_FACTS.services)})_key)_"
)


@lru_cache(maxsize=8192)
def says(name: str) -> Says:
    """What a name says of its value. Any notation: snake, kebab, camel, dotted, with `--` before it or not."""
    if len(name) > 200:
        return Says.NOTHING
    split = "_".join(word.lower() for word in _WORDS.findall(without_markers(name)))
    words = _JOINED.sub(r"\1\3_\2\4", split).split("_")
    if words[-1] in _FACTS.about or (words[0] in _FACTS.about_first and words[-1] != "token"):
        return Says.NOTHING
    joined = f"_{'_'.join(words)}_"
    if _PASSWORD.search(joined) and not _passes_by(words):
        return Says.PASSWORD
    if _SECRET.search(joined) and not _is_public(words):
        return Says.SECRET
    if _is_public(words):
        return Says.NOTHING
    return _may_be(words)


def says_of_each(name: str) -> Says:
    """What the name of a list says of each value in it: `passwords`, `api_keys`; that of one value says nothing."""
    if name[-1:] not in ("s", "S"):
        return Says.NOTHING
    return says(name[:-1])


def _passes_by(words: list[str]) -> bool:
    """Whether a name is of a way past something, or of a run through it: `bypass`, `render_pass`."""
    last, before = words[-1], "".join(words[-2:-1])
    return last.endswith("pass") and (
        last.removesuffix("pass") in _NO_PASSWORD or (last == "pass" and before in _NO_PASSWORD)
    )


def _is_public(words: list[str]) -> bool:
    return "public" in words or "publishable" in words


def _may_be(words: list[str]) -> Says:
    before = ""
    if len(words) > 1:
        before = words[-2]
    if words[-1] == "token" and before not in _FACTS.no_token:
        return Says.TOKEN
    is_key = words[-1] == "key" and before != "" and before not in _FACTS.no_key
    if is_key or words[-1] in _MAYBE:
        return Says.MAYBE
    return Says.NOTHING
