"""Loops and cycles of a text."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_script
from tallystick.model.script import Cycle, Loop, Script, Word
from tests.support.cases import each, each_case


def read(text: str, own: str = "./b.sh") -> Script:
    return read_script(text, Environment(variables={"HOME": "/home/dev"}, folder="/home/dev/p"), (Word(own),))


@each(
    "text, loop",
    [
        ("while true; do sleep 9 & done", Loop(is_endless=True, behind=("sleep",))),
        ("until false; do (x &); done", Loop(is_endless=True, behind=("x",))),
        ("for ((;;)); do yes & done", Loop(is_endless=True, behind=("yes",))),
        ("while [ 1 = 1 ]; do x; done", Loop(is_endless=True, waits=("x",))),
        ("while ! true; do x; done", Loop(waits=("x",))),
        ("while read l; do x; done", Loop(waits=("x",))),
        ("for i in $(seq 1 1000); do c $i; done", Loop(rounds=1000, waits=("c",))),
        ("for i in $(seq 5 10); do c; done", Loop(rounds=6, waits=("c",))),
        ("for i in {1..20} a b; do c; done", Loop(rounds=22, waits=("c",))),
        ("for ((i=0;i<50;i++)); do c; done", Loop(rounds=50, waits=("c",))),
        ("i=0; while [ $i -lt 90 ]; do c; i=$((i+1)); done", Loop(rounds=90, waits=("c",))),
        ("for f in *.py; do c; done", Loop(waits=("c",))),
        ("while true; do echo x >> f; done", Loop(is_endless=True, waits=("echo",), appends=True)),
        ("while true; do echo x >> /dev/stderr; done", Loop(is_endless=True, waits=("echo",))),
    ],
)
def test_a_loop_says_how_often_and_what_it_waits_for(text: str, loop: Loop) -> None:
    assert read(text).loops == (loop,)


@each_case("text, is_sure")
def test_what_starts_itself_again_is_a_cycle(text: str, is_sure: bool) -> None:
    assert [cycle.is_sure for cycle in read(text).cycles] == [is_sure]


def test_two_functions_that_start_each_other_are_cycles() -> None:
    assert {cycle.name for cycle in read("a(){ b|b& }; b(){ a|a& }; a").cycles} == {"a", "b"}


def test_a_cycle_that_is_given_something_may_come_to_an_end() -> None:
    given = read('walk() { for f in "$1"/*; do walk "$f" & done; }; walk .').cycles
    assert given == (Cycle(name="walk", is_sure=False, is_given=True),)


@each_case("text")
def test_what_goes_on_in_one_process_is_no_cycle(text: str) -> None:
    assert read(text).cycles == ()


def test_variables_of_the_shell_are_noted() -> None:
    assert read("unset HISTFILE; export HISTSIZE=0; x=1").assigned == (("HISTFILE", ""), ("HISTSIZE", "0"))


@given(st.text(alphabet=":(){}|&; \n$0fdowhileuntrs[]1", max_size=120))
def test_any_text_is_looked_at(text: str) -> None:
    found = read(text)
    assert len(found.loops) <= 200
