"""Code that runs a text which does not stand in it."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.evaluating import (
    fetches,
    powershell_text,
    runs_a_text,
    runs_its_input,
    runs_what_it_decodes,
    runs_what_it_fetched,
    url_that_runs,
)

RUNS = (
    ("python", "exec(x)"),
    ("python", "eval(f())"),
    ("python", "exec(''.join(x))"),
    ("python", "exec(compile(x,'a','exec'))"),
    ("javascript", "eval(x)"),
    ("javascript", "p.then(eval)"),
    ("javascript", "new Function(x)()"),
    ("javascript", "vm.runInThisContext(x)"),
    ("perl", "eval $x"),
    ("perl", "eval get($u)"),
    ("ruby", "eval(x)"),
    ("ruby", "instance_eval x"),
    ("php", "eval($x);"),
    ("php", "assert($x);"),
    ("lua", "load(x)()"),
    ("powershell", "iex $x"),
    ("r", "eval(parse(text=x))"),
)
RUNS_NOTHING = (
    ("python", "exec('print(1)')"),
    ("python", "re.compile(x)"),
    ("python", "ast.literal_eval(x)"),
    ("python", "model.eval()"),
    ("python", "df.eval(x)"),
    ("python", "exec(open('a.py').read())"),
    ("javascript", "page.$eval(x)"),
    ("javascript", "eval('1')"),
    ("javascript", "a.evaluate(x)"),
    ("perl", "eval { f() }"),
    ("perl", "eval 'x'"),
    ("ruby", "evaluate(x)"),
    ("php", "$x->eval($y);"),
    ("lua", "load('x')"),
    ("powershell", "Get-ChildItem"),
    ("r", "print(1)"),
    ("python", ""),
)
DECODES = (
    ("python", "exec(base64.b64decode(x))"),
    ("python", "exec(bytes.fromhex(x))"),
    ("python", "exec(codecs.decode(x,'rot13'))"),
    ("javascript", "eval(atob(x))"),
    ("javascript", "eval(Buffer.from(x,'base64').toString())"),
    ("perl", "eval decode_base64($x)"),
    ("ruby", "eval(Base64.decode64(x))"),
    ("php", "eval(gzinflate(base64_decode($x)));"),
)
FETCHED = (
    "r=requests.get(u); os.system(r.text)",
    "d=urlopen(u).read()\nsubprocess.run(d, shell=True)",
    "fetch(u).then(r=>r.text()).then(t=>require('child_process').execSync(t))",
    "c=check_output(['curl',u])\nos.system(c)",
)
NOT_RUN = (
    "v=requests.get(u).json()\nsubprocess.run(['git','checkout',v])",
    "d=requests.get(u).text\nprint(d)",
    "os.system('ls')",
    "fetch(u).then(r=>r.json()).then(console.log)",
)


@pytest.mark.parametrize(("language", "text"), RUNS)
def test_a_text_that_is_run_is_found(language: str, text: str) -> None:
    assert runs_a_text(language, text)


@pytest.mark.parametrize(("language", "text"), RUNS_NOTHING)
def test_a_text_that_stands_there_or_is_not_run_is_not(language: str, text: str) -> None:
    assert not runs_a_text(language, text)


@pytest.mark.parametrize(("language", "text"), DECODES)
def test_a_text_that_is_decoded_and_run_is_hidden(language: str, text: str) -> None:
    assert runs_what_it_decodes(language, text)


def test_decoding_alone_hides_nothing() -> None:
    assert not runs_what_it_decodes("python", "print(base64.b64decode(x))")
    assert not runs_what_it_decodes("python", "exec(x)")


@pytest.mark.parametrize("text", FETCHED)
def test_what_was_fetched_and_is_run_is_found_by_its_names(text: str) -> None:
    assert runs_what_it_fetched(text)


@pytest.mark.parametrize("text", NOT_RUN)
def test_what_was_fetched_and_is_used_is_work(text: str) -> None:
    assert not runs_what_it_fetched(text)


@pytest.mark.parametrize(
    "text", ["exec(sys.stdin.read())", "eval(input())", "eval(require('fs').readFileSync(0))", "eval <STDIN>"]
)
def test_code_that_runs_its_input_is_found(text: str) -> None:
    assert runs_its_input(text)
    assert not runs_its_input("json.load(sys.stdin)")


def test_the_url_that_code_is_taken_from_is_told() -> None:
    assert url_that_runs('include "https://x.org/a.php";') == "https://x.org/a.php"
    assert url_that_runs("import x from 'https://x.org/a.js'") == "https://x.org/a.js"
    assert url_that_runs('source("https://x.org/a.R")') == "https://x.org/a.R"
    assert url_that_runs("fetch('https://x.org/a')") is None


def test_code_of_a_language_that_is_not_read_is_looked_through_for_hosts() -> None:
    assert fetches("(New-Object Net.WebClient).DownloadString('x')")
    assert not fetches("Get-ChildItem")


@given(st.text(max_size=200).filter(lambda text: max(text, default="") < "\ud800" or max(text) > "\udfff"))
def test_an_encoded_command_is_decoded(text: str) -> None:
    encoded = base64.b64encode(text.encode("utf-16-le")).decode()
    assert powershell_text(encoded) == text
    assert powershell_text("*") is None or powershell_text("*") == ""


@given(st.text(max_size=1000))
def test_any_text_is_judged_without_an_error(text: str) -> None:
    for language in ("python", "javascript", "perl", "ruby", "php", "lua", "powershell", "r"):
        assert runs_a_text(language, f"eval({text}") in (True, False)
    powershell_text(text)
