from __future__ import annotations

from itertools import permutations
from pathlib import Path

from tallystick.agents import Adapter, Reader, Shape, SourceFile, adapters
from tallystick.capture.discover import Found, Refused, discover, first_time, reading_order, recognise

SAMPLES = Path(__file__).parents[2] / "src" / "tallystick" / "samples" / "home"


def unpacked(tmp_path: Path) -> Path:
    """The shipped samples as a home folder."""
    home = tmp_path / "home"
    for path in SAMPLES.rglob("*"):
        if path.is_file():
            relative = path.relative_to(SAMPLES).as_posix().replace("dot-", ".")
            target = home / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return home


def known() -> dict[str, Adapter]:
    return adapters()


def test_the_histories_of_a_home_folder_are_found_and_named(tmp_path: Path) -> None:
    found = [item for item in discover(unpacked(tmp_path), known()) if isinstance(item, Found)]
    agents = {item.agent for item in found}
    assert {"claude-code", "codex", "gptme", "headless"} <= agents
    assert all(item.size == item.path.stat().st_size for item in found)


def test_every_sample_is_recognised_as_its_agents_and_only_once(tmp_path: Path) -> None:
    home = unpacked(tmp_path)
    by_search = {item.path: item.agent for item in recognise([home], known()) if isinstance(item, Found)}
    by_place = {item.path: item.agent for item in discover(home, known()) if isinstance(item, Found)}
    assert by_place.items() <= by_search.items()


def test_a_folder_is_walked_without_following_links_to_folders(tmp_path: Path) -> None:
    home = unpacked(tmp_path)
    (home / "again").symlink_to(home, target_is_directory=True)
    paths = [item.path for item in recognise([home], known()) if isinstance(item, Found)]
    assert len(paths) == len(set(paths))
    assert not any("again" in path.parts for path in paths)


def test_an_empty_home_has_no_histories(tmp_path: Path) -> None:
    assert list(discover(tmp_path, known())) == []


def test_what_was_named_and_is_no_history_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (refused,) = recognise([tmp_path / "notes.txt"], known())
    assert isinstance(refused, Refused)
    assert "is not a history of" in refused.why


def test_files_are_read_parents_first_then_by_time_then_by_path() -> None:
    files = [
        Found(Path("/p/s/subagents/agent-1.jsonl"), "a", 1, "2026-01-01"),
        Found(Path("/p/z.jsonl"), "a", 1, "2026-01-02"),
        Found(Path("/p/b.jsonl"), "a", 1, "2026-01-03"),
        Found(Path("/p/a.jsonl"), "a", 1, "2026-01-03"),
    ]
    assert [item.path.name for item in reading_order(files)] == ["z.jsonl", "a.jsonl", "b.jsonl", "agent-1.jsonl"]


def test_the_first_time_in_a_file_is_found_and_normalised() -> None:
    assert first_time(b'{"x":1,"timestamp":"2026-01-02T03:04:05+01:00"}') == "2026-01-02T02:04:05.000000Z"
    assert first_time(b"no time here") == ""


class Sure:
    """An adapter that says of every file how sure it is."""

    SHAPE = Shape.LINES
    GLOBAL_IDS = False
    COMPANIONS: tuple[str, ...] = ()

    def __init__(self, name: str, sure: int) -> None:
        self.NAME = name
        self._sure = sure

    def locate(self) -> tuple[str, ...]:
        return ()

    def recognises(self, path: str, head: bytes) -> int:
        return self._sure

    def reader(self, file: SourceFile) -> Reader:
        raise AssertionError("nothing is read here")


def test_the_surest_agent_is_given_the_file_whatever_the_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}")
    agents: list[Adapter] = [Sure("a", 2), Sure("b", 3), Sure("c", 0)]
    for order in permutations(agents):
        (found,) = recognise([path], {each.NAME: each for each in order})
        assert isinstance(found, Found)
        assert found.agent == "b"


def test_between_agents_that_are_as_sure_a_person_must_choose(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}")
    agents: list[Adapter] = [Sure("a", 2), Sure("b", 2), Sure("c", 1)]
    for paths in ([path], [tmp_path]):
        (refused,) = recognise(paths, {each.NAME: each for each in agents})
        assert isinstance(refused, Refused)
        assert "can be read as a or b" in refused.why
        assert "--agent" in refused.why
