"""What a URL or host is: the machine itself, a cloud's metadata service, a package registry.

Owns reading a host in every spelling that some program takes for it (numbers as addresses: fewer than four parts, octal
and hexadecimal ones, IPv4 in IPv6, addresses that are in a name), the hosts that are known by their names, and the
kinds of hosts. Nothing is resolved: a name that leads elsewhere is taken at its word, unless the address is in it.
Sources: inet_aton(3); RFC 4291, 6052 and 3056; the WHATWG URL Standard, "Host parsing"; the clouds' own documents on
instance metadata; the manuals of the package managers for their default registries.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterator, Set
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote

import msgspec

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.policy.network.misread import is_misread
from tallystick.policy.settings import Settings

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_LONGEST_ADDRESS = 300
_NUMBER = pattern_of(r"0[xX][0-9a-fA-F]*|\d+")
_DOTS = pattern_of("[\u3002\uff0e\uff61]")
_UNSEEN = pattern_of("[\u00ad\u200b-\u200f\u2060\ufeff\u180e\u034f\ufe00-\ufe0f\t\r\n]")
_IN_NAME = pattern_of(
    r"(?<![0-9a-z])(?:(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})|(?:0x)?([0-9a-f]{8}))(?![0-9a-z])"
)
_ALL_BITS = (1 << 32) - 1


def clear(host: str) -> str:
    """A host as programs compare it: small letters, its escapes, wide digits and unseen characters resolved."""
    text = host[:_LONGEST_ADDRESS]
    for _ in range(2):  # what a proxy decodes once, the program behind it decodes again
        if "%" in text:
            text = unquote(text, errors="replace")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _DOTS.sub(".", text))
    return _UNSEEN.sub("", text).lower().strip(" \"'").rstrip(".")


def addresses_of(host: str) -> tuple[Address, ...]:
    """The addresses that a host, made clear, is taken for; several where programs differ, none if it is a name."""
    text = host.strip("[]").partition("%")[0]
    if ":" in text:
        spellings = (text, text.rpartition(":")[0])  # the last part may be a port
        return tuple(found for spelling in spellings if (found := _version_6(spelling)) is not None)
    parts = text.split(".")
    if len(parts) > 4 or not all(part and _NUMBER.fullmatch(part) for part in parts):
        return ()
    readings = {_joined([_number(part, octal=octal) for part in parts]) for octal in (True, False)}
    return tuple(ipaddress.IPv4Address(value) for value in sorted(readings))


def addresses_in(name: str) -> Iterator[ipaddress.IPv4Address]:
    """The addresses that are in a name, as in `10-0-0-1.example.org`: there are name servers that answer with those."""
    for found in _IN_NAME.finditer(name[:_LONGEST_ADDRESS]):
        if found[5]:
            yield ipaddress.IPv4Address(int(found[5], 16))
        elif all(int(part) < 256 for part in found.groups()[:4]):
            yield ipaddress.IPv4Address(".".join(str(int(part)) for part in found.groups()[:4]))


def inner(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an address is, or that is in the end of it: mapped, translated, tunnelled."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.sixtofour is not None:
        return address.sixtofour
    return ipaddress.IPv4Address(int(address) & _ALL_BITS)


def is_mapped(address: Address) -> bool:
    """Whether an IPv6 address is nothing but another spelling of an IPv4 address."""
    return isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped is not None or address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1)
    )


_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def _version_6(text: str) -> ipaddress.IPv6Address | None:
    try:
        return ipaddress.IPv6Address(text)
    except ValueError:
        return None


def _number(part: str, *, octal: bool) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    if octal and part[0] == "0" and not {"8", "9"} & set(part):
        return int(part, 8)
    return int(part[:40])


def _joined(numbers: list[int]) -> int:
    """Numbers as one address: the last fills what is left. What is too large loses its upper bits, as in some programs."""
    value = 0
    for number in numbers[:-1]:
        value = value << 8 | number & 0xFF
    bits = 8 * (5 - len(numbers))
    return (value << bits | numbers[-1] & ((1 << bits) - 1)) & _ALL_BITS


class _Facts(Entry, frozen=True):
    """Facts of catalog/host_names.toml."""

    metadata_names: frozenset[str]
    registries: frozenset[str]
    pastes: frozenset[str]


_FACTS = load("host_names", _Facts)
METADATA_NAMES = _FACTS.metadata_names
REGISTRIES = _FACTS.registries
PASTES = _FACTS.pastes


def is_below(host: str, names: Set[str]) -> bool:
    """Whether a host is one of some names, or below one."""
    if not names or not host:
        return False
    while True:
        if host in names:
            return True
        host = host.partition(".")[2]
        if not host:
            return False


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A host that a call talks to."""

    host: str
    """Lower-case, without port; an address in its usual form."""
    port: int = 0
    """0: not told."""
    scheme: str = ""
    kinds: frozenset[str] = frozenset()
    carries: frozenset[str] = frozenset()
    """What goes there as far as the call tells: `secret`, `sensitive`, `personal`, … (`egress.CARRIES`)."""
    payload: str = ""
    """After a secret was read, whether all that goes there is known: `known`, `unknown`."""
    is_own: bool = False
    """It is the user's or the project's; not asked where what goes there is known."""
    is_approved: bool = False
    """The user let data go there, when asked."""
    evidence: tuple[str, ...] = ()
    """Where what goes there comes from. Policies do not see it."""


KINDS: dict[str, str] = {
    "metadata": "A cloud's metadata service, which gives the machine's own credentials to whoever asks from it.",
    "metadata-name": "A name that some clouds give to that service, and others to something else.",
    "link-local": "An address of the link that the machine is on: 169.254.0.0/16, fe80::/10.",
    "local": "This machine.",
    "private": "An address or name of a private network.",
    "bare": "A name without a dot: a machine near by, a git remote, a bucket.",
    "registry": "A package registry: a public one, or one of the user's settings.",
    "allowed": "One of the hosts that the user listed, or below one.",
    "paste": "A service that keeps or passes on what anybody sends: paste bins, file drops, request bins, tunnels.",
    "service": "No host: a search engine, the server of a tool, a message.",
    "untold": "Which host it is, the call does not tell.",
    "disguised": "People read its address as that of another host.",
    "carries-data": "Its name carries data: a long part made by chance, or one that another program prints.",
}
"""Every kind of host and what it means."""

_LONGEST = 300
_PACKAGE = pattern_of(r"pkg:([a-z0-9.+-]{1,30})(?:/|\Z)")
_SERVICES = ("websearch:", "message:", "mcp://", "kubernetes://", "docker-daemon:")
_SCHEME = pattern_of(r"(?:[a-z0-9.-]{1,20}\+)?([a-z][a-z0-9.-]{0,20})(?:\+[a-z]{1,10})?:[/\\]+")
_WEB = pattern_of(r"(https?|ftps?|wss?):[/\\]*")
_PORT = pattern_of(r"(.*?):(\d{0,5})")
_GLOBBED = pattern_of(r"\{([^{}]{1,100})\}|\[(\w{1,10})-(\w{1,10})(?::\d{1,5})?\]")
_MOST_GLOBBED = 300
_METADATA_ADDRESSES = """
169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 100.100.100.200 168.63.129.16 192.0.0.192 169.254.0.23
169.254.10.10 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fd00:a9fe:a9fe::1 fe80::a9fe:a9fe
"""
_METADATA = frozenset(map(ipaddress.ip_address, _METADATA_ADDRESSES.split()))
"""AWS, GCP, Azure, Oracle, DigitalOcean and most others; AWS containers; Scaleway; Alibaba; Azure's wire server; Tencent."""


def host_of(target: str, settings: Settings) -> HostFacts:
    """The host of a URL, `host:port`, or a name."""
    return _host_of(target[: 4 * _LONGEST], settings.hosts, settings.registries)


@lru_cache(maxsize=2048)
def _host_of(target: str, allowed: tuple[str, ...], registries: tuple[str, ...]) -> HostFacts:
    scheme, host, port, others = _taken_apart(target)
    if scheme in ("pkg", "service"):
        return HostFacts(host=host, scheme=scheme, kinds=frozenset(("registry" if scheme == "pkg" else "service",)))
    found = _address(host)
    name = host
    if found is not None:
        name = _shown(found)
    kinds = set(_kinds(host, name, allowed, registries))
    if "metadata" not in kinds and any("metadata" in _metadata(other) for other in others):
        kinds.add("metadata")
    if _carries_data(host):
        kinds.add("carries-data")
    if is_misread(target, host):
        kinds.add("disguised")
    return HostFacts(host=name[:_LONGEST], port=port, scheme=scheme, kinds=frozenset(kinds))


# Taking a target apart ------------------------------------------------------------------------------------------------


def _taken_apart(target: str) -> tuple[str, str, int, tuple[str, ...]]:
    """Scheme, host and port of a target; and what other programs would take for the host."""
    text = target.strip()
    lower = text[:40].lower()
    package = _PACKAGE.match(lower)
    if package is not None:
        return "pkg", f"pkg:{package[1]}", 0, ()
    for service in _SERVICES:
        if lower.startswith(service):
            return "service", text.partition("?")[0][:_LONGEST], 0, ()
    if lower.startswith("mailto:"):
        return "mailto", clear(text.rpartition("@")[2]), 0, ()
    begin = _WEB.match(lower) or _SCHEME.match(lower)
    scheme = ""
    rest = text
    if begin is not None:
        scheme = begin[1]
        rest = text[begin.end() :]
    if (
        begin is not None
        and begin[0].endswith("///")
        and not addresses_of(clear(re.split(r"[/?#:]", rest, maxsplit=1)[0]))
    ):
        return scheme, "", 0, ()  # what stood there is unknown
    authority = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    host, port = _host_and_port(authority.rpartition("@")[2], is_url=bool(scheme))
    others: tuple[str, ...] = ()
    if (
        "@" in authority or "\\" in rest or "#" in rest[: len(authority) + 1]
    ):  # programs do not agree where the host begins
        others = tuple(
            clear(_host_and_port(part, is_url=True)[0]) for part in re.split(r"[@\\#/?]", rest[:_LONGEST])[:8]
        )
    if clear(host) != host.lower():
        others = (*others, host[:_LONGEST_ADDRESS].lower())  # a program that takes every character for one of the name
    return scheme, clear(host), port, others


def _host_and_port(text: str, *, is_url: bool) -> tuple[str, int]:
    if text.startswith("["):
        host, _, port = text.partition("]")
        return f"{host}]", _as_port(port.lstrip(":"))
    found = _PORT.fullmatch(text)
    if found is not None and ":" not in found[1]:
        return found[1], _as_port(found[2])
    if text.count(":") == 1 and not is_url:  # `git@host:path`
        return text.partition(":")[0], 0
    return text, 0


def _as_port(text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) < 6:
        return int(text)
    return 0


# Kinds ----------------------------------------------------------------------------------------------------------------


def _address(host: str) -> Address | None:
    found = addresses_of(host)
    if found:
        return found[-1 if len(found) == 1 else _first(found)]
    return None


def _first(found: tuple[Address, ...]) -> int:
    """Of several readings the one that matters: that of a metadata service, else the smallest."""
    return next((at for at, each in enumerate(found) if _is_metadata(each)), 0)


def _shown(address: Address) -> str:
    if is_mapped(address):
        return str(inner(address))
    return str(address)


def _is_metadata(address: Address) -> bool:
    return address in _METADATA or inner(address) in _METADATA


def _kinds(host: str, name: str, allowed: tuple[str, ...], registries: tuple[str, ...]) -> Iterator[str]:
    if not host or ".." in host or host.startswith("."):
        yield "untold"
    if name.startswith("169.254.") and not re.search(r"[a-z]", name):
        yield "link-local"
    yield from _metadata(host)
    if is_below(name, _listed(allowed)):
        yield "allowed"
    address = _address(host)
    if address is not None:
        yield from _of_address(address)
        return
    if is_below(host, REGISTRIES) or is_below(host, _listed(registries)):
        yield "registry"
    if is_below(host, PASTES):
        yield "paste"
    if host == "localhost" or host.endswith((".localhost", ".localdomain")) or host in _LOCAL_NAMES:
        yield "local"
    elif host and "." not in host and ":" not in host:
        yield "bare"
    elif host.endswith(_PRIVATE_ENDS):
        yield "private"


@lru_cache(maxsize=16)
def _listed(hosts: tuple[str, ...]) -> frozenset[str]:
    """Hosts of the user's settings: also as URLs, and with `*.` for what is below."""
    return frozenset(_taken_apart(each.strip().removeprefix("*."))[1] for each in hosts)


def _carries_data(host: str) -> bool:
    """Whether a name is as long and as random as data, or begins with what another program prints."""
    return (host.startswith(".") and host.count(".") > 1) or any(map(_DATA.fullmatch, host.split(".")))


_DATA = pattern_of(r"(?=[a-z_-]*\d)(?=[\d_-]*[a-z])[a-z\d_]{32,63}")
"""A part of a name that holds 20 bytes or more in base 16 or 32; what people and clouds choose has words or dashes."""
_LOCAL_NAMES = frozenset(("ip6-localhost", "ip6-loopback", "host.docker.internal", "host.containers.internal"))
_PRIVATE_ENDS = (".local", ".lan", ".internal", ".intranet", ".home.arpa", ".corp", ".home", ".private", ".test")


def _metadata(host: str) -> Iterator[str]:
    """Whether a host is a metadata service, by address, by name, or by an address in the name or the pattern."""
    if "{" in host or "[" in host[1:] or (host.startswith("[") and "-" in host):
        host = next((each for each in _globbed(host) if any(map(_is_metadata, addresses_of(each)))), host)
    if (
        any(map(_is_metadata, addresses_of(host)))
        or is_below(host, METADATA_NAMES)
        or any(map(_is_metadata, addresses_in(host)))
    ):
        yield "metadata"
    elif host == "metadata" or (
        host.startswith(("metadata.", "instance-data.", "imds.")) and host.endswith(_PRIVATE_ENDS)
    ):
        yield "metadata-name"


def _globbed(host: str) -> list[str]:
    """The hosts that curl makes of `{a,b}` and `[1-9]`, as far as they are few."""
    found = [""]
    at = 0
    for mark in _GLOBBED.finditer(host):
        if mark[1]:
            texts = mark[1].split(",")
        else:
            texts = _range(mark[2], mark[3])
        if len(texts) * len(found) > _MOST_GLOBBED:
            return []
        found = [f"{before}{host[at : mark.start()]}{text}" for before in found for text in texts]
        at = mark.end()
    return [f"{before}{host[at:]}" for before in found]


def _range(first: str, last: str) -> list[str]:
    if first.isdecimal() and last.isdecimal() and int(first) <= int(last) < int(first) + _MOST_GLOBBED:
        return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return [first, last]


def _of_address(address: Address) -> Iterator[str]:
    told = inner(address) if is_mapped(address) else address
    if told is None:
        return
    if told.is_loopback or told.is_unspecified:
        yield "local"
    elif told.is_link_local:
        yield "link-local"
    elif told.is_private:
        yield "private"
