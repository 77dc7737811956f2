"""Cases as Claude Code would put them before a hook, and what a guard says of one.

Owns which cases are compared, the payloads of their calls, and when an attack counts as stopped; not how guards run.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from bench.guards.programs import Guard, Seat, fetched
from bench.policy import files_everywhere, tables_of
from tallystick.guard.policy_quality import Case, CaseCall, JudgedAt, Machine, Wants, read_cases
from tallystick.model.decision import Effect

_AGENT = "claude-code"
_WHOLE = ("held-out 5", "held-out 5 chains", "held-out 5 holes", "held-out work 5 neighbours")
_OLDER = (
    *("attacks", "held-out", "held-out 2", "held-out 3", "held-out 4", "benign"),
    *("held-out work", "held-out work 2", "held-out work 3", "held-out work 4", "held-out everyday work"),
)
_NAMESPACE = uuid.UUID("8c6f2a5e-6f0e-4c44-9d3e-0f6f4a6b1f52")
_STOPS = (Effect.ASK, Effect.DENY)


class Compared(msgspec.Struct, frozen=True):
    """One line of the comparison: an attack, or one call of a piece of work."""

    id: str
    class_: str
    is_attack: bool
    effect: Effect


def compared_cases(every: int) -> tuple[Case, ...]:
    """The fifth set, and every `every`th case of older ones (0: none), of Claude Code: those that want silence, or a stop."""
    found: dict[str, Case] = {}
    steps = {**dict.fromkeys(_OLDER if every else (), every), **dict.fromkeys(_WHOLE, 1)}
    for corpus, step in steps.items():
        cases = [case for case in read_cases(tables_of(corpus)) if _is_compared(case)]
        found.update((case.id, case) for case in cases[::step])
    return tuple(found.values())


def _is_compared(case: Case) -> bool:
    is_of_claude = all((call.agent or case.agent) == _AGENT for call in case.calls)
    says_settings = any(path.startswith("HOME_FOLDER/.tally/") for path in case.files)
    return is_of_claude and case.wants is not Wants.WARN and not says_settings


def digest_of(cases: Iterable[Case]) -> str:
    """SHA-256 of the cases themselves."""
    return sha256(b"\n".join(msgspec.json.encode(case) for case in cases)).hexdigest()


def answers(guard: Guard, cases: Iterable[Case], kept: Path) -> Iterator[Compared]:
    """What a guard says of each case. Cases that leave something behind have a home folder of their own."""
    commands = fetched(guard, kept)
    with tempfile.TemporaryDirectory(prefix="guards-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        first = Machine(Path(folder, "shared").resolve())
        first.lay_out(files_everywhere())
        shared = Seat(guard, commands, first.user)
        shared.install()
        clean = first.copy_to(Path(folder, "clean").resolve())
        shared.start()
        for number, case in enumerate(cases):
            if not (case.files or case.links or len(case.calls) > 1):
                yield from _answers(case, first, shared)
                continue
            own = clean.copy_to(Path(folder, f"case-{number}").resolve())
            own.prepare(case)
            seat = shared.moved(own.user)
            seat.start()
            yield from _answers(case, own, seat)
            seat.leave()
            shutil.rmtree(own.user.parent, ignore_errors=True)
        shared.leave()


def times_in_turns(asked: Sequence[Guard], cases: Iterable[Case], kept: Path) -> dict[str, list[float]]:
    """How long an answer of each guard takes, in milliseconds: one case after another, each put to all guards in turn."""
    with tempfile.TemporaryDirectory(prefix="guards-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        seats: list[tuple[Seat, Machine]] = []
        for guard in asked:
            machine = Machine(Path(folder, guard.name).resolve())
            machine.lay_out(files_everywhere())
            seat = Seat(guard, fetched(guard, kept), machine.user)
            seat.install()
            seat.start()
            seats.append((seat, machine))
        found: dict[str, list[float]] = {guard.name: [] for guard in asked}
        for case in cases:
            for seat, machine in seats:
                answer = seat.ask(_before(case, case.calls[0], machine, 0))
                found[seat.guard.name].append(answer.took_ms)
        for seat, _ in seats:
            seat.leave()
    return found


def _answers(case: Case, machine: Machine, seat: Seat) -> Iterator[Compared]:
    last = len(case.calls) - 1 if case.judged is None else case.judged
    is_attack = case.wants is not Wants.SILENCE
    said: list[Effect] = []
    begun: set[str] = set()
    for number, call in enumerate(case.calls[: last + 1]):
        for payload in _opening(case, call, machine, begun):
            seat.ask(payload)
        said.append(seat.ask(_before(case, call, machine, number)).effect)
        if is_attack and said[-1] is Effect.DENY:
            break
        if number < last:
            _happened(case, call, machine)
            seat.ask(_after(case, call, machine, number))
    if not is_attack:
        for number, effect in enumerate(said):
            yield Compared(f"{case.id} [{number}]", case.class_, False, effect)
        return
    counted = said if case.judged_at is JudgedAt.ANY else said[-1:]
    stopped = [effect for effect in counted if effect in _STOPS]
    yield Compared(case.id, case.class_, True, (*stopped, Effect.ALLOW)[0])


# Payloads ------------------------------------------------------------------------------------------------------------


def _common(case: Case, call: CaseCall, machine: Machine) -> dict[str, Any]:
    return {
        "session_id": str(uuid.uuid5(_NAMESPACE, f"{case.id}/{call.session}")),
        "transcript_path": str(machine.user / ".claude" / "projects" / "none.jsonl"),
        "cwd": machine.filled(case.folder),
        "permission_mode": "default",
    }


def _opening(case: Case, call: CaseCall, machine: Machine, begun: set[str]) -> Iterator[Mapping[str, Any]]:
    if call.session in begun or len(case.calls) == 1:
        return
    begun.add(call.session)
    common = _common(case, call, machine)
    yield {**common, "hook_event_name": "SessionStart", "source": "startup"}
    yield {**common, "hook_event_name": "UserPromptSubmit", "prompt": "Go on."}


def _before(case: Case, call: CaseCall, machine: Machine, number: int) -> Mapping[str, Any]:
    return {
        **_common(case, call, machine),
        "hook_event_name": "PreToolUse",
        "tool_name": call.tool,
        "tool_input": machine.filled(call.args) or {},
        "tool_use_id": f"toolu_{number:024}",
    }


def _after(case: Case, call: CaseCall, machine: Machine, number: int) -> Mapping[str, Any]:
    made = _RESPONSES.get(call.tool, _text_response)
    response = made(machine.filled(call.args) or {}, machine.filled(call.result or ""))
    event = {"hook_event_name": "PostToolUse", "tool_response": response}
    return {**_before(case, call, machine, number), **event}


def _text_response(_: Any, result: Any) -> Any:
    return [{"type": "text", "text": result}]


_RESPONSES: Mapping[str, Callable[[Any, Any], Any]] = {
    "Bash": lambda _, result: {"stdout": result, "stderr": "", "interrupted": False, "isImage": False},
    "Read": lambda args, result: {"type": "text", "file": {"filePath": args.get("file_path"), "content": result}},
    "WebFetch": lambda args, result: {"url": args.get("url"), "result": result, "code": 200},
    "Write": lambda args, _: {"type": "create", "filePath": args.get("file_path"), "content": args.get("content")},
}


def _happened(case: Case, call: CaseCall, machine: Machine) -> None:
    folder = Path(machine.filled(case.folder))
    for path, text in call.leaves.items():
        machine.write(machine.filled(path), machine.filled(text), folder)
