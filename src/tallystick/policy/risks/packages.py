"""Packages that come from somewhere else than a registry: a URL, a repository, an index that no one listed.

Owns which programs install or run packages, and where they are told to take them from. That a package of a public registry
runs code of its authors is not said here: it is daily work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import programs_with, words_of
from tallystick.intent.programs.packages import RUNNERS
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.network.hosts import host_of
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "remote-package": "A package is installed or run from a URL or a repository, not from a registry.",
    "remote-index": "Packages are taken from an index that is neither public nor listed.",
}
_MANAGERS = programs_with("package-manager")
_INDEXES = words_of("pip", "indexes")
_IN_CODE = pattern_of(
    r"""\b(?:install\.packages|install_url|install_git|Pkg\.(?:add|develop)|fetchTarball|fetchGit|fetchurl)
    \s{0,3}[({]?\s{0,3}(?:url\s{0,3}=\s{0,3})?["']?((?:https?|git)://[^"'\s)]{1,300})""",
    re.VERBOSE,
)
"""Code of R, Julia and Nix that takes a package from a URL."""
_INDEX_TAKERS = programs_with("takes-index")
_VARIABLES_NAMES = """
PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS UV_INDEX UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL
NPM_CONFIG_REGISTRY YARN_REGISTRY GOPROXY BUNDLE_MIRROR__ALL CARGO_REGISTRIES_CRATES_IO_INDEX
"""
_VARIABLES = frozenset(_VARIABLES_NAMES.split())


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    fetched = {
        intent.words[0]: intent
        for intent in reading.effects.intents
        if intent.domain is Domain.NETWORK and intent.operation is Operation.FETCH and intent.words
    }
    for started in programs(reading):
        name = started.name
        if name in RUNNERS:
            yield from _run(started, fetched, settings)
        elif name in _MANAGERS:
            yield from _installed(started, fetched, settings)
        is_pip = name.startswith("python") and started.words[:2] == ("-m", "pip")
        if name in _INDEX_TAKERS or is_pip:
            yield from _indexes(started, settings)
        yield from _named(started, settings)
    yield from _named_in_code(reading, settings)
    yield from _by_variables(reading, settings)


def _by_variables(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    for script in reading.scripts:
        for name, value in script.assigned:
            if name in _VARIABLES:
                yield from (risk for part in value.replace("|", ",").split(",") for risk in _index(part, settings))


def _named_in_code(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    texts = [snippet.text for snippet in reading.snippets if snippet.language in ("r", "julia", "other")]
    texts += [started.spelled for started in programs(reading) if started.name.startswith("nix")]
    for text in texts:
        for url in _IN_CODE.findall(text[: 64 << 10])[:20]:
            yield from _package(url, settings)


def _installed(started: Started, fetched: dict[str, Intent], settings: Settings) -> Iterator[Risk]:
    for word in started.given:
        intent = fetched.get(word.plain)
        if intent is None or intent.target.startswith("pkg:") or not (intent.target or word.commands):
            continue  # a variable that nothing here sets is a name, or options: `composer install $FLAGS`
        yield from _package(intent.target, settings)
    for source in _spelled(started):
        if source and source not in fetched:
            yield from _package(source, settings)


def _spelled(started: Started) -> Iterator[str]:
    """Sources that no reader of arguments looks for."""
    if started.name == "rpm":
        if started.has("-i", "-U", "-F", "--install", "--upgrade"):
            yield from (word for word in started.words if "://" in word)
    elif started.operands[:1] and (started.operands[0] in _INSTALLS or started.name == "uv"):
        yield from (word for word in started.words if word.startswith(_SOURCES))
        yield started.value("--git")


_NAMED = Forms("packages")
"""How a call of another program names where packages come from, instead of a risk."""


def _named(started: Started, settings: Settings) -> Iterator[Risk]:
    """`mix archive.install URL`, `terraform init -from-module=git::URL`, `nix run github:owner/name`."""
    match _NAMED.of(started):
        case "index":
            yield Risk("remote-index", started.spelled)
        case "unsigned":
            yield Risk("remote-package", started.spelled)
        case "flake":
            flakes = [word for word in started.operands if word.startswith(_FLAKES)]
            yield from (risk for word in flakes if not _is_official(word) for risk in _package(word, settings))
        case "address" | "module" as how:
            for word in started.words:
                at = word.find("://")
                if at > 0 and (how == "address" or word.startswith(("-from-module", "--from-module"))):
                    url = word[word.rfind("=", 0, at) + 1 :]
                    yield from _package(url.removeprefix("git::").removeprefix("git+"), settings)


def _is_official(flake: str) -> bool:
    return flake.lower().startswith("github:nixos/")


_FLAKES = ("github:", "gitlab:", "sourcehut:", "git+", "http://", "https://", "tarball+")
_INSTALLS = frozenset(("install", "i", "add", "tool", "require", "get"))
_SOURCES = ("git+", "hg+", "github:", "gitlab:", "bitbucket:", "gist:")


def _run(started: Started, fetched: dict[str, Intent], settings: Settings) -> Iterator[Risk]:
    """`npx`, `uvx`: the package is the first operand, or the value of an option; the words after it are its own."""
    words = started.words
    named = [started.value(option) for option in ("-p", "--package", "--from", "--with", "--spec")]
    operands = [word for word in started.operands if word not in named]
    if operands[:1] in (["run"], ["install"]) and started.name == "pipx":
        operands = operands[1:]
    for word in (*named, *operands[:1]):
        intent = None
        if word and word in words:
            intent = fetched.get(word)
        if intent is not None and not intent.target.startswith("pkg:"):
            yield from _package(intent.target, settings)


def _package(target: str, settings: Settings) -> Iterator[Risk]:
    if not host_of(target, settings).kinds & {"registry", "allowed", "local"}:
        yield Risk("remote-package", target[:200])


def _indexes(started: Started, settings: Settings) -> Iterator[Risk]:
    """The options that name an index; also what is set for later: `npm config set registry …`."""
    for option in _INDEXES:
        value = started.value(option)
        if value and ("://" in value or "=" in value):
            yield from _index(value.rpartition("=")[2], settings)
    if started.name in ("conda", "mamba", "micromamba"):
        yield from _index(started.value("-c"), settings)
    words = started.words
    if words[:2] == ("config", "set") and any("registry" in word or "index-url" in word for word in words):
        for word in words[2:]:
            if "://" in word:
                yield from _index(word.rpartition("=")[2], settings)


_WITH_NAME = pattern_of(r"\A[\w.-]{1,100}=(?=[a-z+]{1,20}://)")
"""`UV_INDEX=pytorch=https://…`: an index with a name."""


def _index(value: str, settings: Settings) -> Iterator[Risk]:
    value = _WITH_NAME.sub("", value.strip())
    if "://" not in value or value.startswith("file:"):
        return
    if not host_of(value, settings).kinds & {"registry", "allowed", "local"}:
        yield Risk("remote-index", value[:200])
