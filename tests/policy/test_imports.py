"""Modules that code loads from beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.imports import imported

LANGUAGES = ["python", "javascript", "typescript", "ruby", "perl", "php", "lua"]


def first(language: str, text: str, package: str | None = "/p/a") -> list[str]:
    return [candidates[0] for candidates in imported(language, text, ("/p",), package)]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "import lib", ["/p/lib.py"]),
        ("python", "import lib as l, other", ["/p/lib.py", "/p/other.py"]),
        ("python", "import a.b", ["/p/a.py", "/p/a/b.py"]),
        ("python", "from a import b, c as d", ["/p/a.py", "/p/a/b.py", "/p/a/c.py"]),
        ("python", "from a import (\n    b,\n)", ["/p/a.py", "/p/a/b.py"]),
        ("python", "from . import b", ["/p/a/__init__.py", "/p/a/b.py"]),
        ("python", "from ..x import b", ["/p/x.py", "/p/x/b.py"]),
        ("python", "x = 1; import lib; lib.go()", ["/p/lib.py"]),
        ("python", "import_module('lib.x')", ["/p/lib.py", "/p/lib/x.py"]),
        ("python", "import os, sys\nfrom json import loads\nimport numpy as np", []),
        ("javascript", "const a = require('./a')", ["/p/a/a"]),
        ("javascript", 'import x from "../b.mjs"', ["/p/b.mjs"]),
        ("javascript", 'import "./c"', ["/p/a/c"]),
        ("javascript", "await import(`./d.js`)", ["/p/a/d.js"]),
        ("javascript", "import fs from 'fs'; require('left-pad')", []),
        ("ruby", "require_relative 'lib/x'", ["/p/a/lib/x"]),
        ("perl", 'require "./x.pl"; use Local::Thing;', ["/p/a/x.pl", "/p/a/Local/Thing"]),
        ("php", "<?php include __DIR__ . '/x.php'; require_once('y.php');", ["/p/a/x.php", "/p/a/y.php"]),
        ("lua", "local x = require('x')", ["/p/a/x.lua"]),
        ("awk", "import x", []),
    ],
)
def test_where_modules_may_lie(language: str, text: str, expected: list[str]) -> None:
    assert first(language, text) == expected


def test_names_are_looked_for_in_all_folders() -> None:
    assert next(iter(imported("python", "import x", ("/a", "/b"), None))) == (
        "/a/x.py",
        "/a/x/__init__.py",
        "/b/x.py",
        "/b/x/__init__.py",
    )
    assert not any(imported("python", "from . import x", ("/a",), None))


@given(st.sampled_from(LANGUAGES), st.text(max_size=300))
def test_any_text_has_an_answer(language: str, text: str) -> None:
    assert len(list(imported(language, text, ("/p",), "/p"))) <= 200
