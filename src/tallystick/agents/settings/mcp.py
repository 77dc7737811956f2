"""MCP servers in an agent's settings: what they are reached or started by, and what that risks.

Owns one view of a server for all agents, the rules on servers, and which package a command line fetches and runs, at a fixed
version or not. Must not know where an agent keeps them; secrets in them
are found by `secret_values`, as everywhere in settings.
"""

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import msgspec

from tallystick.agents.settings import Hit, Where
from tallystick.agents.settings.commands import downloads_and_runs, is_shell, temporary_program
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog import Entry, load
from tallystick.catalog.agents import Base
from tallystick.model.step import Json

_NODE = frozenset(("npx", "bunx", "pnpx"))
_NODE_WITH = {"pnpm": ("dlx", "exec"), "yarn": ("dlx",), "npm": ("exec", "x"), "bun": ("x",)}
_PYTHON = frozenset(("uvx",))
_PYTHON_WITH = {"pipx": ("run",), "uv": ("tool",)}
_VALUED = frozenset(("--registry", "--index-url", "--python", "-c", "--call", "--with", "--index", "--userconfig"))
_NAMING = frozenset(("-p", "--package", "--from", "--spec"))
_EXACT_NODE = re.compile(r".+@v?\d+\.\d+\.\d+[\w.+-]*")
_EXACT_PYTHON = re.compile(r".+(?:===?|@)v?\d+(?:\.\d+)*[\w.+!-]*")
_COMMIT = re.compile(r"[#@][0-9a-f]{7,40}$")
_LOCAL = ("./", "../", "/", "file:", "~/", ".\\")
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


class _Facts(Entry, frozen=True, kw_only=True):
    vendors: tuple[str, ...]
    docker_valued: frozenset[str]


_FACTS = load("mcp_servers", _Facts)
_DOCKER_VALUED = _FACTS.docker_valued
"""Options of `docker run` that take the word after them."""


def unpinned(words: list[str]) -> str | None:
    """The package that a command runs in whatever version there is today; None if it runs none, or a fixed one."""
    words = _unwrapped(words)
    if not words:
        return None
    program = _name(words[0])
    if program in _NODE:
        package, exact = _package(words[1:]), _EXACT_NODE
    elif words[1:2] and words[1] in _NODE_WITH.get(program, ()):
        package, exact = _package(words[2:]), _EXACT_NODE
    elif program in _PYTHON:
        package, exact = _package(words[1:]), _EXACT_PYTHON
    elif words[1:2] and words[1] in _PYTHON_WITH.get(program, ()):
        package, exact = _package(words[3 if program == "uv" else 2 :]), _EXACT_PYTHON
    else:
        return None
    if package is None or package.startswith(_LOCAL) or exact.fullmatch(package) or _COMMIT.search(package):
        return None
    return package


def image(words: list[str]) -> str | None:
    """The image that `docker run` or `podman run` starts; None if it is another command."""
    words = _unwrapped(words)
    if len(words) < 3 or _name(words[0]) not in ("docker", "podman") or words[1] != "run":
        return None
    rest = iter(words[2:])
    for word in rest:
        if word in _DOCKER_VALUED:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def is_fixed_image(name: str) -> bool:
    """Whether an image is named by its digest."""
    return _DIGEST.search(name) is not None


def gives_the_machine(words: list[str]) -> str | None:
    """The option with which a container gets the machine around it: all its rights, its root folder, its Docker socket."""
    for number, word in enumerate(words):
        value = word
        if number + 1 < len(words) and word in ("-v", "--volume", "--mount"):
            value = words[number + 1]
        if word == "--privileged" or word == "--privileged=true":
            return word
        if (
            "docker.sock" in value
            or re.match(r"(?:(?:-v|--volume)=?)?/:", value)
            or re.search(r"\bsource=/(?:,|$)", value)
        ):
            return value
    return None


def _unwrapped(words: list[str]) -> list[str]:
    """Without `cmd /c` and `env NAME=value` before it."""
    if len(words) > 2 and _name(words[0]) == "cmd" and words[1].lower() == "/c":
        return words[2:]
    if words and _name(words[0]) == "env":
        rest = words[1:]
        while rest and "=" in rest[0]:
            rest = rest[1:]
        return rest
    return words


def _name(program: str) -> str:
    return re.split(r"[/\\]", program)[-1].lower().removesuffix(".exe").removesuffix(".cmd")


def _package(words: list[str]) -> str | None:
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if option in _NAMING:
            if equals:
                return value
            return next(rest, None)
        if option in _VALUED:
            if not equals:
                next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


PLAIN_HTTP = rule_named("mcp.plaintext-http")
SHELL = rule_named("mcp.shell-launcher")
DOWNLOADS = rule_named("mcp.download-and-run")
UNPINNED = rule_named("mcp.unpinned-package")
UNPINNED_IMAGE = rule_named("mcp.unpinned-image")
WHOLE_MACHINE = rule_named("mcp.container-has-machine")
APPROVES = rule_named("mcp.auto-approve")
TEMPORARY = rule_named("mcp.temporary-program")
RELATIVE = rule_named("mcp.project-program")
ADDRESS = rule_named("mcp.bare-address")
UNKNOWN_HOST = rule_named("mcp.unknown-host")

_VENDORS = _FACTS.vendors
_MOST_SERVERS = 500


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """One server as an agent's settings have it."""

    where: Where
    words: tuple[str, ...] = ()
    """The command with its arguments."""
    url: str | None = None
    url_key: str = "url"
    approval: tuple[str, str] | None = None
    """The member that approves calls without a question, and its value."""


def servers(document: Document, places: tuple[tuple[str, ...], ...]) -> Iterator[Server]:
    """The servers that are not switched off."""
    found = (item for place in places for item in _members(document.value, place, ()))
    for _, (where, value) in zip(range(_MOST_SERVERS), found, strict=False):
        if isinstance(value, dict) and value.get("disabled") is not True and value.get("enabled") is not False:
            yield _server(where, value)


def look(document: Document, places: tuple[tuple[str, ...], ...]) -> Iterator[Hit]:
    """What is risky about the servers in a settings file."""
    for server in servers(document, places):
        yield from _command(server, document.base)
        if server.url is not None:
            yield from _address(server, server.url)
        if server.approval is not None:
            key, value = server.approval
            yield Hit(rule=APPROVES, where=(*server.where, key), said=value)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host.rstrip(".").lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> tuple[str, str] | None:
    """Scheme and host of an address; None if it has none."""
    try:
        parts = urlsplit(url)
        if parts.hostname:
            return (parts.scheme.lower(), parts.hostname)
        return None
    except ValueError:
        return None


def _members(value: Json, place: tuple[str, ...], where: Where) -> Iterator[tuple[Where, Json]]:
    """The members of the objects to which a place leads."""
    if not isinstance(value, dict):
        return
    if not place:
        yield from (((*where, name), item) for name, item in value.items())
    elif place[0] == "*":
        for name, item in value.items():
            yield from _members(item, place[1:], (*where, name))
    else:
        yield from _members(value.get(place[0]), place[1:], (*where, place[0]))


def _server(where: Where, value: dict[str, Json]) -> Server:
    url_key = next((key for key in ("url", "httpUrl", "serverUrl") if isinstance(value.get(key), str)), "url")
    url = value.get(url_key)
    words = [*_strings(value.get("command")), *_strings(value.get("args"))]
    return Server(
        where=where,
        words=tuple(words),
        url=url if isinstance(url, str) else None,
        url_key=url_key,
        approval=_approval(value),
    )


def _strings(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return []


def _approval(value: dict[str, Json]) -> tuple[str, str] | None:
    if value.get("trust") is True:
        return "trust", "true"
    for key in ("autoApprove", "alwaysAllow"):
        tools = value.get(key)
        if tools is True or (isinstance(tools, list) and tools):
            return key, "true" if tools is True else ", ".join(_strings(tools))
    if value.get("default_tools_approval_mode") == "approve":
        return "default_tools_approval_mode", "approve"
    return None


def _command(server: Server, base: Base) -> Iterator[Hit]:
    words = list(server.words)
    if not words:
        return
    where, line = (*server.where, "command"), " ".join(words)
    if downloads_and_runs(line):
        yield Hit(rule=DOWNLOADS, where=where, said=line)
    elif is_shell(words[0]) and any(word.lower() in ("-c", "-lc", "-command") for word in words[1:3]):
        yield Hit(rule=SHELL, where=where, said=words[0])
    package, container = unpinned(words), image(words)
    if package is not None:
        yield Hit(rule=UNPINNED, where=where, said=package)
    if container is not None and not is_fixed_image(container):
        yield Hit(rule=UNPINNED_IMAGE, where=where, said=container)
    if container is not None and (given := gives_the_machine(words)) is not None:
        yield Hit(rule=WHOLE_MACHINE, where=where, said=given)
    loose = temporary_program(line)
    if loose is not None:
        yield Hit(rule=TEMPORARY, where=where, said=loose)
    elif base is Base.PROJECT and words[0].startswith(("./", "../", ".\\")):
        yield Hit(rule=RELATIVE, where=where, said=words[0])


def _address(server: Server, url: str) -> Iterator[Hit]:
    found = host_of(url)
    if found is None or is_loopback(found[1]):
        return
    scheme, host = found
    where = (*server.where, server.url_key)
    if scheme in ("http", "ws"):
        yield Hit(rule=PLAIN_HTTP, where=where, said=f"{scheme}://{host}")
    if _is_address(host):
        yield Hit(rule=ADDRESS, where=where, said=host)
    elif not any(host == vendor or host.endswith(f".{vendor}") for vendor in _VENDORS):
        yield Hit(rule=UNKNOWN_HOST, where=where, said=host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
