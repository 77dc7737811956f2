"""How well the policies in force tell attacks from work: cases, and what is decided on each.

Owns the form of a case, the machine that cases run on, and how a case is judged: calls go through the Decider that is used
live, one after another, and what was called before is in the record when the next call is judged. Must not know what speaks
against a call, nor where cases are kept.
"""

from __future__ import annotations

import enum
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import structs

from tallystick.catalog.agents import CONVENTIONS
from tallystick.errors import FormatError, PolicyError
from tallystick.guard.decide import Decider
from tallystick.guard.effect_counts import EffectCounts
from tallystick.guard.fallback_decision import undecided_in
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.recording.record import as_said
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store
from tallystick.workspace.index_live import index_sessions

HOME_FOLDER = "HOME_FOLDER"
"""Stands in cases for the home folder of the user that the agent runs as."""
_BESIDE_TMP = "/var/tmp"
"""Where machines are made: cases name /tmp, and a user's home folder does not lie in it."""
_STRONG = (Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY)
_GIT = ("git", "-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "commit.gpgsign=false")
_COMMITTING = (("init", "-q", "--template="), ("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "all"))


class Wants(enum.StrEnum):
    """What a case wants of the policies."""

    DENY = "deny"
    ASK_OR_DENY = "ask-or-deny"
    WARN = "warn"
    """A warning, or more."""
    SILENCE = "silence"
    """Work: it must be let through. A warning does not interrupt it."""


class JudgedAt(enum.StrEnum):
    """Which answer of an attack over several calls counts."""

    ONE = "one"
    """That on one call: the last, or the one that `judged` names."""
    ANY = "any"
    """The strictest on any call: the attack is missed only where no call of it was stopped."""


class CaseCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of a tool."""

    tool: str
    args: Json = None
    result: str | None = None
    """What it gave. It is in the record when the next call is judged."""
    session: str = "now"
    """Which session of the agent it belongs to."""
    agent: str | None = None
    """None: the agent of the case."""
    leaves: dict[str, str] = {}
    """What it leaves on disk: path → text, before the next call is judged."""
    folder: str | None = None
    """Where it is made; None: where the agent of the case works."""
    commits: bool = False
    """Then all that lies in the folder of the case is committed."""


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An attack, or a piece of work: calls in the order in which an agent makes them.

    HOME_FOLDER in any text stands for the home folder; paths of files that are not absolute lie below `folder`.
    """

    id: str
    class_: str = msgspec.field(name="class")
    wants: Wants
    calls: tuple[CaseCall, ...]
    agent: str = CONVENTIONS.assumed
    folder: str = f"{HOME_FOLDER}/project"
    """Where the agent works."""
    judged: int | None = None
    """Which call is judged, from 0; None: the last one of an attack, every one of work."""
    judged_at: JudgedAt = JudgedAt.ONE
    files: dict[str, str] = {}
    """What is on disk before, beside what every machine has: path → text."""
    links: dict[str, str] = {}
    """Symbolic links that are there before: path → target."""
    is_repository: bool = False
    """`folder` is under git, and what lies in it before is committed."""
    says_yes: bool = False
    """That a question was answered with yes is on record as well, so that what is let once runs unasked."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided on one case, or on one call of a piece of work."""

    id: str
    class_: str = msgspec.field(name="class")
    wants: Wants
    effect: Effect
    rules: tuple[str, ...] = ()
    call: int = 0
    """Which call this was decided on. Before the judged one: it was denied, so that the judged one is never made."""

    @property
    def is_met(self) -> bool:
        """Whether the case got what it wants, or more where it is an attack."""
        strength = _STRONG.index(self.effect)
        match self.wants:
            case Wants.DENY:
                return self.effect is Effect.DENY
            case Wants.ASK_OR_DENY:
                return strength >= _STRONG.index(Effect.ASK)
            case Wants.WARN:
                return strength >= _STRONG.index(Effect.WARN)
            case Wants.SILENCE:
                return strength <= _STRONG.index(Effect.WARN)


class Tally(EffectCounts, kw_only=True):
    """How the cases of one class were judged."""

    met: int = 0

    def add(self, judged: Judged) -> None:
        """Count one."""
        self.count(judged.effect)
        self.met += judged.is_met


# Cases ---------------------------------------------------------------------------------------------------------------


class _Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Work, or attacks, in short: each command and each call is a case of its own."""

    class_: str = msgspec.field(name="class")
    wants: Wants = Wants.SILENCE
    folder: str = f"{HOME_FOLDER}/project"
    commands: tuple[str, ...] = ()
    calls: tuple[CaseCall, ...] = ()


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    case: tuple[Case, ...] = ()
    work: tuple[_Group, ...] = ()
    attack: tuple[_Group, ...] = ()


def read_cases(paths: Iterable[Path]) -> tuple[Case, ...]:
    """The cases of some tables, in order.

    Raises: FormatError: a table is not TOML or has another shape, a case has no call that could be judged, or an id
    stands twice.
    """
    found: dict[str, Case] = {}
    for path in paths:
        for case in _table(path):
            if case.id in found:
                raise FormatError(f"{path.name}: the id {case.id!r} is used twice")
            if not case.calls or not 0 <= (case.judged or 0) < len(case.calls):
                raise FormatError(f"{path.name}: case {case.id!r} has no call to judge")
            found[case.id] = case
    return tuple(found.values())


def _table(path: Path) -> Iterator[Case]:
    try:
        table = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _Table)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise FormatError(f"{path.name}: {error}") from error
    yield from table.case
    for group in (*table.work, *table.attack):
        shells = (CaseCall(tool="Bash", args={"command": command}) for command in group.commands)
        for call in (*shells, *group.calls):
            yield Case(
                id=f"{group.class_}: {named(call)}",
                class_=group.class_,
                wants=group.wants,
                calls=(call,),
                folder=group.folder,
            )


def named(call: CaseCall) -> str:
    """A call in short, for people: what it is given, and a few digits where that was cut."""
    is_shell = isinstance(call.args, dict) and list(call.args) == ["command"]
    text = call.args["command"] if is_shell else f"{call.tool} {msgspec.json.encode(call.args).decode()}"
    return text if len(text) <= 100 else f"{text[:90]}… {sha256(text.encode()).hexdigest()[:6]}"


def corpus_digest(paths: Iterable[Path]) -> str:
    """SHA-256 over some tables, their names included: what a figure was measured on."""
    total = sha256()
    for path in sorted(paths, key=lambda path: path.name):
        total.update(f"{path.name}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


# The machine ---------------------------------------------------------------------------------------------------------


class Machine:
    """A user's home folder with secrets, a store and a project under git, in a folder of its own.

    Made of plain files: nothing of a case is ever run on it.
    """

    def __init__(self, folder: Path) -> None:
        self.user = folder / "dev"
        self.home = Home(self.user / ".tally")
        self.temporary = folder / "tmp"

    def lay_out(self, files: Mapping[str, str]) -> None:
        """Make it again: path below the home folder → text. What lies in `project` is committed, where git is there."""
        self.temporary.mkdir(parents=True)
        self.user.mkdir()
        init_store(self.home)
        for path, text in files.items():
            self.write(path, text, self.user)
        self.commit(self.user / "project")
        _git(self.user / "project", ("gc", "-q"))  # one file instead of hundreds: machines are copied

    def copy_to(self, folder: Path) -> Machine:
        """The same machine in another folder."""
        copied = Machine(folder)
        shutil.copytree(self.user, copied.user, symlinks=True)
        copied.temporary.mkdir(parents=True)
        return copied

    def prepare(self, case: Case) -> None:
        """Make the files and links that a case begins with."""
        folder = Path(self.filled(case.folder))
        if case.is_repository:
            self.commit(folder)  # there before its files: one of them may be named as the folder is
        for path, text in case.files.items():
            self.write(self.filled(path), self.filled(text), folder)
        for path, target in case.links.items():
            self.link(self.filled(path), self.filled(target), folder)
        if case.is_repository:
            self.commit(folder)

    def commit(self, folder: Path) -> None:
        """Commit all that lies in a folder of this machine, which becomes a repository if it is none."""
        if self._inside(str(folder), folder) is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for arguments in _COMMITTING:
                _git(folder, arguments)

    def write(self, path: str, text: str, folder: Path) -> None:
        """Write one file. What a case would put outside this machine, or where a folder lies, is left out."""
        target = self._inside(path, folder)
        if target is not None:
            with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8", errors="replace")

    def link(self, path: str, target: str, folder: Path) -> None:
        """Make one symbolic link; its target may be anywhere."""
        place = self._inside(path, folder)
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target)

    def _inside(self, path: str, folder: Path) -> Path | None:
        text = path
        if path.startswith("~/"):
            text = f"{self.user}{path[1:]}"
        target = Path(os.path.normpath(folder / text))
        place = target.parent.resolve() / target.name  # a link of the case may lead out of the machine
        if place.is_relative_to(self.user.parent) and not place.is_symlink():
            return place
        return None

    def filled(self, value: Json) -> Json:
        """A value of a case with this machine's home folder in it."""
        match value:
            case str():
                return value.replace(HOME_FOLDER, str(self.user))
            case list():
                return [self.filled(item) for item in value]
            case dict():
                return {self.filled(name): self.filled(item) for name, item in value.items()}
            case _:
                return value

    def decider(self) -> Decider:
        """The policies in force on it, as the recorder loads them.

        Raises:
            PolicyError: those in its store cannot be used.
        """
        environment = {"HOME": str(self.user), "TMPDIR": str(self.temporary)}
        # Where this program lies is none of the machine's business: a case may name the folder that a checkout is in.
        package = self.user.parent / "installed" / "site-packages" / "tallystick"
        decider = Decider(self.home, AgentMachine(self.user, environment=environment, package=package))
        if decider.policies.error is not None:
            raise PolicyError(decider.policies.error)
        return decider


def _git(folder: Path, arguments: Sequence[str]) -> None:
    if shutil.which("git") is None:
        return
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ.get("PATH", os.defpath)}
    subprocess.run([*_GIT, *arguments], cwd=folder, env=quiet, check=False, capture_output=True, timeout=60)


# Judging -------------------------------------------------------------------------------------------------------------


def judge(cases: Iterable[Case], files: Mapping[str, str]) -> Iterator[Judged]:
    """What is decided on each case, in order: one Judged an attack, one a call of a piece of work.

    A case that leaves something behind, as files or in the record, has a machine and a Decider of its own; the others share
    one. `files` are on every machine: path below the home folder → text. Everything lies in a folder that is removed
    afterwards.

    Raises:
        PolicyError: the policies cannot be loaded.
    """
    below = _BESIDE_TMP if os.access(_BESIDE_TMP, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tallystick-cases-", dir=below, ignore_cleanup_errors=True) as folder:
        shared = Machine(Path(folder, "shared").resolve())
        shared.lay_out(files)
        decider = shared.decider()
        for number, case in enumerate(cases):
            if not (case.files or case.links or case.is_repository or len(case.calls) > 1):
                yield from _judge(case, shared, decider)
                continue
            own = shared.copy_to(Path(folder, f"case-{number}").resolve())
            own.prepare(case)
            yield from _judge(case, own, own.decider())
            shutil.rmtree(own.user.parent, ignore_errors=True)


def _judge(case: Case, machine: Machine, decider: Decider) -> Iterator[Judged]:
    found = _answers(case, machine, decider)
    if case.judged_at is JudgedAt.ANY:
        yield max(found, key=lambda one: _STRONG.index(one.effect))
    else:
        yield from found


def _answers(case: Case, machine: Machine, decider: Decider) -> Iterator[Judged]:
    is_work = case.wants is Wants.SILENCE
    is_each = is_work or case.judged_at is JudgedAt.ANY
    judged = case.judged
    if judged is None:
        judged = len(case.calls) - 1
    with History(machine, decider, case) as history:
        for number, call in enumerate(case.calls[: judged + 1]):
            decision = history.decide(call)
            if case.judged is not None:
                wanted = number == case.judged
            else:
                wanted = is_each or number == judged
            is_stopped = decision.effect is Effect.DENY and not is_work
            if wanted or is_stopped:
                yield _judged(case, number, decision)
            if is_stopped:
                return
            if number < judged:
                history.happened(call)


def _judged(case: Case, number: int, decision: Decision) -> Judged:
    is_one_of_many = case.wants is Wants.SILENCE and len(case.calls) > 1
    return Judged(
        id=f"{case.id} [{number}]" if is_one_of_many else case.id,
        class_=case.class_,
        wants=case.wants,
        effect=decision.effect,
        rules=decision.rules,
        call=number,
    )


class History:
    """One case while it runs: its Decider, and the record of what was called before."""

    def __init__(self, machine: Machine, decider: Decider, case: Case) -> None:
        self._machine = machine
        self._case = case
        self._folder = Path(machine.filled(case.folder))
        self._decider = decider
        self._session_writer: SessionWriter | None = None
        self._begun: set[tuple[str, str]] = set()
        self._made = 0
        self._newest: Decision | None = None
        self._closing = ExitStack()

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def decide(self, call: CaseCall) -> Decision:
        """What the policies say of a call now; where they cannot, what the recorder would answer."""
        asked = Call(
            agent=call.agent or self._case.agent,
            session=call.session,
            tool=call.tool,
            args=self._machine.filled(call.args),
            cwd=self._machine.filled(call.folder or self._case.folder),
        )
        try:
            self._newest = self._decider.decide(asked)
        except PolicyError as error:
            self._newest = undecided_in(self._machine.home, error)
        return self._newest

    def happened(self, call: CaseCall) -> None:
        """Record a call as one that was made, with its result, and bring the index up to date."""
        agent, args = call.agent or self._case.agent, self._machine.filled(call.args)
        if self._session_writer is None:
            self._session_writer = self._closing.enter_context(SessionWriter(self._machine.home))
        if (agent, call.session) not in self._begun:
            self._begin(self._session_writer, agent, call)
        self._made += 1
        meta = {"corr": f"call-{self._made}", "tool": call.tool}
        self._session_writer.add(agent, _step(call.session, "tool_call", meta, {"content.args": args}))
        if self._case.says_yes and self._newest is not None and self._newest.effect is Effect.ASK:
            self._session_writer.add(agent, _asked_step(call.session, meta, self._newest))
        for path, text in call.leaves.items():
            self._machine.write(self._machine.filled(path), self._machine.filled(text), self._folder)
        if call.commits:
            self._machine.commit(self._folder)
        output = self._machine.filled(call.result)
        result = _step(call.session, "tool_result", {**meta, "success": True}, {"content.output": output})
        taken = self._session_writer.add(agent, result)
        self._session_writer.seal()
        index_sessions(self._machine.home, [taken.session])

    def _begin(self, session_writer: SessionWriter, agent: str, call: CaseCall) -> None:
        """Begin a session as an agent does: in a folder, with someone's prompt."""
        self._begun.add((agent, call.session))
        cwd = as_said({"personal.cwd": self._machine.filled(call.folder or self._case.folder)})
        session_writer.open(Opening(session=call.session, agent=agent, source=Source.HOOK, values=cwd))
        prompt = _step(call.session, "user", {}, {"content.text": "Go on."})
        session_writer.add(agent, structs.replace(prompt, opens_request=True))


def _asked_step(session: str, meta: Mapping[str, Json], decision: Decision) -> Step:
    """The question before a call, as the recorder keeps it: the result that follows is the yes."""
    said: dict[str, Json] = {
        **meta,
        "effect": decision.effect.value,
        "rules": list(decision.rules),
        "decided_by": "policy",
    }
    evidence: Json = [msgspec.to_builtins(each) for each in decision.evidence]
    return _step(session, "decision", said, {"content.evidence": evidence})


def _step(session: str, kind: str, meta: Mapping[str, Json], values: Mapping[str, Json]) -> Step:
    name = f"{meta.get('corr', 'prompt')}/{kind}"
    return Step(
        session=session, type=kind, source=Source.HOOK, source_id=name, meta=as_said(meta), values=as_said(values)
    )


# Counting ------------------------------------------------------------------------------------------------------------


def tallies(judged: Iterable[Judged]) -> dict[str, Tally]:
    """How the cases of each class were judged, in the order in which the classes come."""
    found: dict[str, Tally] = {}
    for one in judged:
        found.setdefault(one.class_, Tally()).add(one)
    return found


def summed(found: Iterable[Tally]) -> Tally:
    """The sum of some tallies."""
    total = Tally()
    for one in found:
        for name in one.__struct_fields__:
            setattr(total, name, getattr(total, name) + getattr(one, name))
    return total
