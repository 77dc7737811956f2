"""Where agents' files are."""

from pathlib import Path

from tallystick.capture.agent_files import named_folder, path_of
from tallystick.capture.surroundings import Surroundings
from tallystick.catalog.agents import Base, Place
from tests.support.cases import each

WHERE = Surroundings(user=Path("/home/dev"), environment={"CODEX_HOME": "~/x", "EMPTY": ""}, project=Path("/w/p"))


def _place(path: str, base: Base = Base.USER, variable: str | None = None) -> Place:
    return Place(path=path, base=base, variable=variable)


@each(
    "place, path, base",
    [
        (_place(".codex/config.toml"), "/home/dev/.codex/config.toml", "/home/dev"),
        (_place(".codex/config.toml", variable="CODEX_HOME"), "/home/dev/x/config.toml", "/home/dev/x"),
        (_place(".codex/config.toml", variable="EMPTY"), "/home/dev/.codex/config.toml", "/home/dev"),
        (_place("AGENTS.md", Base.PROJECT), "/w/p/AGENTS.md", "/w/p"),
        (_place("etc/codex/config.toml", Base.MANAGED), "/top/etc/codex/config.toml", "/top"),
    ],
)
def test_a_place_is_a_path(place: Place, path: str, base: str) -> None:
    assert path_of(place, WHERE, Path("/top")) == (Path(path), Path(base))


def test_without_a_project_there_is_none_of_its_files() -> None:
    assert path_of(_place("AGENTS.md", Base.PROJECT), Surroundings(user=Path("/home/dev")), Path("/")) is None


def test_a_variable_may_name_a_folder_of_the_users() -> None:
    assert named_folder("~/x", Path("/home/dev")) == Path("/home/dev/x")
    assert named_folder("/x", Path("/home/dev")) == Path("/x")
