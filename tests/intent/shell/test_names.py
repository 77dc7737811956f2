"""Other names of the same program."""

from tallystick.intent.shell.names import canonical
from tests.support.cases import each_case


@each_case("name, expected")
def test_a_program_has_one_name(name: str, expected: str) -> None:
    assert canonical(name) == expected
    assert canonical(canonical(name)) == expected
