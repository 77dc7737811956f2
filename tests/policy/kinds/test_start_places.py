"""The lists of places are in the form that paths are compared in, and every kind is explained."""

from tallystick.policy.kinds import start_places as places
from tallystick.policy.kinds.homes import plain
from tallystick.policy.kinds.persistence import KINDS
from tests.support.cases import each


@each("table", [places.IN_HOME, places.IN_HOME_FOLDERS, places.IN_SYSTEM, places.IN_SYSTEM_FOLDERS, places.NAMES])
def test_places_are_plain_and_their_kinds_are_explained(table: dict[str, str]) -> None:
    for path, kind in table.items():
        assert path == plain(path), path
        assert kind in KINDS


def test_places_of_the_system_are_absolute_and_those_of_homes_are_not() -> None:
    assert all(
        path.startswith("/") for path in (*places.IN_SYSTEM, *places.IN_SYSTEM_FOLDERS, *places.BEFORE_SYSTEM_TOO)
    )
    assert not any(path.startswith("/") for path in (*places.IN_HOME, *places.IN_HOME_FOLDERS, *places.BEFORE_SYSTEM))


def test_a_name_in_a_folder_is_plain_as_well() -> None:
    for (folder, name), kind in places.ANYWHERE.items():
        assert (folder, name) == (plain(folder), plain(name))
        assert kind in KINDS


def test_names_of_folders_and_programs_are_single_parts_in_lower_case() -> None:
    for name in places.AGENTS | places.EXTENSIONS | places.OF_USER | places.SHADOWED:
        assert "/" not in name
        assert name == name.lower()
