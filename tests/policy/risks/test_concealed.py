"""Code that hides what it runs: it decodes or unpacks a text and runs the result."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.concealed import (
    fetches,
    hidden_risks,
    powershell_text,
    risks,
    runs_a_text,
    runs_its_input,
    runs_what_it_decodes,
    runs_what_it_fetched,
    url_that_runs,
)
from tests.policy.risks.readings import FOLDER, found
from tests.support.cases import each, each_case


@each_case("language, text")
def test_a_text_that_is_run_is_found(language: str, text: str) -> None:
    assert runs_a_text(language, text)


@each_case("language, text")
def test_a_text_that_stands_there_or_is_not_run_is_not(language: str, text: str) -> None:
    assert not runs_a_text(language, text)


@each_case("language, text")
def test_a_text_that_is_decoded_and_run_is_hidden(language: str, text: str) -> None:
    assert runs_what_it_decodes(language, text)


def test_decoding_alone_hides_nothing() -> None:
    assert not runs_what_it_decodes("python", "print(base64.b64decode(x))")
    assert not runs_what_it_decodes("python", "exec(x)")


@each_case("text")
def test_what_was_fetched_and_is_run_is_found_by_its_names(text: str) -> None:
    assert runs_what_it_fetched(text)


@each_case("text")
def test_what_was_fetched_and_is_used_is_work(text: str) -> None:
    assert not runs_what_it_fetched(text)


@each("text", ["exec(sys.stdin.read())", "eval(input())", "eval(require('fs').readFileSync(0))", "eval <STDIN>"])
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


@each_case("command")
def test_code_that_decodes_what_it_runs_is_found(command: str) -> None:
    assert found(hidden_risks, command) == {"hidden-code"}


@each_case("command")
def test_code_that_can_be_seen_is_not(command: str) -> None:
    assert found(hidden_risks, command) == set()


def test_a_bundle_on_disk_is_not_what_the_agent_gave() -> None:
    files = {f"{FOLDER}/bundle.js": "eval(atob(x));\n"}
    assert found(hidden_risks, "node bundle.js", files) == set()


@each_case("command")
def test_what_is_decoded_and_run_is_found(command: str) -> None:
    assert found(risks, command) == {"decodes-and-runs"}


@each_case("command")
def test_decoding_alone_is_work(command: str) -> None:
    assert found(risks, command) == set()
