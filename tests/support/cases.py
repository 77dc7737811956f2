"""Tables of cases: TOML files beside the tests, and tests that go through all rows and report every one that fails.

Owns how a row reaches a test. Must not know what a row means. A table of one test is one item for pytest: thousands of
small items cost more to collect than to run.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec
import pytest
from _pytest.mark.structures import ParameterSet

_T = TypeVar("_T")
Test = Callable[..., None]

_SHOWN = 200  # characters of a row in a report
_only: str | None = None


def run_only(text: str | None) -> None:
    """From now on, tests skip the rows that do not contain `text`."""
    global _only
    _only = text


def each(names: str, rows: Iterable[Any], *, ids: object = None) -> Callable[[Test], Test]:
    """Call a test with every row, as `parametrize` does, within one item. Each failing row is reported, with itself.

    For tests that leave nothing behind: all rows share the fixtures of the one item.
    """
    wanted = _split(names)
    given = list(rows)
    kept = [_values(row, len(wanted)) for row in given]
    labels = _labels(given, ids)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            _report([*_failures(test, wanted, zip(labels, kept, strict=True), fixtures)], len(kept))

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate


def each_case(names: str) -> Callable[[Test], Test]:
    """Like `each`, with the rows below the test's name in the TOML file of its module: `cases/x.toml` for `test_x.py`.

    A value becomes what the test's annotation says: a TOML array a tuple, a list or a set.
    """
    wanted = _split(names)

    def decorate(test: Test) -> Test:
        hints = get_type_hints(test)
        types = [hints[name] for name in wanted]
        kind: Any = list[types[0]] if len(types) == 1 else list[tuple[tuple(types)]]  # type: ignore[valid-type, misc]
        file = Path(inspect.getfile(inspect.unwrap(test)))
        return each(names, cases(file, test.__name__.removeprefix("test_"), kind))(test)

    return decorate


def cases(file: Path | str, name: str, type_: type[_T]) -> _T:
    """The table `name` for the module `file`, as a value of a type."""
    path = Path(file)
    table = _read(path.parent / "cases" / f"{path.stem.removeprefix('test_')}.toml")
    return msgspec.convert(table[name], type_)


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def _split(names: str) -> list[str]:
    return re.split(r"\s*,\s*", names.strip())


def _values(row: Any, wanted: int) -> Sequence[Any]:
    if isinstance(row, ParameterSet):
        return row.values
    return [row] if wanted == 1 else row


def _labels(rows: Sequence[object], ids: object) -> list[str]:
    if callable(ids):
        return [str(ids(row)) for row in rows]
    if isinstance(ids, Iterable):
        return [str(label) for label in ids]
    return [str(getattr(row, "id", None) or repr(row))[:_SHOWN] for row in rows]


def _failures(
    test: Test, names: list[str], rows: Iterable[tuple[str, Any]], fixtures: dict[str, Any]
) -> Iterable[Exception]:
    for label, row in rows:
        if _only is not None and _only not in label:
            continue
        try:
            test(**dict(zip(names, row, strict=True)), **fixtures)
        except Exception as error:
            error.add_note(f"row: {label}")
            yield error


def _report(failures: list[Exception], of: int) -> None:
    if len(failures) == 1:
        raise failures[0]
    if failures:
        rows = "\n".join(error.__notes__[-1] for error in failures)
        sys.stdout.write(rows)
        raise ExceptionGroup(f"{len(failures)} of {of} rows", failures)


def each_second(names: Iterable[str]) -> list[ParameterSet]:
    """All names in order, sorted; every other one is tried by `make soak` alone."""
    return [
        pytest.param(name, marks=[pytest.mark.soak] if number % 2 else []) for number, name in enumerate(sorted(names))
    ]
