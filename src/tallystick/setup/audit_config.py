"""An audit of the settings of the agents on this machine: what they let agents do.

Owns which files are looked at for whom, and putting findings together. Nothing is started and nothing is written. Must
not know any agent's keys: `agents.settings` does. What is found is reported without secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

import msgspec

from tallystick.agents.hooks import SettingsFile, hook_adapter
from tallystick.agents.hooks.switches import switched_off
from tallystick.agents.settings import (
    Confidence,
    Hit,
    Rule,
    SettingsAdapter,
    Severity,
    audit,
    settings_adapters,
    skills,
)
from tallystick.agents.settings.audit import key_text, settings_hits, text_hits
from tallystick.agents.settings.commands import files_in
from tallystick.agents.settings.hooks import commands
from tallystick.agents.settings.parsed import Document, bad_line, parse
from tallystick.agents.settings.secret_values import IN_SERVER, IN_SETTINGS, REDACTED
from tallystick.capture.agent_files import named_folder, path_of
from tallystick.capture.audit_files import AuditedFile, files_below, linked_folder, others_may_change, read_file
from tallystick.capture.surroundings import Surroundings
from tallystick.catalog.agents import AGENTS, Base, Kind, Place
from tallystick.errors import FormatError, UsageError
from tallystick.model.did_you_mean import nearest
from tallystick.model.step import Json
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import scrub_text
from tallystick.scrubbing.json_values import scrub_json
from tallystick.scrubbing.markers import CLOSE, OPEN
from tallystick.setup.agents import TRACES, find_agent

ENVIRONMENT = "environment"
"""Stands for the file where a variable of the environment is meant."""
_MOST_SAID = 200
_MOST_TEXT = 20_000
_MARKER = re.compile(f"{OPEN}[a-z0-9-]{{1,40}}{CLOSE}")
_YES = ("1", "true", "yes", "on")

ALWAYS_UNSEEN = (
    "each file is judged alone: overrides by other files are not resolved",
    "command-line options of an agent, and variables of the shell that starts it, are not seen",
    "text rules match words, not meaning: other words evade them, quotations trigger them",
)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A risk, where it is and what to do about it."""

    rule: str
    severity: Severity
    confidence: Confidence
    agents: tuple[str, ...]
    """Those that read the file."""
    file: str
    line: int | None = None
    key: str | None = None
    found: str = ""
    """What stands there, without secrets, up to 200 characters."""
    means: str
    remedy: str


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is there."""

    path: str
    agents: tuple[str, ...]
    base: Base
    kind: Kind
    sha256: str | None = None
    problem: str | None = None
    """Why it was not read."""


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """All that an audit says."""

    agents: tuple[str, ...]
    findings: tuple[Finding, ...]
    """The worst first."""
    sources: tuple[Source, ...]
    limitations: tuple[str, ...]

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding is as bad as that, or worse."""
        return any(finding.severity.rank >= severity.rank for finding in self.findings)


class _Wanted(msgspec.Struct):
    """A file to look at: for the first agent that names it, and for all that read it."""

    path: Path
    folder: Path
    place: Place
    agents: list[str]


def audit_config(names: tuple[str, ...], where: Surroundings, *, root: Path) -> Audit:
    """Look at the settings of some agents, or of all that are on this machine.

    Args:
        names: the agents; none: those that are found.
        where: the user's home folder and the environment, and a project to look at too.
        root: below which administrators' settings are.

    Raises: UsageError: no settings are known for an agent that is named.
    """
    adapters = settings_adapters()
    for name in names:
        if name not in adapters:
            raise UsageError(
                f"no settings are known for {name!r}{nearest(name, adapters)}",
                hint="one of: " + ", ".join(adapters),
            )
    present = {name for name in TRACES if find_agent(name, where).is_found}
    chosen = {name: adapter for name, adapter in adapters.items() if (name in names if names else name in present)}
    look = _Look(chosen, where)
    for wanted in _wanted(chosen, where, root, look.limits):
        look.at(wanted)
    look.at_names()
    for name in chosen:
        look.at_environment(name)
        if name in present:
            look.at_our_hook(name)
    if names:
        unknown = []
    else:
        unknown = sorted(present - set(adapters))
    return Audit(
        agents=tuple(chosen),
        findings=tuple(sorted(look.findings, key=_order)),
        sources=tuple(look.sources),
        limitations=tuple(dict.fromkeys((*_limitations(chosen, present, unknown), *look.limits))),
    )


def _order(finding: Finding) -> tuple[int, str, int, str]:
    return -finding.severity.rank, finding.file, finding.line or 0, finding.rule


def _limitations(chosen: dict[str, SettingsAdapter], present: set[str], unknown: list[str]) -> Iterator[str]:
    yield from ALWAYS_UNSEEN
    for name in chosen:
        yield from (f"{name}: not seen: {unseen}" for unseen in AGENTS[name].settings.unseen)
        if name not in present:
            yield f"{name}: not found on this machine, by its program and its folder"
    if unknown:
        yield f"no settings are known for {', '.join(unknown)}"


# Files ----------------------------------------------------------------------------------------------------------------


def _wanted(
    chosen: dict[str, SettingsAdapter], where: Surroundings, root: Path, limits: list[str]
) -> Iterable[_Wanted]:
    """The files to look at, each once. Settings belong to one agent; a text may be read by several."""
    found: dict[tuple[Path, Kind], _Wanted] = {}
    for name in chosen:
        for place in AGENTS[name].files:
            for path, folder in _paths(place, where, root, limits):
                wanted = found.setdefault((path, place.kind), _Wanted(path, folder, place, []))
                if name not in wanted.agents:
                    wanted.agents.append(name)
    return found.values()


def _paths(place: Place, where: Surroundings, root: Path, limits: list[str]) -> Iterator[tuple[Path, Path]]:
    """The files of a place, each with the folder below which no folder may be a link."""
    found = path_of(place, where, root)
    if found is None:
        return
    path, base = found
    if not place.endings:
        yield path, base
        return
    if (link := linked_folder(path, base)) is not None:
        limits.append(f"{_path_text(link)}: the folder is a link and was not followed")
        return
    below = files_below(path, place.endings)
    if not below.is_whole:
        limits.append(f"{_path_text(path)}: too many files, only the first were read")
    yield from ((each, base) for each in below.paths)


class _Look:
    """What has been seen so far."""

    def __init__(self, adapters: dict[str, SettingsAdapter], where: Surroundings) -> None:
        self.adapters = adapters
        self.where = where
        self.findings: list[Finding] = []
        self.sources: list[Source] = []
        self.limits: list[str] = []
        self.names: list[tuple[str, str]] = []
        self.name_readers: dict[str, tuple[str, ...]] = {}

    def at(self, wanted: _Wanted) -> None:
        """One file, if it is there."""
        file = read_file(wanted.path, wanted.folder)
        if file is None:
            return
        agents = tuple(wanted.agents)
        self.sources.append(
            Source(
                path=_path_text(file.path),
                agents=agents,
                base=wanted.place.base,
                kind=wanted.place.kind,
                sha256=file.sha256,
                problem=None if file.problem is None else _clean(file.problem),
            )
        )
        if file.data is not None:
            hits = list(self._hits(wanted, file))
        else:
            hits = []
        seen = set()
        for hit in [*_file_hits(file, hits), *hits]:
            finding = _finding(hit, agents, _path_text(file.path))
            if (finding.rule, finding.key, finding.line) not in seen:
                seen.add((finding.rule, finding.key, finding.line))
                self.findings.append(finding)

    def _hits(self, wanted: _Wanted, file: AuditedFile) -> Iterator[Hit]:
        assert file.data is not None, "it was read"
        if wanted.place.kind is not Kind.SETTINGS:
            text = file.data.decode("utf-8", "replace")
            if wanted.place.kind is Kind.SKILL and (name := skills.name_of(text)) and file.path.name == "SKILL.md":
                self.names.append((name, _path_text(file.path)))
                self.name_readers[_path_text(file.path)] = tuple(wanted.agents)
            yield from text_hits(wanted.place.kind, text)
            return
        agent = wanted.agents[0]
        try:
            document = _parsed(file, wanted)
            off = switched_off(agent, file.data)
        except FormatError as error:
            yield Hit(rule=audit.INVALID, line=bad_line(error), said=str(error))
            return
        if off is not None:
            yield Hit(rule=audit.HOOKS_OFF, where=tuple(off.partition(" = ")[0].split(".")), said=off)
        for hit in settings_hits(self.adapters[agent], document, _scrub):
            if hit.where:
                yield msgspec.structs.replace(hit, line=document.line(hit.where))
            else:
                yield hit
        yield from self._scripts(document)

    def _scripts(self, document: Document) -> Iterator[Hit]:
        """Files that hooks run and others may change."""
        for command in commands(document):
            if command.is_ours or command.is_url:
                continue
            for named in files_in(command.text):
                path = self._path(named)
                if path is not None and path.is_file() and others_may_change(path):
                    line = document.line(command.where)
                    yield Hit(rule=audit.SCRIPT_WRITABLE, where=command.where, line=line, said=str(path))

    def _path(self, named: str) -> Path | None:
        """The path that a word of a command means."""
        start, _, rest = named.partition("/")
        try:
            if start in ("~", "$HOME", "${HOME}"):
                return self.where.user / rest
            if start.startswith("$"):
                if self.where.project is None:
                    return None
                return self.where.project / rest
            if "\0" not in named:
                return Path(named)
            return None
        except ValueError:
            return None

    def at_names(self) -> None:
        """Skills that share a name."""
        for file, name in skills.duplicates(self.names):
            hit = Hit(rule=skills.DUPLICATE, said=name)
            self.findings.append(_finding(hit, self.name_readers[file], file))

    def at_environment(self, agent: str) -> None:
        """Variables of this environment that the agent obeys."""
        variables: dict[str, Rule] = getattr(self.adapters[agent], "VARIABLES", {})
        for name, rule in variables.items():
            if self.where.environment.get(name, "").lower() in _YES:
                self.findings.append(_finding(Hit(rule=rule, where=(name,), said=name), (agent,), ENVIRONMENT))

    def at_our_hook(self, agent: str) -> None:
        """Whether the agent calls our hook."""
        adapter = hook_adapter(agent)
        if adapter is None:
            return
        places = self._hook_files(adapter.settings(project=False), self.where.user)
        if self.where.project is not None:
            places += self._hook_files(adapter.settings(project=True), self.where.project)
        hooked: set[str] = set()
        for file, path, base in places:
            read = read_file(path, base)
            try:
                hooked.update(adapter.hooked(file, (read.data if read is not None else None) or b""))
            except FormatError:
                continue  # that the file is bad is a finding of its own
        missing = [event for event in adapter.EVENTS if event not in hooked]
        if missing and places:
            if hooked:
                rule, said = audit.SOME_HOOKS, ", ".join(missing)
            else:
                rule, said = audit.NO_HOOK, ""
            self.findings.append(_finding(Hit(rule=rule, said=said), (agent,), _path_text(places[0][1])))

    def _hook_files(self, found: tuple[SettingsFile, ...], base: Path) -> list[tuple[SettingsFile, Path, Path]]:
        files_of: list[tuple[SettingsFile, Path, Path]] = []
        for file in found:
            named = None
            if file.variable and base == self.where.user:
                named = self.where.environment.get(file.variable)
            start = base
            if named:
                start = named_folder(named, self.where.user)
            parts = PurePath(file.path).parts
            files_of.append((file, start.joinpath(*(parts[1:] if named else parts)), start))
        return files_of


def _parsed(file: AuditedFile, wanted: _Wanted) -> Document:
    return parse(file.data or b"", wanted.place.path if not wanted.place.endings else file.path.name, wanted.place.base)


def _file_hits(file: AuditedFile, hits: list[Hit]) -> Iterator[Hit]:
    """What the file system says of a file."""
    has_secret = any(hit.rule in (IN_SETTINGS, IN_SERVER) for hit in hits)
    for is_so, rule, said in (
        (file.linked_folder is not None, audit.LINKED_FOLDER, str(file.linked_folder)),
        (file.link is not None, audit.LINK, str(file.link)),
        (file.writable, audit.WRITABLE, ""),
        (file.folder_writable and not file.writable, audit.FOLDER_WRITABLE, ""),
        (file.other_owner, audit.OTHER_OWNER, ""),
        (file.readable and has_secret, audit.SECRET_READABLE, ""),
    ):
        if is_so:
            yield Hit(rule=rule, said=said)


# Telling it without secrets -------------------------------------------------------------------------------------------


def _finding(hit: Hit, agents: tuple[str, ...], file: str) -> Finding:
    return Finding(
        rule=hit.rule.id,
        severity=hit.rule.severity,
        confidence=hit.rule.confidence,
        agents=agents,
        file=file,
        line=hit.line,
        key=_clean(key_text(hit)) or None,
        found=_clean(hit.said),
        means=hit.rule.means,
        remedy=hit.rule.remedy.replace("AGENT", agents[0]),
    )


def _scrub(value: Json) -> Json:
    return scrub_json(value, Counts())


def _clean(text: str) -> str:
    """A text without secrets, cut."""
    clean = _MARKER.sub(REDACTED, scrub_text(text[:_MOST_TEXT], Counts()))
    if len(clean) <= _MOST_SAID:
        return clean
    return f"{clean[: _MOST_SAID - 1]}…"


def _path_text(path: Path) -> str:
    """A path as text that can be written out, whatever bytes it has."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
