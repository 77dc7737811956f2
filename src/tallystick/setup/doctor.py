"""What could be wrong with live capture on this machine, and how to fix it.

Owns the checks, each one small and with a way to fix what it finds. Checks nothing of the record itself: `tally verify`
does. Where something can only be tried, it is tried: every installed hook is run once with a payload that is not
recorded.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from tallystick.agents.hooks import HookAdapter, hook_adapters
from tallystick.agents.hooks.hook_identity import is_ours, names_store
from tallystick.capture import recorder
from tallystick.capture.installation import Installation, Kind
from tallystick.capture.place import Place
from tallystick.capture.programs import Probed, probe
from tallystick.capture.settings_files import read_settings
from tallystick.capture.surroundings import Surroundings
from tallystick.errors import TallystickError
from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.journal.keys import load_key
from tallystick.journal.read import read_session
from tallystick.journal.signing import signer_place
from tallystick.live.silences import read_silences, standing
from tallystick.model.moments import write_time
from tallystick.policy.alert import KILLED, UNHOOKED
from tallystick.recording.own_session import RECORDER
from tallystick.recording.store_identity import read_store
from tallystick.seal.keys import did_key
from tallystick.setup.agents import Agent, agents
from tallystick.setup.agreement_check import agreement_checks
from tallystick.setup.check import Check, State
from tallystick.setup.index_check import index_checks
from tallystick.setup.install import called_installations, calls_old_port, hook_command, own_installation
from tallystick.setup.shadower_check import shadower_checks
from tallystick.trust.anchors import targets
from tallystick.trust.external_evidence import outlook
from tallystick.trust.sudo_command import as_root
from tallystick.trust.tamper_signals import open_alarms
from tallystick.workspace import settings

_LOW_BYTES = 1 << 30
_NO_BYTES = 100 << 20
_CLOCK_SECONDS = 120.0
_GAP_SECONDS = 24 * 3600.0


def examine(home: Home, where: Surroundings, *, now: Callable[[], float] = time.time) -> Iterator[Check]:
    """All checks, one after another; an agent's hooks are tried last."""
    yield from _store(home)
    yield from _clock(home, now())
    yield from _settings(home)
    yield _policies(home, where)
    yield from _recorder(home)
    yield from index_checks(home)
    yield from _gaps(home, now())
    yield from _silences(home, now())
    yield from _guard(home, now())
    for agent in agents(home, where):
        if agent.is_found or agent.hooked:
            yield from _agent(home, agent, where)


def _ok(name: str, found: str) -> Check:
    return Check(name=name, state=State.OK, found=found)


# The store -----------------------------------------------------------------------------------------------------------


def _store(home: Home) -> Iterator[Check]:
    if not home.exists:
        yield Check(
            name="store",
            state=State.NOTE,
            found=f"none at {home.folder}",
            mend="run tally init, or let the first hook create it",
        )
        return
    yield _writable(home)
    yield _private(home)
    yield _disk(home)
    yield _key(home)


def _writable(home: Home) -> Check:
    trial = home.folder / f".doctor-{os.getpid()}"
    try:
        trial.write_bytes(b"")
        trial.unlink()
    except OSError as error:
        found = f"cannot write to {home.folder}: {error.strerror}"
        return Check(name="store", state=State.BAD, found=found, mend="check its permissions and the mount of the disk")
    return _ok("store", str(home.folder))


def _private(home: Home) -> Check:
    mode = home.folder.stat().st_mode & 0o077
    if mode:
        found = "other users of this machine may read or enter it"
        return Check(name="privacy", state=State.WARN, found=found, mend=f"chmod 700 {home.folder}")
    return _ok("privacy", "accessible to this user only")


def _disk(home: Home) -> Check:
    free = shutil.disk_usage(home.folder).free
    found = f"{free / 1e9:.1f} GB free"
    if free >= _LOW_BYTES:
        return _ok("disk", found)
    if free < _NO_BYTES:
        state = State.BAD
    else:
        state = State.WARN
    return Check(
        name="disk", state=state, found=found, mend="free some space: steps that cannot be written leave a gap"
    )


def _key(home: Home) -> Check:
    if signer_place(home) is not None:
        return _ok("key", "held by the signer")
    try:
        own, named = did_key(load_key(home).public), read_store(home).key
    except TallystickError as error:
        return Check(
            name="key", state=State.BAD, found=str(error), mend="restore keys/ from a backup: heads cannot be signed"
        )
    if home.key.stat().st_mode & 0o077:
        return Check(name="key", state=State.WARN, found="other users may read it", mend=f"chmod 600 {home.key}")
    if own != named:
        return Check(name="key", state=State.NOTE, found="not the key that the ledger began with", mend="tally verify")
    return _ok("key", own)


def _clock(home: Home, now: float) -> Iterator[Check]:
    if not home.exists:
        return
    newest = home.ledger.stat().st_mtime
    if now < newest - _CLOCK_SECONDS:
        found = f"it is {newest - now:,.0f} s behind the newest entry of the ledger"
        yield Check(
            name="clock",
            state=State.WARN,
            found=found,
            mend="set the clock; the order of the record does not depend on it",
        )
    else:
        yield _ok("clock", datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"))


# Who else remembers the store --------------------------------------------------------------------------------------


def _guard(home: Home, now: float) -> Iterator[Check]:
    if not home.exists:
        return
    around = outlook(home, now=now)
    for alarm in open_alarms(home, around):
        yield Check(name="ALARM", state=State.BAD, found=alarm, mend="run tally verify; keep everything unchanged")
    signer = around.signer
    if signer is None or signer.pin is None:
        found = "none: heads are signed with a key that any program of yours can read"
        yield Check(name="signer", state=State.NOTE, found=found, mend=as_root("signer init", home))
    elif signer.problems:
        yield Check(name="signer", state=State.BAD, found="; ".join(signer.problems), mend="tally signer status")
    else:
        yield _ok("signer", f"user {signer.pin.signer} remembers {signer.size:,} ledger entries")
    if signer is not None and signer.epochs is not None:
        at = write_time(datetime.fromtimestamp(now, UTC))
        said = signer.epochs.told(at)
        late = Check(name="epochs", state=State.WARN, found=said, mend="tally signer status")
        if signer.epochs.is_late(at):
            yield late
        else:
            yield _ok("epochs", said)
    for target in targets(home):
        yield _ok("anchor", f"{target.name} has a head over {target.size:,} ledger entries")


# Settings and policies -----------------------------------------------------------------------------------------------


def _settings(home: Home) -> Iterator[Check]:
    try:
        _, unknown = settings.read_settings(home)
    except TallystickError as error:
        yield Check(name="config", state=State.BAD, found=str(error), mend=error.hint)
        return
    if unknown:
        names = ", ".join(unknown)
        yield Check(name="config", state=State.WARN, found=f"unknown settings {names}", mend="tally config show")
    else:
        yield _ok("config", "settings are readable")


def _policies(home: Home, where: Surroundings) -> Check:
    try:
        decider = Decider(home, AgentMachine(where.user, environment=where.environment))
    except TallystickError as error:
        mend = error.hint or "correct or remove the file; until then the setting hooks.on_error decides"
        return Check(name="policy", state=State.BAD, found=str(error), mend=mend)
    if decider.policies.error is not None:
        mend = "correct or remove the file; until then the previous rules apply"
        return Check(name="policy", state=State.BAD, found=decider.policies.error, mend=mend)
    rules = len(decider.policies.current.rules)
    return _ok("policy", f"{rules} rules, set {decider.policies.current.digest[:12]}")


# The recorder --------------------------------------------------------------------------------------------------------


def _recorder(home: Home) -> Iterator[Check]:
    place = Place(home.folder)
    other = place.other_listener()
    if other is not None:
        found = f"process {other} answers in the recorder's place and is not the recorder: what hooks tell it is lost"
        yield Check(
            name="recorder", state=State.BAD, found=found, mend=f"kill {other}; the next hook starts the recorder"
        )
        return
    running = recorder.status(home.folder)
    if running is None:
        yield from _start(home, place)
        running = recorder.status(home.folder)
    if running is not None:
        yield from _running(running)
    waiting = _spooled(place)
    if waiting:
        found = f"{waiting} deliveries wait to be recorded"
        yield Check(
            name="spool",
            state=State.WARN,
            found=found,
            mend="run tally service start; if they remain, see run/recorder.log",
        )


def _start(home: Home, place: Place) -> Iterator[Check]:
    owner = place.owner()
    if owner is not None:
        found = f"process {owner} holds the store and does not answer"
        yield Check(name="recorder", state=State.BAD, found=found, mend=f"kill {owner}; the next hook starts another")
        return
    try:
        recorder.start(home.folder)
    except TallystickError as error:
        yield Check(name="recorder", state=State.BAD, found=str(error), mend=error.hint)


def _running(running: dict[str, Any]) -> Iterator[Check]:
    yield _ok("recorder", f"answers; pid {running['pid']}, {running['deliveries']} deliveries")
    if running.get("killed_before"):
        found = f"the one before it (process {running['killed_before']}) was killed, or failed"
        yield Check(name="recorder", state=State.WARN, found=found, mend="tally alerts --rule tally.killed")
    undecided = running.get("undecided_last_hour")
    if undecided:
        found = f"{undecided} calls were answered without a decision in the last hour"
        mend = "see run/recorder.log and run/decider.log; the setting hooks.on_error says what such calls are answered"
        yield Check(name="decisions", state=State.WARN, found=found, mend=mend)
    replaced = (running.get("decider") or {}).get("replaced")
    if replaced:
        found = f"processes that judged calls, and had to be replaced since the recorder started: {replaced}"
        yield Check(name="decider", state=State.WARN, found=found, mend="see run/recorder.log in the store")
    yield from agreement_checks(running.get("agreement"))
    yield from shadower_checks(running.get("shadower"))
    if running.get("signing_problem"):
        found = f"its records are not signed: {str(running['signing_problem'])[:300]}"
        yield Check(name="signing", state=State.BAD, found=found, mend="tally signer status")
    if running.get("last_error"):
        found = f"its last error: {str(running['last_error'])[:300]}"
        if running.get("unrecorded"):
            state = State.BAD
        else:
            state = State.WARN
        yield Check(name="recorder", state=state, found=found, mend="see run/recorder.log in the store")


def _spooled(place: Place) -> int:
    try:
        return sum(path.suffix == ".spool" for path in place.spool.iterdir())
    except OSError:
        return 0


def _gaps(home: Home, now: float) -> Iterator[Check]:
    """What the recorder could not record within the last day."""
    found = [
        step for step in _own_steps(home) if step.type == "gap" and _age(step.meta.get("recorded"), now) < _GAP_SECONDS
    ]
    if found:
        kinds = ", ".join(sorted({str(step.meta.get("reason")) for step in found}))
        text = f"{len(found)} in the last day: {kinds}"
        yield Check(name="gaps", state=State.WARN, found=text, mend="tally log --agent tallystick --type gap")


def _silences(home: Home, now: float) -> Iterator[Check]:
    """What the recorder noticed of what it does not hear."""
    for one in standing(read_silences(home.folder / "run"), datetime.fromtimestamp(now, UTC)):
        mend = f"tally alerts --rule {one.rule}"
        if one.rule == UNHOOKED:
            mend = f"tally install {one.about}, or tally uninstall {one.about} if that is meant"
        if one.rule != KILLED:  # the recorder says so itself
            yield Check(name="noticed", state=State.WARN, found=one.said, mend=mend)


def _own_steps(home: Home) -> Iterator[Any]:
    from tallystick.graph.queries import SessionFilter, list_sessions
    from tallystick.workspace.indexing import open_index

    if not home.exists:
        return
    try:
        with open_index(home) as index:
            rows = list_sessions(index.graph, SessionFilter(agents=(RECORDER,)))
        for row in rows:
            yield from read_session(home, row.session)
    except TallystickError:
        return


def _age(recorded: object, now: float) -> float:
    try:
        return now - datetime.fromisoformat(str(recorded)).timestamp()
    except ValueError:
        return 0.0


# Agents --------------------------------------------------------------------------------------------------------------


def _agent(home: Home, agent: Agent, where: Surroundings) -> Iterator[Check]:
    name = agent.agent
    if agent.problem is not None:
        yield Check(
            name=name, state=State.BAD, found=agent.problem, mend=f"fix the file, then run tally install {name}"
        )
    elif not agent.can_be_hooked:
        yield Check(
            name=name, state=State.NOTE, found="has no hooks: recorded from its history only", mend="tally import"
        )
    elif not agent.hooked:
        yield Check(name=name, state=State.WARN, found="found, but not hooked", mend=f"tally install {name}")
    else:
        yield from _hooked(home, agent, where)


def _hooked(home: Home, agent: Agent, where: Surroundings) -> Iterator[Check]:
    name = agent.agent
    if agent.trusted is False:
        yield Check(
            name=name,
            state=State.WARN,
            found="its hooks are installed but not trusted",
            mend=f"start {name}, type /hooks",
        )
    if agent.unhooked:
        found = f"hooked, but not for {', '.join(agent.unhooked)}"
        yield Check(name=name, state=State.WARN, found=found, mend=f"tally install {name}")
    if calls_old_port(home, name, where):
        found = "its settings call a port, or bear a token, that is not the recorder's: such events are lost"
        yield Check(name=name, state=State.BAD, found=found, mend=f"tally install {name}")
    for called in called_installations(name, where):
        yield from _lasting(name, called)
    commands = _commands(home, hook_adapters()[name], where)
    if any(isinstance(command, str) and not names_store(command) for command in commands):
        found = "its hook does not name the store: TALLY_HOME in an agent's environment leads it elsewhere"
        yield Check(name=name, state=State.WARN, found=found, mend=f"tally install {name}")
    for command in commands:
        yield _probed(name, agent, probe(command, where.environment, where.user))


def _lasting(name: str, called: Installation) -> Iterator[Check]:
    """Whether the copy of the program that an agent calls is there, and will be."""
    if called.kind is Kind.MISSING:
        found = f"its hook calls {called.folder}, which does not exist: nothing is recorded"
        yield Check(name=name, state=State.BAD, found=found, mend=f"tally install {name}")
    elif not called.is_stable:
        found = f"its hook calls a {called.kind}, {called.folder}: if that is removed, nothing more is recorded"
        if called.kind is Kind.VENV:
            state = State.NOTE
        else:
            state = State.WARN
        own = own_installation()
        if own.is_stable:
            mend = f"tally install {name}"
        else:
            mend = called.daily_use
        yield Check(name=name, state=state, found=found, mend=mend)


def _probed(name: str, agent: Agent, answer: Probed) -> Check:
    last = "no event so far"
    if agent.last_event is not None:
        last = f"last event {agent.last_event[:19]}"
    if answer.reached:
        return _ok(name, f"its hook reaches the recorder in {answer.took_ms} ms; {last}")
    said = ""
    if answer.said.strip():
        said = f": {answer.said.strip()}"
    found = f"its hook does not reach the recorder (exit code {answer.exit_code}){said}"
    return Check(name=name, state=State.BAD, found=found, mend=f"tally install {name}, then tally service run")


def _commands(home: Home, adapter: HookAdapter, where: Surroundings) -> list[str | list[str]]:
    """The commands of ours that an agent's settings have; for plugins, which have none, what they would run."""
    found: dict[str, None] = {}
    for file in adapter.settings(project=where.project is not None):
        try:
            content = read_settings(where.path(file))
        except TallystickError:
            continue
        found |= dict.fromkeys(_strings_of_ours(content or b""))
    if found:
        return list(found)
    return [hook_command(home).words(adapter.NAME)]


def _strings_of_ours(content: bytes) -> Iterator[str]:
    try:
        waiting: list[Any] = [json.loads(content)]
    except ValueError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and is_ours(value):
            yield value
        elif isinstance(value, dict | list):
            if isinstance(value, dict):
                waiting += list(value.values())
            else:
                waiting += value
