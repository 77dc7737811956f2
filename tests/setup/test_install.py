from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.agents.hooks import hook_adapters
from tallystick.capture import recorder, settings_files
from tallystick.capture.installation import Kind
from tallystick.capture.loopback import Loopback, read_loopback
from tallystick.capture.place import Place as Files
from tallystick.capture.settings_files import write_settings
from tallystick.capture.surroundings import Surroundings
from tallystick.errors import FormatError, SourceError, UsageError
from tallystick.journal.home import Home
from tallystick.setup import install as operation
from tallystick.setup.install import (
    called_installations,
    hook_command,
    hooked_events,
    install,
    own_installation,
    passing_installation,
    uninstall,
)
from tallystick.workspace.settings import set_setting

AGENTS = tuple(hook_adapters())


class Place:
    """A user's home folder with a store, and a project."""

    def __init__(self, folder: Path) -> None:
        self.user, self.project = folder / "user", folder / "project"
        self.user.mkdir()
        self.project.mkdir()
        self.home = Home(folder / "store")
        self.where = Surroundings(user=self.user)

    def files(self) -> dict[str, bytes | None]:
        """All that is in the home folder and the project; None for a folder."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for folder in (self.user, self.project)
            for path in sorted(folder.rglob("*"))
        }


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    assert list(tmp_path.rglob("*.tmp")) == []


def _where(place: Place, project: bool) -> Surroundings:
    return Surroundings(user=place.user, project=place.project if project else None)


def _claude(place: Place, text: bytes) -> Path:
    path = place.user / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text)
    return path


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("project", [False, True])
def test_installing_twice_is_as_once_and_uninstalling_leaves_nothing(place: Place, agent: str, project: bool) -> None:
    where = _where(place, project)
    if not hook_adapters()[agent].settings(project=project):
        with pytest.raises(UsageError, match="no project hooks"):
            install(place.home, agent, where)
        return
    before = place.files()
    planned = install(place.home, agent, where, dry_run=True)
    assert place.files() == before
    report = install(place.home, agent, where)
    assert [(file.path, file.after) for file in planned.files] == [(file.path, file.after) for file in report.files]
    assert report.events == hooked_events(agent, where) == hook_adapters()[agent].EVENTS
    installed = place.files()
    assert not install(place.home, agent, where).is_changed
    assert place.files() == installed
    assert all(file.restored for file in uninstall(place.home, agent, where, dry_run=True).files)
    assert place.files() == installed
    uninstall(place.home, agent, where)
    assert place.files() == before
    assert uninstall(place.home, agent, where).files == ()
    assert not any((place.home.folder / "backups").iterdir())


def test_the_bytes_come_back_even_where_nobody_could_know_them(place: Place) -> None:
    path = _claude(place, b" \n\t")
    install(place.home, "claude-code", place.where)
    assert json.loads(path.read_bytes())["hooks"]
    uninstall(place.home, "claude-code", place.where)
    assert path.read_bytes() == b" \n\t"


def test_what_the_user_changed_since_stays(place: Place) -> None:
    path = _claude(place, b'{\n  "a": 1\n}\n')
    install(place.home, "claude-code", place.where)
    path.write_bytes(path.read_bytes().replace(b'"a": 1', b'"a": 2'))
    (file,) = uninstall(place.home, "claude-code", place.where).files
    assert not file.restored
    assert path.read_bytes() == b'{\n  "a": 2\n}\n'


def test_a_file_of_ours_that_the_user_added_to_stays_without_us(place: Place) -> None:
    install(place.home, "claude-code", place.where)
    path = place.user / ".claude" / "settings.json"
    path.write_bytes(path.read_bytes().replace(b'{\n  "hooks"', b'{\n  "mine": true,\n  "hooks"', 1))
    uninstall(place.home, "claude-code", place.where)
    assert json.loads(path.read_bytes()) == {"mine": True}


def test_a_file_that_holds_only_ours_goes_even_without_a_backup(place: Place, tmp_path: Path) -> None:
    install(place.home, "claude-code", place.where)
    uninstall(Home(tmp_path / "another"), "claude-code", place.where)
    assert not (place.user / ".claude" / "settings.json").exists()


def test_a_second_installation_elsewhere_takes_the_place_of_the_first(place: Place, tmp_path: Path) -> None:
    path = _claude(place, b'{"a": 1}')
    install(place.home, "claude-code", place.where)
    report = install(Home(tmp_path / "another"), "claude-code", place.where)
    assert report.is_changed
    assert path.read_text().count("--home") == len(hook_adapters()["claude-code"].EVENTS)
    assert str(place.home.folder) not in path.read_text()
    uninstall(Home(tmp_path / "another"), "claude-code", place.where)
    assert path.read_bytes() == b'{"a": 1}'


def test_settings_that_a_variable_names_are_found(place: Place, tmp_path: Path) -> None:
    where = Surroundings(user=place.user, environment={"CODEX_HOME": str(tmp_path / "elsewhere")})
    (file,) = install(place.home, "codex", where).files
    assert file.path == tmp_path / "elsewhere" / "hooks.json"
    project = Surroundings(user=place.user, environment=where.environment, project=place.project)
    (file,) = install(place.home, "codex", project).files
    assert file.path == place.project / ".codex" / "hooks.json"


def test_a_link_is_followed(place: Place, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_bytes(b'{"a": 1}')
    (place.user / ".claude").mkdir()
    link = place.user / ".claude" / "settings.json"
    link.symlink_to(target)
    install(place.home, "claude-code", place.where)
    assert link.is_symlink()
    assert b"hook.py" in target.read_bytes()
    uninstall(place.home, "claude-code", place.where)
    assert (link.is_symlink(), target.read_bytes()) == (True, b'{"a": 1}')


def test_a_malformed_file_is_refused_with_its_line_and_stays(place: Place) -> None:
    path = _claude(place, b'{\n  "a": 1,\n}\n')
    for do in (install, uninstall):
        with pytest.raises(FormatError, match=r"settings\.json: line 3, column 1: "):
            do(place.home, "claude-code", place.where)
    assert path.read_bytes() == b'{\n  "a": 1,\n}\n'
    assert not (place.home.folder / "backups").exists()


def test_projects_are_remembered_for_uninstalling_everything(place: Place) -> None:
    install(place.home, "gemini", _where(place, True))
    install(place.home, "gemini", place.where)
    report = uninstall(place.home, "gemini", place.where)
    assert {file.path.parent.parent for file in report.files} == {place.user, place.project}
    assert place.files() == {}


def test_only_the_project_is_touched_where_that_is_meant(place: Place) -> None:
    install(place.home, "gemini", _where(place, True))
    install(place.home, "gemini", place.where)
    (file,) = uninstall(place.home, "gemini", _where(place, True)).files
    assert file.path == place.project / ".gemini" / "settings.json"
    assert hooked_events("gemini", place.where)


def test_hooks_in_codex_config_get_ours_beside_them(place: Place) -> None:
    config = place.user / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "theirs"\n')
    before = place.files()
    (file,) = install(place.home, "codex", place.where).files
    assert file.path == config
    assert not (config.parent / "hooks.json").exists()
    uninstall(place.home, "codex", place.where)
    assert place.files() == before


def test_codex_has_our_hook_in_one_of_its_files(place: Place) -> None:
    install(place.home, "codex", place.where)
    folder = place.user / ".codex"
    (folder / "config.toml").write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "theirs"\n')
    install(place.home, "codex", place.where)
    assert "hook.py" in (folder / "config.toml").read_text()
    assert not (folder / "hooks.json").exists()
    (folder / "hooks.json").write_text('{"hooks": {}}')
    install(place.home, "codex", place.where)
    assert "hook.py" not in (folder / "config.toml").read_text()
    assert "hook.py" in (folder / "hooks.json").read_text()


def test_a_script_of_the_user_stands_in_the_way_and_stays(place: Place) -> None:
    script = place.user / ".cline" / "hooks" / "PreToolUse"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\ntrue\n")
    before = place.files()
    report = install(place.home, "cline", place.where)
    assert report.unhooked == ("PreToolUse",)
    assert (script.parent / "PostToolUse").stat().st_mode & 0o777 == 0o700
    uninstall(place.home, "cline", place.where)
    assert place.files() == before


def test_what_the_agent_writes_meanwhile_is_not_lost(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _claude(place, b'{"a": 1}')
    calls: list[bytes] = []

    def write(target: Path, content: bytes, **named: object) -> list[Path]:
        calls.append(content)
        if len(calls) == 1:
            path.write_bytes(b'{"a": 2}')
        return write_settings(target, content, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(operation, "write_settings", write)
    install(place.home, "claude-code", place.where)
    assert len(calls) == 2
    assert json.loads(path.read_bytes())["a"] == 2
    uninstall(place.home, "claude-code", place.where)
    assert path.read_bytes() == b'{"a": 2}'


def test_a_file_that_never_rests_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: object, **__: object) -> list[Path]:
        raise settings_files.ChangedError

    _claude(place, b"{}")
    monkeypatch.setattr(operation, "write_settings", write)
    with pytest.raises(SourceError, match="keeps changing"):
        install(place.home, "claude-code", place.where)


def test_an_unknown_agent_is_named_with_its_neighbours(place: Place) -> None:
    with pytest.raises(UsageError, match="claude-code"):
        install(place.home, "claude", place.where)


def test_the_store_is_named_also_where_it_is_by_default(place: Place) -> None:
    default = Home(place.user / ".tally")
    assert hook_command(place.home).home == str(place.home.folder)
    assert hook_command(default).home == str(default.folder)
    assert hook_command(place.home).hook.endswith("/tallystick/hook.py")


def test_a_change_is_shown_as_a_diff(place: Place) -> None:
    path = _claude(place, b'{\n  "a": 1\n}\n')
    (file,) = install(place.home, "claude-code", place.where, dry_run=True).files
    lines = file.diff()
    assert lines[:2] == [f"--- {path}", f"+++ {path}"]
    assert [line for line in lines[2:] if line.startswith("-")] == ['-  "a": 1']
    (file,) = install(place.home, "gemini", place.where, dry_run=True).files
    assert file.diff()[0] == "--- /dev/null"


# Over HTTP ------------------------------------------------------------------------------------------------------------


def _listening(place: Place) -> None:
    (place.home.folder / "run").mkdir(parents=True)
    _moved(place, Loopback(8787, "secret"))


def _moved(place: Place, loopback: Loopback) -> None:
    Files(place.home.folder).http.write_bytes(loopback.encode())


def _kinds(path: Path) -> dict[str, str]:
    hooks = json.loads(path.read_bytes())["hooks"]
    return {event: handler["type"] for event, [item] in hooks.items() for handler in item["hooks"]}


@pytest.mark.parametrize("agent", ["claude-code", "qwen"])
def test_an_agent_can_be_made_to_call_the_port_but_for_what_starts_the_recorder(place: Place, agent: str) -> None:
    _listening(place)
    path = place.where.path(hook_adapters()[agent].settings(project=False)[0])
    report = install(place.home, agent, place.where, http=True)
    assert report.events == hook_adapters()[agent].EVENTS
    by_command = {event for event, kind in _kinds(path).items() if kind == "command"}
    assert by_command == {"SessionStart", "UserPromptSubmit"}
    assert b"http://127.0.0.1:8787/hook/" + agent.encode() in path.read_bytes()
    assert not install(place.home, agent, place.where, http=True).is_changed
    uninstall(place.home, agent, place.where)
    assert not path.exists()


def test_the_form_stays_unless_another_is_asked_for(place: Place) -> None:
    _listening(place)
    path = _claude(place, b'{"model": "x"}')
    install(place.home, "claude-code", place.where)
    assert set(_kinds(path).values()) == {"command"}
    install(place.home, "claude-code", place.where, http=True)
    assert not install(place.home, "claude-code", place.where).is_changed
    _moved(place, Loopback(9999, "other"))
    assert install(place.home, "claude-code", place.where).is_changed, "an older port is replaced"
    assert b":8787/" not in path.read_bytes()
    install(place.home, "claude-code", place.where, http=False)
    assert set(_kinds(path).values()) == {"command"}
    uninstall(place.home, "claude-code", place.where)
    assert path.read_bytes() == b'{"model": "x"}'


def test_an_http_hook_of_the_user_stays(place: Place) -> None:
    _listening(place)
    theirs = b'{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:8787/other"}]}]}}'
    path = _claude(place, theirs)
    install(place.home, "claude-code", place.where, http=True)
    assert b"http://127.0.0.1:8787/other" in path.read_bytes()
    path.write_bytes(path.read_bytes() + b"\n")
    uninstall(place.home, "claude-code", place.where)
    assert json.loads(path.read_bytes()) == json.loads(theirs)


def test_an_agent_that_cannot_call_a_port_is_refused(place: Place) -> None:
    with pytest.raises(UsageError, match="codex cannot call a port"):
        install(place.home, "codex", place.where, http=True)


def test_a_recorder_without_a_port_is_no_place_to_call(place: Place) -> None:
    set_setting(place.home, "service.http", "off")
    with pytest.raises(UsageError, match="the recorder has no port"):
        install(place.home, "qwen", place.where, http=True)


def test_a_dry_run_starts_no_recorder(place: Place) -> None:
    assert install(place.home, "qwen", place.where, http=True, dry_run=True).is_changed
    assert not place.home.folder.exists()


def test_the_recorder_is_started_if_it_never_had_a_port(place: Place) -> None:
    try:
        install(place.home, "qwen", place.where, http=True)
        known = read_loopback(Files(place.home.folder))
        assert known is not None
        assert f"{known.url}/hook/qwen" in (place.user / ".qwen" / "settings.json").read_text()
    finally:
        recorder.stop(place.home.folder)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_installation_that_an_agent_calls_is_read_off_its_settings(place: Place, agent: str) -> None:
    assert called_installations(agent, place.where) == ()
    install(place.home, agent, place.where)
    (called,) = called_installations(agent, place.where)
    assert called == own_installation()
    assert called.kind is Kind.CHECKOUT
    assert "uv tool install" in str(passing_installation(called))


@pytest.mark.parametrize("folder", ["venv", "with spaces/venv"])
def test_a_hook_that_is_no_more_is_noticed(place: Place, folder: str) -> None:
    path = _claude(place, b"{}")
    install(place.home, "claude-code", place.where)
    hook = hook_command(place.home).hook
    gone = place.user / folder / "tallystick" / "hook.py"
    path.write_bytes(path.read_bytes().replace(hook.encode(), str(gone).encode()))
    (called,) = called_installations("claude-code", place.where)
    assert called.kind is Kind.MISSING
    gone.parent.mkdir(parents=True)
    gone.touch()
    (called,) = called_installations("claude-code", place.where)
    assert called.kind is not Kind.MISSING
