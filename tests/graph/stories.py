"""Sessions made up by chance, for the laws of projecting: prompts, calls, results, refusals and effects in any order."""

from __future__ import annotations

from hypothesis import strategies as st

from tallystick.model.step import Json
from tests.graph.making import Session, sid_of

KINDS = ("user", "assistant", "model_call", "tool_call", "tool_result", "sighting", "session_end", "session_start")
CALL_KINDS = (
    *("call",) * 6,
    *("tool_call", "tool_result", "decision", "model_call", "model_call", "user", "user", "file_effect", "again"),
)
PATHS = st.sampled_from(["/w/a", "/w/b", "/w/c.md", "/w/d.sh"])
CALLS = st.one_of(
    st.fixed_dictionaries({"tool": st.just("Read"), "args": st.fixed_dictionaries({"file_path": PATHS})}),
    st.fixed_dictionaries(
        {
            "tool": st.just("Write"),
            "args": st.fixed_dictionaries(
                {"file_path": PATHS, "content": st.sampled_from(["cp b c.md", "bash c.md; rm b", "cat ~/.netrc"])}
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "tool": st.just("Edit"),
            "args": st.fixed_dictionaries({"file_path": PATHS, "old_string": st.just("o"), "new_string": st.just("n")}),
        }
    ),
    st.fixed_dictionaries(
        {
            "tool": st.just("Bash"),
            "args": st.fixed_dictionaries(
                {
                    "command": st.sampled_from(
                        [
                            "cp a b",
                            "cat a b > c.md",
                            "rm a",
                            "mv b a; cat c.md",
                            "bash a > b || rm b",
                            "echo cp a b > a",
                        ]
                    )
                }
            ),
        }
    ),
)
NUMBERS = st.none() | st.integers(0, 30)
STEPS: st.SearchStrategy[dict[str, Json]] = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "text": st.none() | st.sampled_from(["fix it", "the tests", "naïve café", "", "one two one"]),
        "meta": st.fixed_dictionaries(
            {},
            optional={
                "request": NUMBERS,
                "revises": NUMBERS,
                "corroborates": NUMBERS,
                "origin": st.just("parent"),
                "success": st.booleans(),
                "model": st.sampled_from(["a", "b"]),
                "tokens": st.dictionaries(st.sampled_from(["input", "output", "reasoning"]), st.integers(0, 9)),
                "ts": st.none() | st.sampled_from(["2026-01-01T00:00:00.000000Z", "2026-03-01T00:00:00.000001Z"]),
                "status": st.sampled_from(["failed", "merged"]),
            },
        ),
        "elsewhere": st.booleans(),
    }
)


def add_call(session: Session, draw: st.DrawFn) -> None:
    """A step or two of the kinds that the graph is made of."""
    kind = draw(st.sampled_from(CALL_KINDS))
    cwd = draw(st.sampled_from([None, "/w"]))
    asked = [line.step.n for line in session.lines if line.step.type == "user"]
    meta: dict[str, Json] = {"corr": draw(st.sampled_from(["c1", "c2"])), "request": asked[-1] if asked else None}
    match kind:
        case "call" | "tool_call":
            call = draw(CALLS)
            session.add("tool_call", {**meta, "tool": call["tool"]}, cwd=cwd, args=call["args"])
            if kind == "call":
                session.add("tool_result", {**meta, "success": True})
        case "tool_result":
            said = {"success": draw(st.sampled_from([True, None, False])), "revises": draw(st.none() | NUMBERS)}
            session.add(kind, {**meta, **said, "decision": draw(st.sampled_from([None, None, "deny"]))})
        case "decision":
            session.add(kind, {**meta, "effect": draw(st.sampled_from(["deny", "allow"]))})
        case "file_effect":
            effect = draw(st.sampled_from(["create", "modify", "delete"]))
            session.add(kind, {"source": "watch", "effect": effect}, path=draw(PATHS))
        case "again":
            call = draw(CALLS)
            session.add("tool_call", {**meta, "tool": call["tool"], "revises": draw(NUMBERS)}, args=call["args"])
        case _:
            session.add(kind, {}, cwd=cwd)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    session = Session(draw(st.sampled_from(["one", "two", "three"])), start=draw(st.integers(0, 9)))
    session.begin()
    if draw(st.booleans()):
        for _ in range(draw(st.integers(0, 14))):
            add_call(session, draw)
        return session
    for spec in draw(st.lists(STEPS, max_size=12)):
        content = {} if spec["text"] is None else {"text": spec["text"]}
        parents = (f"{sid_of('other')}#{'a' * 64}",) if spec["elsewhere"] else ()
        session.add(spec["kind"], spec["meta"], parents=parents, **content)
    return session


@st.composite
def stories(draw: st.DrawFn) -> list[Session]:
    return draw(st.lists(sessions(), min_size=1, max_size=3, unique_by=lambda session: session.sid))
