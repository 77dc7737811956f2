"""Questions about a large graph: `why` and `impact` to depth 8, warm, on a million relations.

The graph is made row by row, in the shape that sessions give: prompts with calls that read, write and change files, files
that few or thousands of calls read, summaries that are written after reading, sub-agents. Nothing of it is in a journal, so
what is measured is the walk, the rows behind it and the words for each node, not the reading of single lines.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

from bench.measure import Figure
from tallystick.ask.impact import impact
from tallystick.ask.why import why
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.workspace.index import Index

RELATIONS = 1_000_000
QUESTIONS = 1_000

_FIRST_MS = 1_767_323_045_000
_ROOM = 1_000
_HUBS = 30
_REQUESTS, _CALLS = 5, 10
_BATCH = 200


class _Maker:
    """Rows of a graph, kept until there are enough of them to be written."""

    def __init__(self, graph: Graph, seed: int = 11) -> None:
        self.graph = graph
        self.chance = random.Random(seed)
        self.rows: dict[str, list[dict[str, object]]] = {}
        self.relations = 0
        self.artifacts = 0
        self.clock = _FIRST_MS
        self.newest: dict[int, tuple[int, int]] = {}
        self.files = 0
        self.hubs: list[int] = []

    def put(self, table: str, **row: object) -> None:
        self.rows.setdefault(table, []).append(row)

    def write(self) -> None:
        """Write the rows that wait."""
        self.graph.begin()
        for table, rows in self.rows.items():
            columns = tuple(self._blank(table) | rows[0])
            blank = self._blank(table)
            places = ", ".join("?" * len(columns))
            values = [[{**blank, **row}[column] for column in columns] for row in rows]
            verb = "INSERT OR IGNORE" if table == "relations" else "INSERT"
            self.graph.change_many(f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({places})", values)
        self.graph.commit()
        self.rows.clear()

    def _blank(self, table: str) -> dict[str, object]:
        columns = self.graph.rows(f"PRAGMA table_info({table})")
        return {
            name: "" if kind == "TEXT" else 0
            for _, name, kind, needed, default, key in columns
            if needed and default is None and not key
        }

    def relate(self, src: tuple[str, int], relation: str, dst: tuple[str, int], confidence: float, via: str) -> None:
        self.relations += 1
        id_ = int.from_bytes(blake2b(repr((src, dst, relation)).encode(), digest_size=8).digest(), "big") >> 1
        self.put(
            "relations",
            relation_id=id_,
            src_kind=src[0],
            src_id=src[1],
            dst_kind=dst[0],
            dst_id=dst[1],
            relation_type=relation,
            confidence=confidence,
            evidence=json.dumps({"operation": via, "tool_name": "Bash", "words": ["a", "b"]}),
            created_at=self.clock,
        )

    def version(self, file: int, maker: int | None) -> int:
        """The next version of a file."""
        self.artifacts += 1
        id_ = int.from_bytes(blake2b(b"%d" % self.artifacts, digest_size=8).digest(), "big") >> 1
        number = self.newest[file][1] + 1 if file in self.newest else int(maker is not None)
        self.newest[file] = id_, number
        self.put(
            "artifacts",
            artifact_id=id_,
            kind="file",
            uri=path_of(file, scheme="file://"),
            created_at=self.clock,
            updated_at=self.clock,
            version=number,
            thing=file,
            made_by=maker,
            digest="",
        )
        return id_

    # Sessions -------------------------------------------------------------------------------------------------------

    def session(self, number: int) -> None:
        """A session with its prompts and calls; every fifth hangs on a call of the one before."""
        first_id = number * _ROOM
        sid = f"{number:032x}"
        is_child = number % 5 == 4
        self.put(
            "sessions",
            session_id=sid,
            agent_id="bench",
            kind="child" if is_child else "root",
            status="completed",
            first_event_at=self.clock,
            source_session=f"own-{number}",
            first_id=first_id,
            size=_REQUESTS * (_CALLS + 1) + 1,
        )
        self.step(first_id, 0, "session_start", None)
        if is_child:
            parent = f"{number - 1:032x}"
            self.put(
                "session_edges",
                session_id=sid,
                n=0,
                position=0,
                kind="child",
                parent_session=parent,
                parent_step=hash_of((number - 1) * _ROOM + 3),
            )
        n = 1
        for _ in range(_REQUESTS):
            self.request(first_id, sid, n)
            n += _CALLS + 1

    def step(self, first_id: int, n: int, kind: str, request: int | None, **more: object) -> None:
        self.clock += 900
        self.put(
            "steps",
            id=first_id + n,
            session_id=f"{first_id // _ROOM:032x}",
            n=n,
            hash=hash_of(first_id + n),
            type=kind,
            agent_id="bench",
            at_us=self.clock * 1000,
            request=request,
            tool=more.get("tool"),
            corr=more.get("corr"),
        )

    def request(self, first_id: int, sid: str, n: int) -> None:
        """A prompt and its calls."""
        self.step(first_id, n, "user", n)
        self.put(
            "requests",
            request_id=first_id + n,
            session_id=sid,
            original_user_prompt=f"Please look at part {first_id} and mend what is wrong with it. " * 4,
            created_at=self.clock,
            n=n,
            hash=hash_of(first_id + n),
        )
        read: list[int] = []
        for position in range(n + 1, n + 1 + _CALLS):
            self.call(first_id, position, n, read)

    def call(self, first_id: int, n: int, request: int, read: list[int]) -> None:
        """A call that reads, changes or writes a file."""
        corr = f"toolu_{first_id + n}"
        self.step(first_id, n, "tool_call", request, tool="Bash", corr=corr)
        file = self.some_file()
        self.put(
            "agent_events",
            event_id=first_id + n,
            request_id=first_id + request,
            ts=self.clock,
            source="bench",
            type="PreToolUse",
            cwd="/w",
            tool_name="Bash",
            tool_input=json.dumps({"tool_use_id": corr, "operation": "read", "path": path_of(file)}),
            tool_use_id=corr,
            step_id=first_id + n,
        )
        node, prompt = ("agent_event", first_id + n), ("request", first_id + request)
        chance = self.chance.random()
        if chance < 0.55 or not read:
            version = self.newest[file][0] if file in self.newest else self.version(file, None)
            self.relate(("artifact", version), "consumed_by", node, 0.9, "read")
            self.relate(("artifact", version), "consumed_by", prompt, 0.9, "read")
            read.append(version)
        elif chance < 0.8 and file not in self.hubs:
            if file in self.newest:
                self.relate(("artifact", self.newest[file][0]), "consumed_by", node, 0.9, "edit")
            version = self.version(file, first_id + n)
            self.relate(node, "modified", ("artifact", version), 0.9, "edit")
            self.relate(prompt, "modified", ("artifact", version), 0.9, "edit")
        else:
            self.files += 1
            version = self.version(self.files, first_id + n)
            self.relate(node, "produced", ("artifact", version), 0.9, "write")
            self.relate(prompt, "produced", ("artifact", version), 0.9, "write")
            for source in read[-20:]:
                self.relate(("artifact", source), "derived_from", ("artifact", version), 0.5, "write")

    def some_file(self) -> int:
        """A file: one that all read, one of those made last, or any."""
        chance = self.chance.random()
        if chance < 0.1 and self.hubs:
            return self.chance.choice(self.hubs)
        if chance < 0.25 or self.files < 100:
            self.files += 1
            if len(self.hubs) < _HUBS:
                self.hubs.append(self.files)
            return self.files
        if chance < 0.7:
            return self.chance.randint(max(1, self.files - 200), self.files)
        return self.chance.randint(1, self.files)


def path_of(file: int, scheme: str = "") -> str:
    return f"{scheme}/home/dev/project-{file % 97}/src/module_{file % 1009}/file_{file}.py"


def hash_of(step: int) -> str:
    return blake2b(b"%d" % step, digest_size=32).hexdigest()


def make_graph(path: Path, relations: int = RELATIONS) -> tuple[int, list[int], list[int]]:
    """Write a graph of so many relations: how many sessions it has, its files, and those that all read."""
    with Graph(path, Mode.WRITE) as graph:
        maker, number = _Maker(graph), 0
        while maker.relations < relations:
            number += 1
            maker.session(number)
            if number % _BATCH == 0:
                maker.write()
        maker.write()
        return number, sorted(maker.newest), [hub for hub in maker.hubs if hub in maker.newest]


def timed(ask: Callable[[str], object], questions: list[str]) -> list[float]:
    """Milliseconds of each question, after all were asked once."""
    for question in questions:
        ask(question)
    times: list[float] = []
    for question in questions:
        began = time.perf_counter()
        ask(question)
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


def figures(folder: Path, *, relations: int = RELATIONS) -> Iterator[Figure]:
    folder.mkdir(parents=True, exist_ok=True)
    sessions, files, hubs = make_graph(folder / "graph.db", relations)
    chance = random.Random(3)
    paths = [path_of(chance.choice(files)) for _ in range(QUESTIONS // 2)]
    paths += [path_of(hub) for hub in hubs]
    steps = [
        f"{chance.randint(1, sessions):032x}:{chance.randint(2, _CALLS)}" for _ in range(QUESTIONS // 2 - len(hubs))
    ]
    home = Home(folder / "store")
    with Graph(folder / "graph.db") as graph:
        index = Index(graph)
        for name, ask in (("why", why), ("impact", impact)):
            times = timed(lambda text, ask=ask: ask(home, index, text, folder="/"), [*paths, *steps])  # type: ignore[misc]
            for share, target in ((0.5, 20), (0.99, 150)):
                value = times[int(len(times) * share)]
                yield Figure(
                    f"tally {name}, depth 8, {relations:,} relations, p{share * 100:.0f}",
                    value,
                    "ms",
                    target=f"< {target} ms",
                    met=value < target,
                )
            yield Figure(f"tally {name}, the slowest of {len(times):,}", times[-1], "ms")
