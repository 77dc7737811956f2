"""Variables whose names promise a secret, in what a call sends: `curl -d "$API_KEY" HOST`, `https://HOST/?k=$TOKEN`.

Owns where in a text a variable counts as data, and which hosts it is for by its name. Headers and users' names are what
such variables are for. The values are unknown before a call runs, and a shell's reading leaves no name of what is
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tallystick.policy.risks.variables import is_secret_variable

_MOST_TEXT = 64 << 10
_MOST_SENDERS, _MOST_WORDS, _MOST_STAGES = 50, 200, 6
_NAME = r"([A-Za-z_][A-Za-z0-9_]{0,80})"
_SENDER = re.compile(
    r"(?<![^\s;&|(`{\"'])(curl|wget2?|xhs?|https?|curlie|n(?:c|cat|etcat)|socat|telnet|nslookup|dig|host|ping|mailx?|sendmail)\s"
)
_QUOTED = r"\"(?:[^\"\\]|\\.){0,4000}\"?|'[^'\n]{0,4000}'?"
_WORD = re.compile(rf"[ \t]*(<<<)?[ \t]*((?:{_QUOTED}|\\.|[^\s\"'\\;|&<>()`]){{1,200}})", re.DOTALL)
_VARIABLE = re.compile(rf"\$\{{?{_NAME}")
_SET = re.compile(rf"(?<![\w$]){_NAME}=[\"']?\$\{{?{_NAME}")
_LOGIN_OPTION = re.compile(
    r"-[a-zA-Z]{0,8}[ubUEK]|-a|-A|--(?:user|proxy(?:-\w+)?|cookie|oauth2-bearer|aws-sigv4|cert|key|pass|config|"
    r"(?:http-|ftp-)?(?:user|password)|auth(?:-type)?)"
)
_LOGIN_WORD = re.compile(r"-[uU]\S.*|--(?:user|oauth2-bearer|(?:http-|ftp-)?password|auth|cookie)=.*", re.DOTALL)
_DATA_OPTION = re.compile(r"-[a-zA-Z]{0,8}[dF]|--(?:data|form|json|post-data|body-data|url-query)[\w-]{0,20}")
_HEADER = re.compile(r"(?:-H|--header=)?[\"']?([A-Za-z][\w-]{0,60}):(?!//)")
_MEANT = re.compile(r"auth|token|key|secret|cookie|session|pass|signature|cred", re.IGNORECASE)
_OF_USER = re.compile(r"://[^/\s?#]{0,500}@")
_WHOLE = re.compile(r"\"?\$\{?[A-Za-z_][A-Za-z0-9_]{0,80}\}?(?=[/?\":]|\Z)")
_PRINTED = re.compile(r"(?<![\w$./-])(?:echo|printf|print)\s([^\n;|&<>]{1,500})((?:\|[^\n;|&<>]{1,300}){1,6})")
_STAGE = re.compile(r"\|\s*(?:sudo\s+)?([\w.-]{1,40})")
_GETS = (
    r"(?:os\.environ(?:\.get\(|\[)|os\.getenv\(|getenv\(|ENV(?:\.fetch\(|\[)|\$ENV\{|process\.env(?:\.|\[))"
    rf"\s?\\?[\"']?{_NAME}"
)
_IN_CODE = re.compile(
    rf"(?:\b(?:data|json|body|params|files|content)\s?[=:]|://[^\s\"'`]{{3,300}}+[\"'`]\s?[+%])[^,;)\n]{{0,80}}?{_GETS}"
    rf"|://[^\s\"'`]{{3,300}}?\$?\{{{_GETS}"
)
_GENERAL_WORDS = """
api key token access secret bot auth url app my test dev prod ci user password passwd pass db id client private public service
account master webhook credential credentials database signing encryption admin root session the web
"""
_GENERAL = frozenset(_GENERAL_WORDS.split())
_CALLED = {
    "gh": "github",
    "aws": "amazonaws",
    "gcp": "googleapis",
    "hf": "huggingface",
    "npm": "npmjs",
    "do": "digitalocean",
}


def variables_sent(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of variables in what these texts send as data, in an address, or as a name to look up."""
    found: dict[str, None] = {}
    for text in texts:
        text = text[:_MOST_TEXT]
        if "$" in text:
            others = {other: name for other, name in _SET.findall(text) if is_secret_variable(name)}
            for name in (*_by_senders(text), *_by_pipes(text)):
                name = others.get(name, name)
                if is_secret_variable(name):
                    found[name] = None
        if "env" in text.lower():
            names = (next(filter(None, match.groups())) for match in _IN_CODE.finditer(text))
            found.update((name, None) for name in names if is_secret_variable(name))
    return tuple(found)


def is_meant_for(name: str, host: str) -> bool:
    """Whether a variable is for a host by its name: `OPENAI_API_KEY` for `api.openai.com`."""
    labels = host.split(".")
    owner = host
    if len(labels) > 1:
        owner = labels[-2]
    if owner in ("co", "com", "ac", "gov", "org", "net") and len(labels) > 2:
        owner = labels[-3]
    words = (word for word in name.lower().split("_") if len(word) > 1 and word not in _GENERAL)
    return any(
        owner == _CALLED.get(word, word) or (len(word) > 3 and owner.isalpha() and owner.startswith(word))
        for word in words
    )


def _by_senders(text: str) -> Iterator[str]:
    for sender, _ in zip(_SENDER.finditer(text), range(_MOST_SENDERS), strict=False):
        before, at = "", sender.end()
        for _ in range(_MOST_WORDS):
            match = _WORD.match(text, at)
            if match is None:
                break
            at, word = match.end(), match[2]
            yield from _VARIABLE.findall(word if match[1] else _data_of(word, before))
            before = word


def _data_of(word: str, before: str) -> str:
    """What of a word is sent as data: neither what logs in, nor a variable that is the whole address."""
    if word.startswith("'") or _LOGIN_WORD.fullmatch(word) or _LOGIN_OPTION.fullmatch(before):
        return ""
    header = _HEADER.match(word)
    if header is not None and not _DATA_OPTION.fullmatch(before) and _MEANT.search(header[1]):
        return ""
    word = _OF_USER.sub("://", word)
    place = _WHOLE.match(word)
    if place is None or _DATA_OPTION.fullmatch(before):
        return word
    return word[place.end() :]


def _by_pipes(text: str) -> Iterator[str]:
    """What is printed into a program that sends: `echo $TOKEN | base64 | nc HOST 80`."""
    for printed in _PRINTED.finditer(text):
        stages = [match[1] for match, _ in zip(_STAGE.finditer(printed[2]), range(_MOST_STAGES), strict=False)]
        if any(_SENDER.match(f"{stage} ") for stage in stages):
            yield from _VARIABLE.findall(printed[1])
