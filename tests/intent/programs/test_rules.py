from __future__ import annotations

import pytest

from tallystick.catalog.programs import Program
from tallystick.intent.actions import Actions
from tallystick.intent.programs.rules import Builder, filtering, plain
from tallystick.model.intent import Domain, Operation
from tallystick.model.script import STAR, Command, Word
from tests.intent.programs.acting import lines
from tests.support.cases import each_case


def run(rule: str, **roles: str) -> Actions:
    return plain(Program(rule="plain", **roles))(Command(words=tuple(Word(part) for part in f"x {rule}".split())))  # type: ignore[arg-type]


@each_case("selector, expected")
def test_a_selector_names_some_operands(selector: str, expected: list[str]) -> None:
    assert lines(run("a b c", read=selector)) == expected


def test_a_role_that_is_no_operation_is_refused() -> None:
    with pytest.raises(TypeError, match="paint"):
        Program(rule="plain", paint="operands")  # type: ignore[call-arg]


def test_what_is_read_goes_into_what_is_written() -> None:
    done = run("a b -o c", read="operands", write="-o")
    assert lines(done) == ["read a", "read b", "write c"]
    assert done.flows == ((0, 2), (1, 2))
    assert done.prints == ()


def test_a_filter_prints_what_it_reads_and_reads_its_input_without_a_file() -> None:
    rule = filtering(Program(rule="plain", read="operands"))
    with_file = rule(Command(words=(Word("x"), Word("a"))))
    assert (with_file.prints, with_file.reads_input) == ((0,), False)
    without = rule(Command(words=(Word("x"),)))
    assert (without.actions, without.reads_input) == ((), True)
    both = rule(Command(words=(Word("x"), Word("-"), Word("a"))))
    assert (both.prints, both.reads_input) == ((0,), True)


def test_input_that_goes_into_a_file_goes_nowhere_else() -> None:
    done = filtering(Program(rule="plain", read="operands", write="-o"))(
        Command(words=(Word("x"), Word("-o"), Word("f")))
    )
    assert lines(done) == ["write< f"]
    assert not done.reads_input


def test_a_dash_and_a_device_are_no_files() -> None:
    assert run("- /dev/null -o -", read="operands", write="-o").actions == ()


def test_files_are_edited_in_place_where_the_option_says_so() -> None:
    rule = filtering(Program(rule="plain", skips=1, in_place="-i", read="operands"))
    assert lines(rule(Command(words=tuple(map(Word, ("x", "-i", "s", "a")))))) == ["edit a"]
    assert lines(rule(Command(words=tuple(map(Word, ("x", "s", "a")))))) == ["read a"]


def test_each_operation_has_its_domain() -> None:
    built = Builder()
    for operation in Operation:
        built.add(operation, Word("a"))
    domains = {action.operation: action.domain for action in built.build().actions}
    assert domains[Operation.READ] is domains[Operation.EXECUTE] is Domain.FILE
    assert domains[Operation.SEND] is domains[Operation.LISTEN] is Domain.NETWORK
    assert domains[Operation.SIGNAL] is domains[Operation.SCHEDULE] is Domain.PROCESS
    assert domains[Operation.ELEVATE] is Domain.PRIVILEGE
    assert domains[Operation.UNKNOWN] is Domain.UNKNOWN


def test_an_address_keeps_no_wildcards() -> None:
    built = Builder()
    built.add(Operation.FETCH, Word(f"http://a/{STAR}"))
    (action,) = built.build().actions
    assert (action.target.text, action.words) == ("http://a/*", (Word(f"http://a/{STAR}"),))


def test_a_script_is_an_execution_as_well() -> None:
    built = Builder()
    built.run(Word("a"))
    built.run(Word("/dev/null"))
    done = built.build()
    assert done.scripts == (Word("a"),)
    assert lines(done) == ["execute a"]


def test_flows_are_bounded_and_never_lead_back() -> None:
    built = Builder()
    places = [built.add(Operation.READ, Word(str(n))) for n in range(100)]
    built.flow(places, [*places, None])
    done = built.build()
    assert 0 < len(done.flows) < 3000
    assert all(source != target for source, target in done.flows)
