"""What comes from elsewhere and runs in the same call, seen by how data flows.

Owns the way from a host to an interpreter: through pipes, substitutions and variables, through files that are made and run,
and inside of code. Packages are `packages`, shells that are opened to elsewhere `reverse_shells`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from tallystick.catalog.languages import LANGUAGES
from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import Reading
from tallystick.intent.programs.network import ssh_line
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import read_effects
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.script import Command, Role, Word
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.network.hosts import host_of
from tallystick.policy.risks.concealed import (
    fetches,
    powershell_text,
    runs_a_text,
    runs_its_input,
    runs_what_it_fetched,
    url_that_runs,
)
from tallystick.policy.risks.programs import Started, called, inner_texts, name_of, own_scripts, programs
from tallystick.policy.risks.quoted_text import without_talk
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "remote-code": "What a host sends runs at once, before anybody can look at it.",
    "trusted-code": "The same, from this machine or from a host that the user listed.",
    "remote-tree": "Something that was cloned or unpacked from a host in this call runs in it.",
    "remote-text": "What a host sends becomes a part of a text that is run.",
    "remote-manifest": "A cluster is told to run what a host sends.",
    "remote-elsewhere": "On another machine, what a host sends runs at once.",
}
_SOURCES = frozenset({Operation.FETCH, Operation.CONNECT, Operation.LISTEN})
_WRITES = frozenset({Operation.WRITE, Operation.APPEND, Operation.COPY_DEST, Operation.EDIT, Operation.CREATE})
_URL_RUNNERS = programs_with("runs-url")
_SSH = programs_with("remote-shell")
_HINTS = ("curl", "wget", "fetch", "http", "nc ", "python", "perl")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    effects = reading.effects
    intents = effects.intents
    if any(intent.domain is Domain.NETWORK for intent in intents):
        yield from _flowing(effects, settings)
        yield from _of_files(effects, settings)
        yield from _by_made_names(reading, settings)
        yield from _to_a_shell_elsewhere(reading, settings)
    yield from _in_code(reading, settings)
    for started in programs(reading):
        if started.name in _URL_RUNNERS:
            yield from _by_url(started, settings)
        elif started.name in _SSH:
            yield from _elsewhere(started, settings)
    for text in inner_texts(reading):
        yield from _of_text(text, settings)


def _of_host(name: str, target: str, settings: Settings) -> Iterator[Risk]:
    """A risk, by the host that sends: none for a registry of packages, nor for something that comes from no host."""
    kinds = host_of(target, settings).kinds
    if target.startswith("pkg:") or (name == "remote-tree" and "bare" in kinds):  # what the user's own remote has
        return
    if name == "remote-code" and kinds & {"local", "allowed"}:
        name = "trusted-code"
    elif kinds & {"local", "allowed"} or (name == "remote-manifest" and "registry" in kinds):
        return
    yield Risk(name, target[:200])


# Flows ----------------------------------------------------------------------------------------------------------------


def _flowing(effects: Effects, settings: Settings) -> Iterator[Risk]:
    """What a host sends reaches an interpreter as a text."""
    intents = effects.intents
    for flow in effects.flows:
        source, target = intents[flow.source], intents[flow.target]
        if source.domain is not Domain.NETWORK or source.operation not in _SOURCES:
            continue
        if target.domain is Domain.UNKNOWN:
            is_part = target.target.startswith("eval:") and not _is_all(target)
            yield from _of_host("remote-text" if is_part else "remote-code", source.target, settings)
        elif target.operation is Operation.EXECUTE:
            yield from _of_host("remote-code", source.target, settings)
        elif _is_manifest(source, target):
            yield from _of_host("remote-manifest", source.target, settings)


def _is_manifest(source: Intent, target: Intent) -> bool:
    """Whether a file from the web goes to a cluster; charts of a registry are packages."""
    is_web = source.target.startswith(("http://", "https://"))
    return is_web and target.operation is Operation.SEND and target.target.startswith("kubernetes:")


def _is_all(intent: Intent) -> bool:
    """Whether a text that is run is all unknown: `sh -c "$(…)"`, and not `sh -c "echo $(…)"`."""
    return any(not word.strip() for word in intent.words[1:])


# Files ----------------------------------------------------------------------------------------------------------------


def _of_files(effects: Effects, settings: Settings) -> Iterator[Risk]:
    """What a host sends is kept in a file, or unpacked into a folder, that runs afterwards."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    into: dict[int, list[int]] = {}
    flowing: set[int] = set()
    for flow in effects.flows:
        into.setdefault(flow.target, []).append(flow.source)
        flowing.add(flow.source)
    loose: dict[int, str] = {}
    """By command: the host that its code asks, where it is unknown what becomes of the answer."""
    for at, intent in enumerate(effects.intents):
        if intent.domain is Domain.NETWORK and intent.operation in _SOURCES and at not in flowing:
            loose[intent.command] = intent.target
        if intent.domain is Domain.UNKNOWN:
            yield from _read_and_run(intent, [effects.intents[n] for n in into.get(at, ())], files, settings)
        if intent.domain is not Domain.FILE:
            continue
        if intent.operation in _WRITES:
            origin = _origin(intent, [effects.intents[n] for n in into.get(at, ())], files, folders)
            if origin is None and intent.content is None and not intent.is_authored and at not in into:
                origin = loose.get(intent.command)
            if origin is not None:
                (folders if intent.is_deep else files)[intent.target] = origin
        elif intent.operation is Operation.EXECUTE:
            yield from _executed(intent, effects.intents, files, folders, settings)


def _origin(intent: Intent, sources: Iterable[Intent], files: dict[str, str], folders: dict[str, str]) -> str | None:
    """The host that what is written comes from."""
    for source in sources:
        if source.domain is Domain.NETWORK and source.operation in _SOURCES:
            return source.target
        if source.domain is Domain.FILE:
            found = files.get(source.target) or _above(source.target, folders)
            if found is not None:
                return found
    return None


def _executed(
    intent: Intent, intents: tuple[Intent, ...], files: dict[str, str], folders: dict[str, str], settings: Settings
) -> Iterator[Risk]:
    name, origin = "remote-code", files.get(intent.target)
    if origin is None:
        name, origin = "remote-tree", _above(intent.target, folders)
        # What was there before was read: only what is new is unknown.
        if not any(other.domain is Domain.UNKNOWN and other.command == intent.command for other in intents):
            return
    if origin is not None:
        for risk in _of_host(name, origin, settings):
            yield Risk(risk.name, f"{intent.target} from {risk.target}"[:200])


def _read_and_run(
    intent: Intent, sources: Iterable[Intent], files: dict[str, str], settings: Settings
) -> Iterator[Risk]:
    """`eval "$(cat FILE)"` of a file that came from a host."""
    for source in sources:
        is_part = intent.target.startswith("eval:") and not _is_all(intent)
        if source.domain is Domain.FILE and source.target in files:
            yield from _of_host("remote-text" if is_part else "remote-code", files[source.target], settings)


def _by_made_names(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """`T=$(mktemp); curl … -o $T; sh $T`: the file has no name that is known, but the same command made it."""
    asked = {
        intent.command: intent.target
        for intent in reading.effects.intents
        if intent.domain is Domain.NETWORK and intent.operation in _SOURCES
    }
    for script in own_scripts(reading):
        kept: dict[int, str] = {}
        for at, command in enumerate(script.commands):
            origin = next((kept[n] for word in _run_words(command) for n in word.commands if n in kept), None)
            if origin is not None:
                yield from _of_host("remote-code", origin, settings)
            if at in asked:
                words = [*command.words, *(redirect.target for redirect in command.redirects)]
                holes = [word for word in words if not word.is_known and not word.plain.strip()]
                kept |= {n: asked[at] for word in holes for n in word.commands}


def _run_words(command: Command) -> tuple[Word, ...]:
    """The words that may name what a command runs."""
    if command.role is Role.UNTOLD:
        if command.reason == "pipe":
            return command.spelled
        return ()
    if not command.words or not command.words[0].is_known:
        return command.words[:1]
    if called(command) in _RUNS_FILES:
        return command.words[1:]
    return ()


_RUNS_FILES = programs_with("runs-files")


def _above(path: str, folders: dict[str, str]) -> str | None:
    for folder, origin in folders.items():
        if path == folder or path.startswith(folder.rstrip("/") + "/"):
            return origin
    return None


# Code -----------------------------------------------------------------------------------------------------------------


def _in_code(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """Code that fetches a text and runs it."""
    asked = [
        intent.target
        for intent in reading.effects.intents
        if intent.domain is Domain.NETWORK and intent.operation in _SOURCES and not intent.target.startswith("pkg:")
    ]
    for snippet in reading.snippets:
        text = without_talk(snippet.text) if snippet.language == "powershell" else snippet.text
        yield from _of_code(snippet.language, text, asked, settings)
    for started in programs(reading):
        if started.name in ("powershell", "pwsh"):
            yield from _of_code(
                "powershell", _encoded(started) or without_talk(" ".join(started.words)), asked, settings
            )


def _of_code(language: str, text: str, asked: list[str], settings: Settings) -> Iterator[Risk]:
    url = url_that_runs(text)
    if url is not None and "registry" not in host_of(url, settings).kinds:
        hosts = [url]
    else:
        hosts = asked or ([""] if language not in LANGUAGES.understood and fetches(text) else [])
        if not hosts or not (runs_a_text(language, text) or runs_its_input(text) or runs_what_it_fetched(text)):
            return
    found = [risk for host in hosts for risk in _of_host("remote-code", host, settings)]
    yield from sorted(found, key=lambda risk: risk.name)[:1]  # of code from this machine and from another, the latter


def _encoded(started: Started) -> str | None:
    """What PowerShell's `-EncodedCommand`, which may be cut short, holds."""
    words = started.words
    for word, value in pairwise(words):
        option = word.lower().lstrip("-/")
        if word[:1] in "-/" and len(option) > 0 and ("encodedcommand".startswith(option) or option == "ec"):
            return powershell_text(value)
    return None


# Programs -------------------------------------------------------------------------------------------------------------


def _by_url(started: Started, settings: Settings) -> Iterator[Risk]:
    """Programs that run what a URL names."""
    words = started.words
    if started.name in ("deno", "bun"):
        verb = started.operands[0] if started.operands else ""
        if verb not in ("run", "x", "eval", "test", "bench", "serve", "install", "compile") and "://" not in verb:
            return
        words = next(((word,) for word in started.operands if "://" in word), ())
    for word in words:
        at = word.lower().find("http")
        is_url = at >= 0 and "://" in word[at : at + 8]
        if is_url and "registry" not in host_of(word[at:], settings).kinds:
            yield from _of_host("remote-code", word[at:], settings)


def _elsewhere(started: Started, settings: Settings) -> Iterator[Risk]:
    """`ssh HOST 'curl … | sh'`: the text is another machine's, but it is read as one of this."""
    text = " ".join(word.plain for word in ssh_line(started.given).operands[1:])
    for risk in _of_text(text, settings):
        yield Risk("remote-elsewhere", risk.target)


def _to_a_shell_elsewhere(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """`curl … | ssh HOST sh`: what a host sends goes to a shell on another machine."""
    intents = reading.effects.intents
    for flow in reading.effects.flows:
        source, target = intents[flow.source], intents[flow.target]
        if source.operation is not Operation.FETCH or target.operation is not Operation.CONNECT:
            continue
        for script in own_scripts(reading):
            for command in script.commands[target.command : target.command + 1]:
                given = ssh_line(command.words[1:]).operands[1:] if called(command) in _SSH else []
                if given and name_of(given[0].plain) in _FED_SHELLS and _is_fed(given[1:]):
                    yield from _of_host("remote-elsewhere", source.target, settings)


_FED_SHELLS = programs_with("runs-input")


def _is_fed(words: Iterable[Word]) -> bool:
    """Whether a shell with these words takes its commands from its input."""
    return all(word.plain in ("-", "-s", "--", "-x", "-e", "sh", "bash") for word in words)


def _of_text(text: str, settings: Settings) -> Iterator[Risk]:
    """What a text would fetch and run if a shell ran it: at most one risk."""
    if not any(hint in text for hint in _HINTS):
        return
    found: Reading = read_effects(text, Environment(variables={"HOME": "/root"}, folder="/root"))
    for risk in (*_flowing(found.effects, settings), *_of_files(found.effects, settings)):
        if risk.name in ("remote-code", "remote-tree"):
            yield Risk("remote-code", risk.target)
            return
