"""The pages on agents and export formats say what the code says.

`make check` compares what cog makes. Here is what people write: that nothing is missing in it, and nothing made up.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from tallystick import agents, exports
from tallystick.agents import Adapter, Shape, SourceFile
from tallystick.agents.hooks import hook_adapters
from tallystick.agents.kit.tables import Table
from tallystick.capture.sqlite_rows import read_rows
from tallystick.exports import headless
from tallystick.exports.jsonl import write
from tallystick.model.recorded import Recorded
from tallystick.model.step import Loss
from tests.support.cases import each

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "agents"
FORMATS = ROOT / "docs" / "exports"
RECORDINGS = ROOT / "tests" / "recordings"
CODE = ROOT / "src" / "tallystick"

SHARED = ("agents/kit/reading.py", "agents/kit/losses.py", "capture/history.py", "ingest/import_.py")
"""Code that makes losses whatever the agent is: the index explains their kinds."""
ANY_UNKNOWN = "unknown_…"
"""How a page names the kinds that hold a name from the source."""

# Kinds of loss as the code spells them. A kind that is computed is one of a table's, or holds a name from the source.
_KIND = re.compile(r"Loss\(\s*kind=((?:[^,()]|\([^()]*\))+)|_lose\(([^,()]+),|_pass_on\(line, ([^,()]+),")
_WORD = re.compile(r'(?<!f)"([a-z][\w-]*)"')
_UNKNOWN = re.compile(r'(?<!f)"(unknown_\w+)"')
_NAMED_UNKNOWN = re.compile(r'(?<![\w."])unknown\(|f"unknown_\{')
_TABLES_OF_KINDS = re.compile(r"(?:_\w*)?BOOKKEEPING|_HIDDEN_REASONING")
_BESIDE = re.compile(r"-(?:legacy|export)\Z")
_IMPORT = re.compile(r"^from tallystick\.agents\.([\w.]+) import \(?\s*(\w+)", re.MULTILINE)


def adapter_of(module: str) -> Adapter:
    return agents.adapters()[import_module(f"tallystick.agents.{module}").NAME]


def page_of(module: str) -> Path:
    """The older form of a history, and an export of it, share their agent's page."""
    return PAGES / f"{_BESIDE.sub('', adapter_of(module).NAME)}.md"


def file_of(module: str) -> Path:
    return (CODE / "agents").joinpath(*module.split(".")).with_suffix(".py")


def modules_of(module: str) -> list[str]:
    """An adapter's module, and those beside it that it is made of."""
    found, todo = [], [module]
    while todo:
        name = todo.pop()
        file = file_of(name)
        if name in found or not file.is_file() or file.relative_to(CODE).as_posix() in SHARED:
            continue
        found.append(name)
        for inner, imported in _IMPORT.findall(file.read_text("utf-8")):
            todo += [inner, f"{inner}.{imported}"]
    return found


def kinds_in(text: str) -> set[str]:
    """The kinds of loss that a piece of code spells out."""
    said = [expression for match in _KIND.findall(text) for expression in match]
    kinds = {word for expression in said for word in _WORD.findall(expression)} | set(_UNKNOWN.findall(text))
    return kinds | ({ANY_UNKNOWN} if _NAMED_UNKNOWN.search(text) else set())


@cache
def kinds_of(module: str) -> frozenset[str]:
    """The kinds of loss that an adapter's own code can yield, as far as that can be read off it."""
    kinds: set[str] = set()
    for name in modules_of(module):
        kinds |= kinds_in(file_of(name).read_text("utf-8"))
        for variable, value in vars(import_module(f"tallystick.agents.{name}")).items():
            if _TABLES_OF_KINDS.fullmatch(variable):
                kinds |= set(value)
            elif variable == "PULL_REQUESTS":
                kinds |= {f"{kind}{ending}" for kind in value for ending in ("", "_again")}
            elif variable == "TITLES":
                kinds |= {f"{kind}{ending}" for kind in (*value, "summary") for ending in ("", "_again")}
    return frozenset(kinds)


def test_kinds_are_read_off_the_code() -> None:
    text = 'Loss(kind="a_b", fault=True); Loss(kind=c or "d"); Loss(\n    kind="e" if f(1) else "g-h")'
    assert kinds_in(text) == {"a_b", "d", "e", "g-h"}
    assert kinds_in('Loss(kind=f"{kind}_again", detail="at")') == set()
    assert kinds_in('unknown(name, at); self._lose("j", offset); kind = "unknown_k"') == {ANY_UNKNOWN, "j", "unknown_k"}
    assert {"headless.legacy", "headless.transcript"} <= set(modules_of("headless.legacy"))
    assert "opencode.parts" in modules_of("opencode.transcript")
    assert {"original_file", "progress", "summary_again", ANY_UNKNOWN} <= kinds_of("claude_code.transcript")


# What readers really lose ---------------------------------------------------------------------------------------------

STRANGE = (
    b"{",
    b"\xff",
    b"[]",
    b"{}",
    b'{"a": 1, "a": 2}',
    b'{"type": "zz"}',
    b'{"role": "zz"}',
    b'{"type": "zz", "payload": {}}',
    b'{"_type": "footer"}',
    b'{"id": "", "events": [1], "zz": 1}',
    b'{"messages": [{}, {"role": "user", "content": []}], "history": [{}], "trajectory": [{}, {"query": [1]}]}',
)


def pieces(adapter: Adapter) -> Iterator[list[bytes]]:
    """What the recordings of an agent are made of, file by file, each piece twice; then what no agent would write."""
    for path in sorted(path for path in RECORDINGS.glob("*/*/**/*") if path.is_file()):
        head = path.read_bytes()[:65536]
        if adapter.recognises(str(path), head):
            if adapter.SHAPE is Shape.SQLITE:
                yield [text for text, _ in read_rows(path, tables(adapter)) for _ in range(2)]
            elif adapter.SHAPE is Shape.LINES:
                yield [line for line in path.read_bytes().splitlines() for _ in range(2)]
            else:
                yield [path.read_bytes()]
    if adapter.SHAPE is Shape.SQLITE:
        empty = [json.dumps({"table": table.name, "row": {}}).encode() for table in below(tables(adapter))]
        yield [*empty, b'{"table": "sqlite_master", "row": {"type": "table", "name": "zz"}}', *STRANGE]
    elif adapter.SHAPE is Shape.LINES:
        yield list(STRANGE)
    else:
        yield from ([text] for text in STRANGE)


def tables(adapter: Adapter) -> tuple[Table, ...]:
    return tuple(adapter.TABLES)  # type: ignore[attr-defined]


def below(found: Iterable[Table]) -> Iterator[Table]:
    for table in found:
        yield table
        yield from below(table.below)


@cache
def lost_by(module: str) -> frozenset[str]:
    """The kinds of loss that an adapter yields for its recordings and for strange input."""
    adapter, kinds = adapter_of(module), set()
    for texts in pieces(adapter):
        reader = adapter.reader(SourceFile("/home/dev/x/y.jsonl"))
        fed = [event for place, text in enumerate(texts) for event in reader.feed(text, place)]
        kinds |= {event.kind for event in [*fed, *reader.finish()] if isinstance(event, Loss)}
    return frozenset(kinds)


# The pages on agents --------------------------------------------------------------------------------------------------


def is_named(kind: str, page: str) -> bool:
    return f"`{kind}`" in page or (kind.startswith("unknown_") and f"`{ANY_UNKNOWN}`" in page)


def rows_under(heading: str, page: str) -> list[list[str]]:
    """The cells of the rows of all tables under a heading, without their heads."""
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    rules = [place for place, cells in enumerate(found) if set("".join(cells)) <= {"-"}]
    return [cells for place, cells in enumerate(found) if place not in rules and place + 1 not in rules]


def test_each_adapter_has_a_page_and_each_page_an_adapter() -> None:
    pages = {page.name for page in PAGES.glob("*.md")}
    assert {page_of(module).name for module in agents.NAMES} | {"README.md"} == pages


@each("module", agents.NAMES)
def test_a_page_names_where_the_history_lies(module: str) -> None:
    page, adapter = page_of(module).read_text("utf-8"), adapter_of(module)
    assert f"| `{adapter.NAME}` " in page
    assert [glob for glob in (*adapter.locate(), *adapter.COMPANIONS) if f"`{glob}`" not in page] == []


@each("module", agents.NAMES)
def test_a_page_shows_the_facts_of_its_own_adapter(module: str) -> None:
    shown = re.findall(r"_pages\.facts\(([^)]*)\)", page_of(module).read_text("utf-8"))
    assert [module in re.findall(r"[\w.]+", names) for names in shown] == [True]


@each("module", agents.NAMES)
def test_a_page_names_each_kind_of_loss_that_its_code_can_yield(module: str) -> None:
    page = page_of(module).read_text("utf-8")
    assert sorted(kind for kind in kinds_of(module) if not is_named(kind, page)) == []


@each("module", agents.NAMES)
def test_a_page_names_each_kind_of_loss_that_its_reader_yields(module: str) -> None:
    page = page_of(module).read_text("utf-8")
    assert lost_by(module) != set()
    assert sorted(kind for kind in lost_by(module) if not is_named(kind, page)) == []


@each("module", agents.NAMES)
def test_a_page_explains_no_kind_of_loss_that_its_code_does_not_have(module: str) -> None:
    rows = rows_under("Not in the record", page_of(module).read_text("utf-8"))
    explained = {kind for cells in rows for kind in re.findall(r"`([^`]+)`", cells[0])}
    sharing = [other for other in agents.NAMES if page_of(other) == page_of(module)]
    known = frozenset().union(*(kinds_of(other) | lost_by(other) for other in sharing))
    assert explained
    assert explained - known == set()


def named_first(part: str) -> list[str]:
    """The agents that the rows of a table begin with, as links."""
    return re.findall(r"^\| \[([\w-]+)\]", part, re.MULTILINE)


def test_the_index_lists_each_agent_in_both_tables_of_histories_and_no_other() -> None:
    page = (PAGES / "README.md").read_text("utf-8").partition("\n## Histories\n")[2]
    first, second = map(named_first, page.split("[[[end]]]")[:2])
    assert first == [adapter_of(module).NAME for module in agents.NAMES]
    assert second == [name for name in first if not _BESIDE.search(name)]


def test_each_agent_that_can_be_hooked_stands_in_each_table_on_hooks() -> None:
    page = (PAGES / "README.md").read_text("utf-8").partition("\n## Histories\n")[0]
    hooked = set(hook_adapters())
    assert named_first(page) == list(hook_adapters())
    for heading in ("What answers really do", "When a hook fails"):
        part = page.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
        rows = [line.strip("| ").split(" | ")[0] for line in part.splitlines() if line.startswith("| ")]
        assert {name for row in rows[1:] for name in row.split(", ")} == hooked


@each("agent", hook_adapters())
def test_a_page_says_how_its_agent_is_hooked_and_what_its_hooks_do_not_tell(agent: str) -> None:
    live = (PAGES / f"{agent}.md").read_text("utf-8").partition("\n## Live\n")[2]
    shown = set(re.findall(r"_live\.(\w+)\(\"([\w-]+)\"", live))
    assert {("connected", agent), ("change", agent), ("unseen", agent)} <= shown
    assert {name for _, name in shown} == {agent}
    assert "**When the hook fails.**" in live
    assert "**Ask" in live


def test_each_run_of_a_real_agent_stands_on_the_page_of_that_agent() -> None:
    runs = json.loads((PAGES / "matrix.json").read_text("utf-8"))["runs"]
    pages = {run["agent"]: (PAGES / f"{run['agent']}.md").read_text("utf-8") for run in runs.values()}
    for run in runs.values():
        if any(cell["made"] for cell in run["cells"].values()):
            assert f"| {run['agent']}" in pages[run["agent"]]
            assert f" | {run['version']} | " in pages[run["agent"]]


def test_the_index_explains_the_losses_that_any_file_can_have() -> None:
    page = (PAGES / "README.md").read_text("utf-8")
    kinds = set().union(*(kinds_in((CODE / name).read_text("utf-8")) for name in SHARED))
    assert {"bad_line", "half_line", "unsealable"} <= kinds
    explained = {re.findall(r"`([^`]+)`", cells[0])[0] for cells in rows_under("What any file can lose", page)}
    assert {kind for kind in kinds if not kind.startswith("unknown_")} | {ANY_UNKNOWN} == explained


def test_no_page_asks_for_an_agent_that_is_not_there() -> None:
    known = set(agents.adapters())
    named = {
        (page.name, name)
        for page in [*PAGES.glob("*.md"), *FORMATS.glob("*.md")]
        for name in re.findall(r"--agent ([\w-]+)", " ".join(page.read_text("utf-8").split()))
    }
    assert named
    assert {(page, name) for page, name in named if name not in known} == set()


# The pages on formats -------------------------------------------------------------------------------------------------


def test_each_format_has_a_page_and_each_page_a_format() -> None:
    assert {page.stem for page in FORMATS.glob("*.md")} == {
        import_module(f"tallystick.exports.{module}").NAME for module in exports.NAMES
    }


@each("module", exports.NAMES)
def test_a_page_says_what_its_format_cannot_carry(module: str) -> None:
    exporter = import_module(f"tallystick.exports.{module}")
    page = (FORMATS / f"{exporter.NAME}.md").read_text("utf-8")
    assert [loss for loss in exporter.LOSSES if f"\n- {loss}\n" not in page] == []


def test_the_page_on_ledgers_names_each_member_and_each_check() -> None:
    page = (FORMATS / "ledger.md").read_text("utf-8")
    ledger = import_module("tallystick.exports.ledger")
    named = re.findall(r"`(\w+)`", "".join(cells[0] for cells in rows_under("Members", page)))
    assert sorted(named) == sorted(ledger._ORDER)
    assert [check for check in ledger.Check if f"*{check.value}*" not in page] == []


def test_the_page_on_jsonl_names_each_member() -> None:
    page = (FORMATS / "jsonl.md").read_text("utf-8")
    step = Recorded(
        session="s",
        n=1,
        hash="h",
        prev="p",
        meta={"type": "user", "source": "sdk", "ts": "t", "recorded": "r", "tool": "Bash"},
        values={"content.text": "x", "personal.cwd": "y"},
        parents=("q",),
        raw={"content.part_0": b"z"},
        withheld=("content.gone",),
    )
    (line,) = write([step], session="s", with_content=True)
    named = re.findall(r"`(\w+)`", "".join(cells[0] for cells in rows_under("Members", page)))
    assert named == list(json.loads(line))


def test_the_page_on_the_headless_log_names_each_member() -> None:
    page = (FORMATS / "headless.md").read_text("utf-8")
    members = (*headless.EVENT_MEMBERS, *headless.META_KINDS)
    assert [name for name in members if f"`{name}`" not in page] == []
