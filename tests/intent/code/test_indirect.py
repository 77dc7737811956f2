from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.indirect import plain_members, plain_names, plain_sends


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("require('fs')['rmSync'](x)", "require('fs').rmSync(x)"),
        ('fs["rm" + "Sync"](x)', "fs.rmSync(x)"),
        ("os['exe'..'cute']('a')", "os.execute('a')"),
        ("import('fs').then(f => f.rmSync(x))", "f = require('fs'); ( f.rmSync(x))"),
        ("import('fs').then(async (f) => f.rmSync(x))", "f = require('fs'); ( f.rmSync(x))"),
        ("x['name'] = 1; y[key](z); const a = ['b', 'c']", "x['name'] = 1; y[key](z); const a = ['b', 'c']"),
    ],
)
def test_members_that_a_text_names_are_members(text: str, plain: str) -> None:
    assert plain_members(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Kernel.send(:system, 'a')", "system( 'a')"),
        ("send 'system', 'a'", "system  'a'"),
        ("FileUtils.public_send(:rm_rf, x)", "FileUtils.rm_rf( x)"),
        ("mailer.send(message)", "mailer.send(message)"),
    ],
)
def test_what_is_sent_by_name_is_called(text: str, plain: str) -> None:
    assert plain_sends(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('call_user_func("system", "a")', 'system( "a")'),
        ('$f = "sys"."tem"; $f("a");', '$f = "sys"."tem"; system("a");'),
        ('$f = g("x"); $f("a");', '$f = g("x"); $f("a");'),
    ],
)
def test_functions_that_are_called_by_name_are_called(text: str, plain: str) -> None:
    assert plain_names(text) == plain


@given(st.text(alphabet="[]'\"ab+.(){}$=;: \nimportsend,>", max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    for plain in (plain_members, plain_sends, plain_names):
        assert isinstance(plain(text), str)
