"""The table of Python's libraries."""

import inspect
import os
import shutil
import sqlite3
import sys

from tallystick.intent.code import python_names as names
from tallystick.model.intent import Operation


def test_every_rule_names_an_argument_that_the_function_has() -> None:
    for name in (
        "os.remove",
        "os.rmdir",
        "os.mkdir",
        "os.chmod",
        "os.truncate",
        "shutil.rmtree",
        "shutil.chown",
    ):
        rule = names.CALLS[name]
        function = getattr({"os": os, "shutil": shutil}[name.split(".")[0]], name.split(".")[1])
        parameters = list(inspect.signature(function).parameters)
        assert parameters[rule.place] in rule.names, name


def test_rules_are_about_what_can_be_done() -> None:
    assert all(rule.operation is not Operation.UNKNOWN for rule in names.CALLS.values())
    assert names.CALLS["sqlite3.connect"].operation is Operation.EDIT
    assert callable(sqlite3.connect)
    tables = [names.CALLS.keys(), names.COPIES, names.MOVES, names.LISTS, names.GLOBS, names.SHELLS, names.PROGRAMS]
    seen = [name for table in (*tables, names.EXECS, names.OPENERS, names.TEMPORARY) for name in table]
    assert len(seen) == len(set(seen))


def test_the_standard_library_is_known_whatever_reads() -> None:
    public = {name for name in sys.stdlib_module_names if not name.startswith("_")} - {"antigravity", "this"}
    if sys.version_info[:2] == (3, 11):
        assert public <= names.INERT
    assert "mine" not in names.INERT
