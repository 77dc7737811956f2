"""Code that joins a shell with a connection, or runs what a connection or a host gives."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.received_code import joins_a_shell, runs_named
from tests.support.cases import each_case


@each_case("language, text")
def test_a_shell_for_a_connection_is_found(language: str, text: str) -> None:
    assert joins_a_shell(language, text)


@each_case("language, text")
def test_sockets_and_programs_that_are_not_joined_are_work(language: str, text: str) -> None:
    assert not joins_a_shell(language, text)


def test_what_is_merely_given_to_a_told_program_is_not_run() -> None:
    source = re.compile("fetch")
    assert runs_named("x = fetch(u)\nsubprocess.run(x, shell=True)", source)
    assert runs_named("x = fetch(u)\nsubprocess.run(['sh', '-c', x])", source)
    assert not runs_named("x = fetch(u)\nsubprocess.run(['git', 'checkout', x])", source)
    assert not runs_named("x = fetch(u)\nsubprocess.run(['ls'])", source)


@given(st.text(max_size=2000), st.sampled_from(["python", "awk", "powershell"]))
def test_any_text_is_judged_without_an_error(text: str, language: str) -> None:
    assert joins_a_shell(language, f"socket( {text} .recv( system( {text}") in (True, False)
