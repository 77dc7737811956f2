"""The list of sessions: folding, finding, filtering."""

import asyncio
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tallystick.graph.queries import SessionRow
from tallystick.review.browse import SessionLine
from tallystick.sessions.tree import Forest, Node
from tallystick.tui.tree import Tree


def line_of(row: Any, parent: str | None, **more: Any) -> SessionLine:
    fields: dict[str, Any] = dict.fromkeys(SessionRow.__struct_fields__)
    fields |= {"session": row.session, "parent": parent, "agent": "demo", "status": "active", "failures": 0, **more}
    return SessionLine(row, SessionRow(**fields))


PARENTS = {"aaaaaaaa": None, "bbbbbbbb": "aaaaaaaa", "cccccccc": "bbbbbbbb", "dddddddd": "aaaaaaaa", "eeeeeeee": None}
FOREST = Forest(Node(session=sid, parent=parent, started=sid) for sid, parent in PARENTS.items())
LINES = [
    line_of(
        row, PARENTS[row.session], agent="other" if row.session[0] == "c" else "demo", title=f"title {row.session[0]}"
    )
    for row in FOREST.all_rows()
]


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield Tree()


def after(*keys: str, agents: tuple[str, ...] = (), find: str | None = None) -> tuple[list[str], str]:
    """The sessions that are seen, and the chosen one."""

    async def run() -> tuple[list[str], str]:
        app = Host()
        async with app.run_test(size=(60, 20)) as pilot:
            tree = app.query_one(Tree)
            tree.fill(LINES)
            tree.only(agents)
            tree.focus()
            await press(pilot, keys)
            if find is not None:
                assert tree.find(find)
            seen = ["".join(text for text, _ in tree.pieces(row, 60)) for row in range(tree.count)]
            assert tree.session is not None
            return seen, tree.session.session.session[0]

    return asyncio.run(run())


async def press(pilot: Pilot[None], keys: tuple[str, ...]) -> None:
    for key in keys:
        await pilot.press(key)
    await pilot.pause()


def letters(lines: list[str]) -> str:
    return "".join(line.rsplit("title ", 1)[1][0] for line in lines)


def test_what_hangs_on_a_session_stands_below_it_further_in() -> None:
    lines, _ = after()
    assert letters(lines) == "abcde"
    assert "├─" in lines[1] or "└─" in lines[1]
    assert lines[2].index("cccc") > lines[1].index("bbbb") > lines[0].index("aaaa")


def test_folding_hides_what_hangs_on_a_session_and_says_so() -> None:
    lines, chosen = after("left")
    assert (letters(lines), chosen) == ("ae", "a")
    assert lines[0].startswith("▸")
    assert letters(after("left", "right")[0]) == "abcde"


def test_folding_where_nothing_hangs_goes_to_what_it_hangs_on() -> None:
    assert after("j", "j", "h")[1] == "b"
    assert after("j", "j", "j", "h")[1] == "a"


def test_a_session_that_is_folded_away_is_found() -> None:
    lines, chosen = after("left", find="cccccccc")
    assert (letters(lines), chosen) == ("abcde", "c")


def test_sessions_of_an_agent_come_with_those_they_hang_on() -> None:
    assert letters(after(agents=("other",))[0]) == "abc"
    assert letters(after(agents=("demo",))[0]) == "abde"


def test_the_chosen_session_stays_chosen_when_the_list_is_filled_anew() -> None:
    async def run() -> str:
        app = Host()
        async with app.run_test(size=(60, 20)) as pilot:
            tree = app.query_one(Tree)
            tree.fill(LINES)
            tree.go(3)
            tree.fill([LINES[-1], *LINES[:-1]])
            await pilot.pause()
            assert tree.session is not None
            return tree.session.session.session[0]

    assert asyncio.run(run()) == "d"
