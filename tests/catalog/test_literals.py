"""What programs and agents are is in the catalogue: code has few lists of programs' names, and names agents nowhere else."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from ahocorasick_rs import AhoCorasick

from tallystick.catalog.agents import AGENTS, AgentFacts
from tests.catalog.test_spellings import names

SOURCE = Path(__file__).parents[2] / "src" / "tallystick"
READERS = ("graph", "guard", "intent", "lineage", "policy", "scrubbing")
ALLOWED = Path(__file__).with_name("literals.toml")
NAMES = Path(__file__).with_name("agent_names.toml")
FEWEST = 4
"""So many names of programs, and more names of programs than other words, make a list of programs."""
NEAR = 2 * FEWEST - 1
"""Of so many words in a row, some of such a list have as many names of programs."""
STRING = re.compile(
    r'''^[ ]*r?"""(?s:.*?)"""|"""((?s:.*?))"""|"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])*)'|#.*''', re.MULTILINE
)


def members(node: ast.AST) -> list[str]:
    """The words of a literal: of a collection, of the keys of a table of texts, of a text."""
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if isinstance(node, ast.Dict) and not all(isinstance(value, ast.Name | ast.Attribute) for value in node.values):
        return [one.value for one in node.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    return []


def quoted(text: str) -> list[str]:
    """What stands in quotation marks in a module, as it is spelled: without comments, docstrings and other long texts."""
    return [found[1] or found[2] or found[3] or "" for found in STRING.finditer(text)]


def may_have_lists(text: str) -> bool:
    """Whether names of programs stand as near to each other as in a list. To parse a module takes much longer."""
    known = names()
    words = (word for said in quoted(text) for word in said.split())
    at = [place for place, word in enumerate(words) if word in known]
    return any(last - first < NEAR for first, last in zip(at, at[FEWEST - 1 :], strict=False))


def lists_of_programs(text: str) -> Iterator[int]:
    """The lines on which such lists begin; docstrings do not count, nor what gives a rule its function."""
    tree = ast.parse(text)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    known = names()
    for node in ast.walk(tree):
        words = members(node) if id(node) not in told else []
        count = sum(word in known for word in words)
        if count >= FEWEST and count * 2 > len(words):
            yield node.lineno  # type: ignore[attr-defined]


def test_such_lists_are_found() -> None:
    code = (
        '"""cat ls cp mv rm"""\n'
        'A = frozenset(("cat", "ls", "cp", "mv"))\n'
        'B = names("cat ls cp mv x y z")\n'
        'C = {"cat": cat, "ls": ls, "cp": cp, "mv": mv}\n'
        'D = {"cat": 1, "ls": 2, "cp": 3, "mv": 4}\n'
        'E = ("cat", "ls", "cp", "x")\n'
        'F = ("cat", "ls", "cp", "mv", "s", "t", "u", "v")\n'
    )
    assert sorted(lists_of_programs(code)) == [2, 3, 5]
    assert [number for number, line in enumerate(code.splitlines(), 1) if may_have_lists(line)] == [2, 3, 4, 5, 7]


QUICK_OR_WHOLE = pytest.mark.parametrize(
    "is_every_module_parsed", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["quick", "whole"]
)


@QUICK_OR_WHOLE
def test_lists_of_programs_outside_the_catalogue_only_become_fewer(is_every_module_parsed: bool) -> None:
    sources = {path: path.read_text("utf-8") for folder in READERS for path in (SOURCE / folder).rglob("*.py")}
    found = Counter(
        path.relative_to(SOURCE).as_posix()
        for path, text in sources.items()
        if is_every_module_parsed or may_have_lists(text)
        for _ in lists_of_programs(text)
    )
    allowed = {path: entry["lists"] for path, entry in tomllib.loads(ALLOWED.read_text("utf-8")).items()}
    assert dict(found) == allowed, "put new lists into catalog/programs; of fewer lists, write the new number"


NAMES = Path(__file__).with_name("agent_names.toml")


def names_of(facts: AgentFacts) -> Iterator[str]:
    """What an agent, its programs, folders, packages and variables are called."""
    yield from (facts.name, facts.title, *facts.programs, *facts.other_programs, *facts.packages, *facts.settings_names)
    yield from (*facts.folders, *facts.folder_names, *facts.calls_itself, *facts.services)
    yield from (*facts.variables.folders, *facts.variables.moving, *facts.variables.project, *facts.variables.quiet)


def owner(path: str) -> str:
    """The agent whose folder, or whose plugin, a file belongs to; empty for none."""
    package, _, rest = path.partition("/")
    return re.split(r"[/.]", rest)[0].replace("_", "-") if package in ("agents", "plugins") else ""


def is_no_fact(node: ast.AST) -> bool:
    """Whether a part of a module is no statement about anything: names of modules, examples in a command's help."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) in ("__all__", "_EXAMPLE", "_EXAMPLES")
    return isinstance(node, ast.keyword) and node.arg == "example"


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The literals of a module, with their lines; neither docstrings nor what is no fact."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.lineno, tree.value
    for node in ast.iter_child_nodes(tree):
        if not is_no_fact(node):
            yield from texts(node)


ANY_NAME = AhoCorasick(sorted({name for facts in AGENTS.values() for name in names_of(facts)}))


@cache
def named(agent: str, words: tuple[str, ...]) -> re.Pattern[str]:
    """What names any agent but one."""
    own = {name for facts in AGENTS.values() if facts.name == agent for name in names_of(facts)}
    others = {name for facts in AGENTS.values() for name in names_of(facts)} - own - set(words)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(re.escape(name) for name in sorted(others))})(?![\w-])")


@cache
def spelled(others: re.Pattern[str]) -> re.Pattern[str]:
    """The same in a literal as it is spelled, where a letter may belong to an escape."""
    return re.compile(others.pattern.replace(r"(?<![\w-])", r"(?:(?<![\w-])|(?<=\\.))"))


def may_have_agents(path: str, text: str, words: Iterable[str] = ()) -> bool:
    """Whether a text in quotation marks names an agent. To parse a module takes much longer."""
    others = spelled(named(owner(path), tuple(words)))
    return any(ANY_NAME.find_matches_as_indexes(said) and others.search(said) for said in quoted(text))


def literals_with_agents(path: str, text: str, words: Iterable[str] = ()) -> list[int]:
    """The lines of literals in which an agent is named that the file does not belong to."""
    others = named(owner(path), tuple(words))
    return [line for line, said in texts(ast.parse(text)) if others.search(said)]


def test_names_of_agents_are_found() -> None:
    code = (
        '"""claude"""\n'
        '__all__ = ["headless", "codex"]\n'
        'A = "claude"\n'
        'B = f"{A} is Claude Code"\n'
        'C = "/\\\\.codex/config"\n'
        'D = command(example="tally install codex")\n'
        'E = "codexes"\n'
        'F = "CODEX_HOME"\n'
    )
    assert literals_with_agents("policy/x.py", code) == [3, 4, 5, 8]
    assert literals_with_agents("agents/codex/x.py", code) == [3, 4]
    assert literals_with_agents("agents/claude_code/x.py", code) == [5, 8]
    lines = [number for number, line in enumerate(code.splitlines(), 1) if may_have_agents("policy/x.py", line)]
    assert lines == [2, 3, 4, 5, 6, 8]


@QUICK_OR_WHOLE
def test_agents_are_named_in_the_catalogue_and_in_their_own_folders(is_every_module_parsed: bool) -> None:
    allowed = tomllib.loads(NAMES.read_text("utf-8"))
    words = allowed.pop("words")
    sources = {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    found = {
        name: len(lines)
        for name, text in sources.items()
        if not name.startswith(("catalog/", "samples/"))
        and (is_every_module_parsed or may_have_agents(name, text, words))
        and (lines := literals_with_agents(name, text, words))
    }
    expected = {name: entry["literals"] for name, entry in allowed.items()}
    assert found == expected, "put facts about an agent into catalog/agents; of fewer literals, write the new number"
