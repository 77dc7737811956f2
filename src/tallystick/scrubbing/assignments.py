r"""Secrets that text gives a name: `API_KEY=…`, `"password": "…"`, `--token …`, `<password>…</password>`.

Owns the notations in which a name and a value stand beside each other, in code, settings, commands and logs, at any depth of
escaping (`\"token\": \"…\"`). Must not know which names say "secret", nor what a secret looks like.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import LONGEST, Stands, is_phrase, is_secret, looks_random
from tallystick.scrubbing.names import KIND, Says, says

_WORDS = """
    password passwd pass_word passphrase pass_phrase passcode contrase _pass pass= pass" pass: pwd secret token
    credential apikey api_key api-key _key -key access_key private_key signing_key encryption_key master_key
    account_key auth_key client_key shared_access connection_string _auth sig= mnemonic seed_phrase psk pw= pw: upw authtok
    rootpw bindpw requirepass masterauth sessionid sessid rocommunity preshared -pass <pass _pat= _pat: pass>
"""


def _spellings(word: str) -> set[str]:
    """The ways to write a word in names: `api_key`, `API_KEY`, `Api_Key`, `apiKey`, `ApiKey`, `APIKey`, `apikey`."""
    joined, camel = word.replace("_", ""), word.title().replace("_", "")
    first, _, rest = word.partition("_")
    written = {word, word.upper(), word.title()}
    if first and rest:
        written |= {
            joined,
            joined.upper(),
            joined.title(),
            camel,
            camel[0].lower() + camel[1:],
            first.upper() + camel[len(first) :],
        }
    return written


_AS_WRITTEN = [
    "pass =", "pass]", "pw =", "_salt", "_SALT", "pepper", "keyMaterial", "-Auth:", '-Auth"', "auth[]", "pre_shared",
]  # fmt: skip
LITERALS = tuple(sorted(set().union(*map(_spellings, [*_WORDS.split(), *_AS_WRITTEN]))))
"""What every name that says "secret" has in it."""

_IN_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$"
_LONGEST_NAME = 64
_SIGNS = b'=":'
"""What some literals end in, so that they are no words of sentences; it is not of the name."""
_REST = pattern_of(rb"[A-Za-z0-9_.-]{0,64}")
_SPACE = rb"(?:[ \t]|\\+t(?![A-Za-z0-9_]))"
_CLOSE = rb"""(?:\\{0,7}["'`])?(?:\]["'`]?|\}\}?)?(?:\*\*)?"""
_TYPE = (
    rb":[ ]{0,2}&?(?:'static )?[A-Za-z][A-Za-z0-9_.]{0,24}(?:\[[a-zA-Z]{1,12}\])?"
    rb"(?: ?\| ?(?:None|null|undefined))?\??[ ]{0,2}=|(?:\[\]|[ ]As[ ]String|[ ]string)[ ]{0,2}="
)
# Name, then sign, then value. A comma only between two texts: `setenv("TOKEN", "…")`, or after an atom: `{password, "…"}`.
_SIGN = pattern_of(
    _CLOSE
    + rb"(?:"
    + rb":</[a-z]{1,8}>\s{0,16}(?:<[a-z]{1,8}>){0,2}(?=[^\s<>]{4,200}(?:</|<br|\s|\Z))|"
    + rb"[ ]?:[ ]?\{\s{0,12}\\{0,7}[\"'](?:value|defaultValue|default)\\{0,7}[\"']\s?:\s?(?=\\{0,7}[\"'])"
    + rb"|:(?:(?:\\+n|\r?\n)[ \t]{1,16}(?:Type|Description|NoEcho|MinLength|MaxLength): [^\r\n\\]{1,80}){0,5}"
    + rb"(?:\\+n|\r?\n)[ \t]{1,16}Default:[ ]"
    + rb"|\)\.(?:type|fill|sendKeys|send_keys|setValue)\((?=[\"'`])"
    + rb"|[ ][A-Za-z:]{1,24}=[\"'][^\"'<>]{0,80}[\"']>(?=[^\s<>]{4,200}</)"
    + rb"|=>(?:\s|\\+n){1,24}string\([0-9]{1,6}\)[ ](?=\\{0,7}[\"'])"
    + rb"|[ ]\{[ ](?:(?:private |protected )?(?:get|set|init);[ ]){1,2}\}[ ]=[ ]|"
    + (
        _SPACE
        + rb"{0,24}(?:"
        + _TYPE
        + rb"|:=|\|\|=|=>|<-|={1,3}|!==?|\?=|:=|:(?!:)|%3[Dd])(?:\*\*)?"
        + _SPACE
        + rb"{0,24}"
    )
    + rb"|[ ]{1,4}(?:is|was|to)(?: now)?:?[ ]{1,4}"
    + rb"|[ ]{1,2}(?:-|->|\xe2\x86\x92|\xe2\x80\x93|\xe2\x80\x94)[ ]{1,2}"
    + rb"""|,?(?:[ \t\r\n]|\\+[rnt]|- ){0,24}\\{0,7}["']?(?:Parameter)?[vV]alue\\{0,7}["']?[ ]{0,4}[:=][ ]{0,4}"""
    + rb"""|[ ]{0,2},[ ]{0,12}(?=(?:<<)?\\{0,7}["'`])"""
    + rb"""|(?<=["'])[ ]{1,4}(?:value|content)=(?=["'])"""
    + rb"""|[ ]{1,4}(?=\\{0,7}["'])|\{(?=["'])"""
    + rb"|[ ]{1,4}(?:0|7|plain|cleartext)[ ]{1,4}(?=\S{4,128}\s{0,4}(?:\n|\Z))|[ ]encoding=[\"']base64[\"']>"
    + rb"|(?<=[A-Za-z0-9\"'])>(?:<!\[CDATA\[)?(?=[^\s<>\[\]]{4,200}(?:\]\]>)?</)"
    + rb"|:?</[a-z]{1,8}>\s{0,16}(?:<[a-z]{1,8}>){0,2}(?=[^\s<>]{4,200}(?:</|<br|\s|\Z))"
    + rb"|>\s{0,16}<[Vv]alue>(?=[^\s<>]{4,200}</)"
    + rb"|[ ]?\|[ ]{1,24}(?=[^\s|]{4,200}[ ]{1,24}\|)"
    + rb")"
)
_FLAG_SIGN = pattern_of(
    rb"[ ]{1,4}(?!-|[=:>|][ =])|=|\\{0,3}[\"'],\s{0,8}(?=\\{0,3}[\"'][^-])|(?:\\+n|\r?\n)[ \t]{0,16}-[ ](?!-)"
)
_ALIGNED = pattern_of(
    rb"[ \t]{2,24}(?=\S{4,128}(?:\s|\\+[nr]|\Z))|[ \t](?=[^\s\\]{4,128}[ \t]{0,4}(?:[\r\n]|\\+[nr]|\Z))"
)
"""Blanks and one word more, which ends the line."""
_AFTER_COMMAND = pattern_of(
    rb"(?:login[ \t]{1,8}\S{1,64}[ \t]{1,8}|\bwith |\bset -[gUxL]{1,3} |\bENV |\bsetenv |\bsetx |\bSetEnv |"
    rb"\bset |config set |configure set (?:profile\.\S{1,40}\.)?|git config (?:--\w{1,10} )?)\Z",
    re.IGNORECASE,
)
_COMMAND_WORDS = (b"login", b"with", b"set", b"env", b"config")
"""One of these is in whatever that matches."""
_LINE_START = pattern_of(
    rb"(?:[ \t>+|*[-]|[0-9]{1,6}(?:\t|\\t|\xe2\x86\x92|:)|[\w./-]{1,60}:[0-9]{1,6}:){0,16}"
    rb"(?:(?:[A-Za-z]{1,10} ){0,3}|export |set |setx |declare -x |local "
    rb"|ENV |ARG |- |\$env:|-e |--env |SetEnv |Environment=)?\"?\$?\Z"
)
_OPENING = pattern_of(
    rb"""(?:[bruflN@$]{1,2}(?=["'`])|<<(?="))?(?:\(\s{0,16})?(\\{0,15})(["'`])(?!\2)|(?P<three>"{3}|'{3})"""
)
_LONG_OPENING = pattern_of(
    rb"""(?:[a-z_]{1,12}\.){0,2}(?:r?\#?|from_?[A-Za-z]{0,8}\(|[Ss]tring::from\(|(?:String|bytes\.fromhex|env"""
    rb"""|getenv|str|b64decode|fromHex|Buffer\.from)\()(?=["'])"""
)
_LONG_QUOTES = pattern_of(
    rb"""(?:"{3}\n?(?P<a>[^"]{1,512}?)"{3}|'{3}\n?(?P<b>[^']{1,512}?)'{3}|%?q?[qQ]?\((?P<c>[^()\s]{4,256})\)|"""
    rb"""q\{(?P<d>[^{}\s]{4,256})\}|\[\[(?P<e>[^\[\]\s]{4,256})\]\]|r#"(?P<f>[^"\n]{4,256})"#)"""
)
_DEFAULT = pattern_of(
    rb"""[^\n=;]{0,80}(?:\|\||\?\?| or)[ ]{0,2}(?=["'`])|(?:os\.|process\.|std::)?(?:env|getenv|enviro"""
    rb"""n|ENV|System\.getenv)[.\w]{0,12}\(?\[?["'][A-Za-z_]{1,64}["'][)\]]?,? ?(?:\|\||\?\?|or|,)? ?(?=["'])"""
)
_LONG_SIGNS = (b'"', b"'", b"%", b"q", b"Q", b"[", b"r")
_OPENINGS = ((None,), (None, _LONG_OPENING, _DEFAULT))
"""What may be before a literal: nothing, or a call and a variable, if it begins with a letter."""
_BARE = pattern_of(
    rb"""(?:[^\s"'`,;&=|<>(){}\[\]\\\x00-\x1f]|=(?![A-Za-z_.-]{1,40}=)|&(?!&|amp;|[A-Za-z_.-]{1,40}=)){1,8192}"""
)
_SETTING = pattern_of(rb"""(?![A-Za-z_][A-Za-z0-9_.]*[(\[])[^\s"'`\\\x00-\x1f]{1,8192}""")
_REST_OF_LINE = pattern_of(rb"[ \t]{0,16}(?:[#;]|//|\\+[nr]|[\r\n]|\\?[\"'`]|\Z)")
_PAIR_END = pattern_of(rb"[\s&\"'`|<\\;]|,(?! )|[.:!?]?(?:\s|\Z)")
_PAIR_SIGN = b"="
_BEFORE_SETTING = (b" ", b'"', b"'", b"\t", b"\0")
_CALL = (b"(", b"[")
_OPTION = pattern_of(rb"--?[a-z][a-z-]*\Z|-[A-Za-z]\Z")
_EXPRESSION = pattern_of(rb"!{0,2}[A-Za-z_$][A-Za-z0-9_$]*(?:\??\.[A-Za-z_$][A-Za-z0-9_$]*)+[?:]*\Z|!|.*\?\.")
_DIGIT = pattern_of(rb"[0-9]")
_SMALL_LETTERS = pattern_of(rb"[a-z]+")
_NAME = pattern_of(rb"_{0,2}\$?[A-Za-z][A-Za-z0-9_$]*\Z")
_NO_SIGN = pattern_of(rb"[(;/@&]|[)]|[.,] [a-z]| (?!is|was|to|value|string|encoding|plain|- |-> )[a-z]{1,20}[ .,]")
"""What goes after a name in code or a sentence that gives it no value, in JSON too."""
_TAG = pattern_of(
    rb"[&!][^\s\"']{1,24}[ ]{1,4}|!![a-z]{1,12}[ ]"
    rb"|[|>][-+0-9]{0,2}[ ]{0,4}(?:\\+n|\r?\n)[ \t]{0,32}"
    rb"|\\?(?:\\+n|\r?\n)[ \t]{1,32}(?=[!-9;<>-~]{6,512}[ \t]{0,4}(?:[\r\n]|\Z))|base64:"
)
"""What may stand between sign and value in YAML: an anchor, a tag, the sign of a block; in other files, a line end."""
_SAID = pattern_of(rb"[ ](?:is|was|to|now)[ ]{1,4}\Z")
_COMPARED = pattern_of(rb"[=!]==?[ ]{0,4}\Z")
_PAIRS = (b":", b"=")
_PAIR_BEFORE = pattern_of(rb"\$\{\Z|[{ ][A-Za-z_]{1,32}[:=][^\s{}\"'():=]{1,64},?[ ]\Z")
_PAIR_AFTER = pattern_of(rb"\}|,?[ ][A-Za-z_]{1,32}[:=][^\s\"'():=]{1,64}[,} ]")
_CAMEL = pattern_of(rb"[a-z][A-Z][a-z]")
_CLASS = pattern_of(rb"[A-Z][A-Za-z]*[a-z][A-Z][A-Za-z]*\Z")
_CHAIN = pattern_of(rb"[A-Z][A-Za-z ]{1,30}=[^;\"'(){}\n]{1,100};[ ]?\Z")
"""A pair before, as in `Server=…;Password=…`: what follows is not code."""
_METAVARIABLE = pattern_of(rb"[A-Z][A-Z_-]{2,20}\Z")
"""What a text of help has in the place of a value: `--passphrase=PHRASE`."""
_USER_BEFORE = pattern_of(
    rb"(?:user|usr|username|user_name|login|email|account|uid)[\"']?[ ]?[:=][ ]?\S{1,64}[ \t,;/|]{1,8}\Z", re.IGNORECASE
)
_USER_WORDS = (b"us", b"login", b"mail", b"account", b"uid")
_WORDS_OF_SENTENCES = (b"password", b"passphrase", b"pass", b"passwd", b"passcode")
_CLOSED = pattern_of(rb"""\\{0,7}["'`][ \t]{0,4}[)}]""")


_CLEAR = pattern_of(rb"[ ](?:0|7|plain|cleartext)[ ]+\Z")
"""What a router says before a password, of how it is written."""
_GOES_ON = pattern_of(rb"[,;&=|{}!][^\s\"'`\\()\[\]=]{1,64}(?=[ \t]{0,4}(?:[\r\n]|\\+[nr]|\Z))")


class Assignment(NamedTuple):
    """A secret under its name: from where to where it goes, and its kind."""

    start: int
    end: int
    kind: str


class Name(NamedTuple):
    """A name in a text: from where to where it goes."""

    start: int
    end: int


def name_at(data: bytes, start: int, end: int) -> Name:
    """The name that has one of LITERALS at `start` to `end`."""
    begin = _name_start(data, start)
    if data[end - 1] in _SIGNS:
        end -= 1
    rest = _REST.match(data, end)
    after = end
    if rest is not None:
        after = rest.end()
    return Name(begin, max(end, begin + len(data[begin:after].rstrip(b".-"))))


class Claim(NamedTuple):
    """A name that says "secret", and where its value begins."""

    name: int
    value: int
    clearly: Says
    stands: Stands | None
    """How the value stands, if that is known by the sign."""


def claim(data: bytes, name: Name) -> Claim | None:
    """What is beside a name as its value, if the name says "secret"."""
    begin, after = name
    clearly = says(data[begin:after].decode("ascii", "replace"))
    if clearly is Says.NOTHING:
        return None
    if data[begin : begin + 1] == b"-":
        clearly = max(clearly, Says.SECRET)
    if _takes_a_word(data, begin):
        flag = _FLAG_SIGN.match(data, after)
        if flag is not None:
            stands = Stands.MEMBER
            if data[begin - 5 : begin] == b"with ":
                stands = Stands.BARE
            return Claim(begin, flag.end(), max(clearly, Says.SECRET), stands)
    sign = _SIGN.match(data, after)
    if sign is not None and sign.end() > after:
        if _is_of_code(data, begin, sign[0]):
            return None
        return _claimed(data, begin, sign, clearly)
    if clearly is Says.PASSWORD and _begins_line(data, begin):
        aligned = _ALIGNED.match(data, after)
        if aligned is not None:
            return Claim(begin, aligned.end(), clearly, _aligned(data, begin, aligned))
    return None


def _is_of_code(data: bytes, begin: int, sign: bytes) -> bool:
    """Whether a sign gives no value: the comma of a list, the stroke of a template."""
    if b"," in sign:
        return not _opens_a_call(data, begin)
    return b"| " in sign and data[begin : begin + 1] == b"."


def _opens_a_call(data: bytes, begin: int) -> bool:
    """Whether a name is the first of several values: `setenv("TOKEN", …)`, `{password, …}`; not one of a list."""
    return (
        data[max(0, begin - 8) : begin].rstrip(b" \\\"'`#.")[-1:] in (b"(", b"{", b"=")
        or b"alue" in data[begin : begin + 90]
    )


def _aligned(data: bytes, begin: int, blanks: re.Match[bytes]) -> Stands:
    """How a word stands that ends the line of a name: beside it, or in a column of its own."""
    is_word = data[begin : blanks.start()].lower() in _WORDS_OF_SENTENCES
    if blanks[0] != b" " or not is_word:
        return Stands.LINE
    return Stands.BARE


def _claimed(data: bytes, begin: int, sign: re.Match[bytes], clearly: Says) -> Claim:
    at = sign.end()
    tag = _TAG.match(data, at)
    if tag is not None:
        at = tag.end()
    if sign[0].endswith((b">", b"[CDATA[")) and b"=" not in sign[0]:
        return Claim(begin, at, clearly, Stands.MEMBER)
    if _CLEAR.search(sign[0]):
        return Claim(begin, at, Says.PASSWORD, Stands.MEMBER)
    if b"alue" in sign[0] or b"content" in sign[0]:
        return Claim(begin, at, clearly, Stands.LINE)
    return Claim(begin, at, clearly, None)


def assigned(data: bytes, claimed: Claim, limit: int) -> Assignment | None:
    """The secret that a name claims, or None before `limit`."""
    return _value(data, claimed, limit)


def _takes_a_word(data: bytes, begin: int) -> bool:
    """Whether the name is an option, or is in a command where the next word is its value."""
    if data[begin : begin + 1] == b"-":
        return True
    is_after_blank = data[begin - 1 : begin] in (b" ", b"\t")
    if not is_after_blank or not _holds(data[max(0, begin - 90) : begin], _COMMAND_WORDS):
        return False
    return _AFTER_COMMAND.search(data, max(0, begin - 90), begin) is not None


def _holds(before: bytes, words: tuple[bytes, ...]) -> bool:
    """Whether one of some words is there: a pattern that ends where it is looked for takes a hundred times as long."""
    small = before.lower()
    return any(word in small for word in words)


def may_be_assigned(data: bytes, start: int, end: int) -> bool:
    """Whether `claim` may find something there once JSON's escapes are undone."""
    begin, after = name_at(data, start, end)
    if says(data[begin:after].decode("ascii", "replace")) is Says.NOTHING:
        return False
    return _NO_SIGN.match(data, after) is None or _takes_a_word(data, begin)


def _name_start(data: bytes, start: int) -> int:
    before = data[max(0, start - _LONGEST_NAME) : start]
    begin = start - (len(before) - len(before.rstrip(_IN_NAME)))
    # The letter of an escape is none of the name: `\nTOKEN=…`.
    if begin and data[begin - 1 : begin] == b"\\" and data[begin : begin + 1] in (b"n", b"r", b"t"):
        if begin < start:
            return begin + 1
        return begin
    return begin


def _value(data: bytes, claimed: Claim, limit: int) -> Assignment | None:
    begin, at, clearly, stands = claimed
    is_setting = _is_setting(data, begin, at)
    if is_setting and clearly is Says.TOKEN and data[begin : at - 1].endswith(b"TOKEN"):
        clearly = Says.SECRET
    if is_setting:
        stands = Stands.MEMBER
    quoted = _literal(data, at, limit)
    if quoted is not None:
        if b"," in data[begin:at] and data[begin : begin + 1] != b"-" and _CLOSED.match(data, quoted[1]) is None:
            stands = Stands.BARE
        return _judged(data, quoted, clearly, stands or Stands.QUOTED)
    return _bare(data, Claim(begin, at, clearly, stands), limit, is_setting=is_setting)


def _bare(data: bytes, claimed: Claim, limit: int, *, is_setting: bool) -> Assignment | None:
    """A value without quotes, or with the first of them alone."""
    begin, at, clearly, stands = claimed
    opening = _OPENING.match(data, at)
    if opening is not None:
        at = opening.end()
    is_sure = stands is not None
    found = (_SETTING if is_setting else _BARE).match(data, at, limit)
    if found is None or data[found.end() : found.end() + 1] in _CALL or _OPTION.match(found[0]):
        return None
    if stands is None:
        stands = _bare_stands(data, begin, (at, found.end()))
    if data[begin : begin + 1] == b"-" and _METAVARIABLE.match(found[0]):
        return None
    if stands is Stands.LINE and _CAMEL.search(data, begin, at) and _CLASS.match(found[0]):
        return None
    is_code = not is_sure and _is_code(found[0]) and (stands is Stands.BARE or b"." in found[0])
    if is_code and _CHAIN.search(data, max(0, begin - 120), begin) is None:
        return None
    return _judged(data, (at, _whole_end(data, at, found.end(), clearly)), clearly, stands)


def _whole_end(data: bytes, at: int, end: int, clearly: Says) -> int:
    """Where a password ends that has a sign in it which would end a value in code; nothing but it is left in its line."""
    rest = None
    if clearly is Says.PASSWORD and data[at - 1 : at] in (b" ", b"="):
        rest = _GOES_ON.match(data, end)
    if rest is not None and looks_random(data[at : rest.end()]):
        return rest.end()
    return end


def _bare_stands(data: bytes, begin: int, value: tuple[int, int]) -> Stands:
    """How a value without quotes stands beside the name at `begin`."""
    at, end = value
    if _SAID.search(data, max(0, at - 12), at) or _COMPARED.search(data, max(0, at - 6), at):
        return Stands.BARE
    if data[at - 2 : at] == b"| ":
        return Stands.QUOTED
    is_pair = data[at - 1 : at] == _PAIR_SIGN and data[at - 2 : at - 1].isalnum()
    if is_pair and (end == len(data) or _PAIR_END.match(data, end)):
        return Stands.LINE
    if data[at - 1 : at] in _PAIRS and _is_of_pairs(data, begin, end):
        return Stands.LINE
    if _REST_OF_LINE.match(data, end) and _begins_entry(data, begin):
        return Stands.LINE
    return Stands.BARE


def _is_of_pairs(data: bytes, begin: int, end: int) -> bool:
    """Whether name and value are one of several pairs between braces, as Go and Java print them: `{Host:db Password:x}`."""
    return (
        _PAIR_AFTER.match(data, end) is not None and _PAIR_BEFORE.search(data, max(0, begin - 100), begin) is not None
    )


def _begins_entry(data: bytes, begin: int) -> bool:
    """Whether a name begins its line, or is after that of a user."""
    if _begins_line(data, begin):
        return True
    before = data[max(0, begin - 100) : begin]
    return _holds(before, _USER_WORDS) and _USER_BEFORE.search(before) is not None


def _is_setting(data: bytes, begin: int, at: int) -> bool:
    """Whether it is the line of an environment file, or a variable before a command: `DB_PASSWORD=…`."""
    name = data[begin : at - 1]
    if data[at - 1 : at] != _PAIR_SIGN or name != name.upper():
        return False
    return _begins_line(data, begin) or data[begin - 1 : begin] in _BEFORE_SETTING


def _literal(data: bytes, at: int, limit: int) -> tuple[int, int] | None:
    """From where to where the text of a literal goes that begins at `at`, or after what gives it if a variable is not set."""
    openings = _OPENINGS[data[at : at + 1].isalpha()]
    for before in openings:
        begin = at
        if before is not None:
            found = before.match(data, at, limit)
            if found is None:
                continue
            begin = found.end()
        span = _text(data, begin, limit)
        if span is not None:
            return span
    return None


def _text(data: bytes, at: int, limit: int) -> tuple[int, int] | None:
    if data[at : at + 1] in _LONG_SIGNS:
        long = _LONG_QUOTES.match(data, at, limit)
        if long is not None and long.lastgroup is not None:
            return long.span(long.lastgroup)
    opening = _OPENING.match(data, at)
    if opening is None or opening["three"] is not None:
        return None
    inside = _quoted(opening[1], opening[2]).match(data, opening.end(), limit)
    if inside is None:
        return None
    return inside.span()


def _begins_line(data: bytes, begin: int) -> bool:
    """Whether nothing stands before the name on its line but blanks, a number, the mark of a diff, `export`."""
    before = data[max(0, begin - 32) : begin]
    newline = max(before.rfind(b"\n"), before.rfind(b"\r"), before.rfind(b"\\"))
    if newline >= 0 and before[newline : newline + 2] in (b"\\n", b"\\r", b"\\t") and newline + 2 <= len(before):
        newline += 1
    if newline < 0 and begin > len(before):
        return False
    return _LINE_START.match(before, newline + 1) is not None


def _is_code(value: bytes) -> bool:
    """Whether a value without quotes is a name or an expression: `options?.apiKey`, `OAuth2TokenAuth`."""
    if _EXPRESSION.match(value):
        return True
    if len(value) < 9 or not _NAME.match(value):
        return False
    digits, runs = len(_DIGIT.findall(value)), _SMALL_LETTERS.findall(value)
    return digits * 10 < len(value) and sum(map(len, runs)) > 2.5 * len(runs)


def _judged(data: bytes, where: tuple[int, int], clearly: Says, stands: Stands) -> Assignment | None:
    start, end = where
    value = data[start:end]
    if b" " in value and clearly >= Says.SECRET and is_phrase(value):
        return Assignment(start, end, KIND[clearly])
    if stands is not Stands.QUOTED or value[-1:] in b".:":
        value = value.rstrip(b".:")
    if is_secret(value, clearly, stands):
        return Assignment(start, start + len(value), KIND[clearly])
    return None


@cache
def _quoted(escapes: bytes, quote: bytes) -> re.Pattern[bytes]:
    """What stands between such a quote and the next like it on the same line; deeper escapes belong to the value."""
    depth = len(escapes)
    escaped = rb"\\."
    if depth != 0:
        escaped = rb"\\{%d,}[^\\\r\n]" % (depth + 1)
    inside = rb"(?:[^%s\\\r\n]|%s){1,%d}" % (re.escape(quote), escaped, LONGEST)
    return re.compile(inside + rb"(?=\\{%d}%s)" % (depth, re.escape(quote)))
