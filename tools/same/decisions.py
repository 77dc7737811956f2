"""What is decided on each call of the corpora and of recorded histories.

Owns which calls are judged: those that the reference's corpora hold, the commands of its shell corpus, and the calls of all
histories. What is compared of a decision is what it does and which rules made it; its sentences are for people.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from tools.same.faces import face, loaded_class
from tools.same.frozen import restart
from tools.same.stream import Emit

_CORPUS = Path("tests/policy/corpus")
_HELD_OUT = Path("tests/policy/heldout")
_SHELL = Path("tests/shell/corpus")
PARTS_OF_DECISIONS = 4


def decision_facts(tree: Path, histories: list[Path], emit: Emit, *, part: int, parts: int, sample: int = 1) -> int:
    """Judge every `parts`-th case from `part` on; how many decisions were made."""
    machine = tomllib.loads((tree / _CORPUS / "machine.toml").read_text("utf-8"))["files"]
    judge, made = face("judge"), _Made()
    names: list[str] = []

    def chosen() -> Iterator[Any]:
        for number, (name, case) in enumerate(_cases(tree, histories)):
            if number % parts == part and number // parts % sample == 0:
                restart(name)
                made.begin(name, case, emit)
                names.append(name)
                yield case

    cases = chosen()
    while True:  # a fault ends the judging, not the cases
        try:
            for one in judge(cases, machine):
                if not names[-1].startswith("histories"):  # each call of these is a decision
                    value = {"effect": str(one.effect), "rules": sorted(one.rules)}
                    emit(f"judged {names[-1]} {one.id}", value)
            return made.total
        except Exception as error:
            emit(f"judged {names[-1]}", {"fault": type(error).__name__})


def _cases(tree: Path, histories: list[Path]) -> Iterator[tuple[str, Any]]:
    read = face("read_cases")
    case: Any = None
    for path in sorted([*(tree / _CORPUS).glob("*_*.toml"), *(tree / _HELD_OUT).glob("*.toml")]):
        for case in read([path]):
            yield f"{path.parent.name}/{path.stem} {case.id}", case
    kind, call = type(case), type(case.calls[0])
    for path in sorted((tree / _SHELL).glob("*.toml")):
        for number, one in enumerate(tomllib.loads(path.read_text("utf-8"))["case"]):
            if isinstance(one.get("text"), str):
                calls = (call(tool="Bash", args={"command": one["text"]}),)
                name = f"shell/{path.stem} {number}"
                yield name, kind(id=name, class_="shell", wants=type(case.wants)("silence"), calls=calls)
    for case in face("cases_of")(histories):
        yield f"histories {case.folder}", case  # its number is another one in a tree that reads more histories


class _Made:
    """Sees each decision that is made, whoever asked for it.

    A call is known by its place in its session, and that by what is called in it: its id depends on chance, and its place
    among others on the id.
    """

    def __init__(self) -> None:
        self.total = 0
        self._name = ""
        self._sessions: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self._emit: Emit = lambda _key, _value: None
        decider = loaded_class("Decider")
        decide = decider.decide

        def seen(decider: Any, call: Any, *arguments: Any, **named: Any) -> Any:
            found = decide(decider, call, *arguments, **named)
            self._take(call, found)
            return found

        decider.decide = seen

    def begin(self, name: str, case: Any, emit: Emit) -> None:
        self._name, self._emit = name, emit
        self._numbers.clear()
        called: dict[str, list[object]] = {}
        for call in case.calls:
            called.setdefault(call.session, []).append([call.tool, call.args])
        digests = {sid: sha256(json.dumps(calls).encode()).hexdigest()[:8] for sid, calls in called.items()}
        alike: Counter[str] = Counter()
        for sid, digest in digests.items():
            alike[digest] += 1
            self._sessions[sid] = f"{digest}-{alike[digest]}"

    def _take(self, call: Any, found: Any) -> None:
        whose = f"{call.agent} {self._sessions[call.session]}"
        value = {
            "effect": str(found.effect),
            "rules": sorted(found.rules),
            "reasons": sorted({one.rule for one in found.evidence}),
            "severity": str(found.severity),
            "would": None if found.would is None else str(found.would),
        }
        self._emit(f"decision {self._name} {whose} call {self._numbers[whose]}", value)
        self._numbers[whose] += 1
        self.total += 1
