"""One part of what a tree does, as a stream: `python -m tools.same.probe PART OUT --input TREE [--data DIR] …`.

Runs in the tree's own process, with its sources first on the path, in a folder that has the same name for both trees.
"""

from __future__ import annotations

from tools.same import frozen

frozen.freeze()  # before anything of the program is imported

import argparse  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

from tools.same.stream import Emit, emitting  # noqa: E402


def main() -> None:
    """Write one part."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part")
    parser.add_argument("out", type=Path)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=1)
    given = parser.parse_args()
    import tallystick

    assert Path(tallystick.__file__ or "").is_relative_to(Path(os.environ["SAME_TREE"])), tallystick.__file__
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    os.chdir(given.work)
    with given.out.open("w", encoding="utf-8") as file:
        name, _, number = given.part.partition(":")
        figure = _PARTS[name](given, emitting(file), number)
    shutil.rmtree(given.work, ignore_errors=True)
    print(figure)


def _journals(given: argparse.Namespace, emit: Emit, _: str) -> str:
    from tools.same.commands import Tally
    from tools.same.stores import graph_facts, lay_out, make_store, store_facts, together

    stores = lay_out(given.input, given.data, given.work / "input")
    alone = [name for number, name in enumerate(sorted(stores)) if number % given.sample == 0]
    names = list(dict.fromkeys([*alone, *together(stores)]))
    rows = 0
    for name in names:
        store = make_store(Tally(given.work, emit), name, stores)
        if store.is_dir():
            store_facts(store, name, emit)
            rows += graph_facts(store, name, emit)
    return f"{len(names)} stores, {rows:,} rows"


def _commands(given: argparse.Namespace, emit: Emit, number: str) -> str:
    from tools.same.commands import Tally, command_facts
    from tools.same.stores import lay_out, make_store, together

    stores = lay_out(given.input, given.data, given.work / "input")
    tally = Tally(given.work, emit)
    for name in together(stores)[int(number) : int(number) + 1]:
        store = make_store(tally, name, stores)
        command_facts(tally, name, store, sample=given.sample)
    return f"{tally.runs} commands"


def _decisions(given: argparse.Namespace, emit: Emit, number: str) -> str:
    from tools.same.decisions import decision_facts
    from tools.same.stores import lay_out, together

    part, parts = map(int, number.split("/"))
    stores = lay_out(given.input, given.data, given.work / "input")
    histories = [given.work / "input" / name for name in together(stores)]
    made = decision_facts(given.input, histories, emit, part=part, parts=parts, sample=given.sample)
    return f"{made:,} decisions"


def _live(given: argparse.Namespace, emit: Emit, _: str) -> str:
    from tools.same.live import live_facts

    return live_facts(given.input, given.work, emit, sample=given.sample)


_PARTS = {"journals": _journals, "commands": _commands, "decisions": _decisions, "live": _live}

if __name__ == "__main__":
    main()
    sys.stdout.flush()
