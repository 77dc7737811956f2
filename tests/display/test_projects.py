"""The names of projects."""

import pytest

from tallystick.display.projects import project_name


@pytest.mark.parametrize(
    ("folder", "name"),
    [("/srv/shop", "shop"), ("C:\\work\\shop\\", "shop"), ("/", ""), (None, ""), ("/a/\x1b[1m", "␛[1m")],
)
def test_a_project_is_named_by_its_folder(folder: str | None, name: str) -> None:
    assert project_name(folder) == name
