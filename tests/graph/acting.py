"""Sessions in which tools are called, and what the graph says of them, for the tests of this folder."""

from __future__ import annotations

from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tallystick.model.step import Json
from tests.graph.making import Session

Edge = tuple[str, str, str]


class Story(Session):
    """A session in which tools are called."""

    def __init__(self, name: str = "one", *, start: float = 0) -> None:
        super().__init__(name, start=start)
        self.asked: int | None = None
        self.begin()

    def ask(self, text: str = "do it") -> None:
        """A human's prompt."""
        self.asked = self.prompt(text).n

    def call(
        self,
        tool: str,
        args: Json,
        *,
        success: bool | None = True,
        result: bool = True,
        cwd: str | None = "/w",
        **meta: Json,
    ) -> int:
        """A call and its result; n of the call."""
        corr = f"call-{len(self.lines)}"
        said: dict[str, Json] = {"corr": corr, "request": self.asked}
        n = self.add("tool_call", {**said, "tool": tool}, cwd=cwd, args=args).n
        if result:
            self.add("tool_result", {**said, "tool": tool, "success": success, **meta}, output="done")
        return n

    def think(self) -> None:
        """A model call: all results before it reached the model."""
        self.add("model_call", {"request": self.asked})

    def read(self, path: str) -> int:
        return self.call("Read", {"file_path": path})

    def write(self, path: str, content: str = "x") -> int:
        return self.call("Write", {"file_path": path, "content": content})

    def bash(self, command: str, **more: Json) -> int:
        return self.call("Bash", {"command": command}, **more)


def edges(graph: Graph, relation: str) -> set[Edge]:
    """(from, relation, to) with artifacts as paths and versions, events and requests as steps."""
    names: dict[tuple[str, int], str] = {}
    for id_, uri, version in graph.rows("SELECT artifact_id, uri, version FROM artifacts"):
        names["artifact", id_] = f"{uri.removeprefix('file://')}@{version}"
    for id_, n in graph.rows("SELECT id, n FROM steps"):
        names["agent_event", id_] = names["request", id_] = names["system_event", id_] = str(n)
    rows = graph.rows("SELECT src_kind, src_id, relation_type, dst_kind, dst_id FROM relations")
    return {
        (names[kind, id_], said, names[kind_to, id_to])
        for kind, id_, said, kind_to, id_to in rows
        if said == relation and "request" not in (kind, kind_to)
    }


def derived(graph: Graph) -> set[tuple[str, str]]:
    return {(source, target) for source, _, target in edges(graph, "derived_from")}


def outcomes(graph: Graph) -> list[tuple[str, str, str]]:
    return [
        tuple(row)
        for row in graph.rows(
            "SELECT operation, target, outcome FROM intents WHERE domain IN ('file', 'network') ORDER BY step_id, k"
        )
    ]


def told(graph: Graph, *stories: Session) -> Graph:
    project(graph, [story.journal() for story in stories])
    return graph
