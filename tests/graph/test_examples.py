"""The example questions as they stand in their file."""

from tallystick.graph.examples import examples


def test_each_example_has_a_name_of_its_own_and_says_what_it_answers() -> None:
    found = examples()
    assert len({example.name for example in found}) == len(found) > 10
    assert [example.name for example in found if not example.answers.endswith(".")] == []


def test_an_example_is_one_statement_whose_values_all_have_a_default() -> None:
    for example in examples():
        assert example.sql.lower().startswith(("select", "with")), example.name
        assert ";" not in example.sql
        assert {name for name in example.values if f":{name}" not in example.sql} == set()


def test_the_values_of_an_example_are_not_part_of_what_it_says() -> None:
    (example,) = [example for example in examples() if example.name == "everything-about-a-file"]
    assert example.values == {"uri": "file:///home/dev/project/receipts/totals.py"}
    assert example.answers == "Everything known about a file: every relation of every version of it."
