"""Where agents' files are."""

from pathlib import Path

from tallystick.agents.settings import managed, project, user
from tallystick.capture.agent_files import named_folder, path_of
from tallystick.capture.surroundings import Surroundings
from tests.support.cases import each

WHERE = Surroundings(user=Path("/home/dev"), environment={"CODEX_HOME": "~/x", "EMPTY": ""}, project=Path("/w/p"))


@each(
    "place, path, base",
    [
        (user(".codex/config.toml"), "/home/dev/.codex/config.toml", "/home/dev"),
        (user(".codex/config.toml", variable="CODEX_HOME"), "/home/dev/x/config.toml", "/home/dev/x"),
        (user(".codex/config.toml", variable="EMPTY"), "/home/dev/.codex/config.toml", "/home/dev"),
        (project("AGENTS.md"), "/w/p/AGENTS.md", "/w/p"),
        (managed("etc/codex/config.toml"), "/top/etc/codex/config.toml", "/top"),
    ],
)
def test_a_place_is_a_path(place: object, path: str, base: str) -> None:
    assert path_of(place, WHERE, Path("/top")) == (Path(path), Path(base))  # type: ignore[arg-type]


def test_without_a_project_there_is_none_of_its_files() -> None:
    assert path_of(project("AGENTS.md"), Surroundings(user=Path("/home/dev")), Path("/")) is None


def test_a_variable_may_name_a_folder_of_the_users() -> None:
    assert named_folder("~/x", Path("/home/dev")) == Path("/home/dev/x")
    assert named_folder("/x", Path("/home/dev")) == Path("/x")
