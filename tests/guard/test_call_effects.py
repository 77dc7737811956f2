from __future__ import annotations

from pathlib import Path

from tallystick.guard.call_effects import Deeds, recorded_deed
from tallystick.guard.live_world import LiveWorld
from tallystick.model.decision import Call
from tallystick.model.intent import Effects, Operation
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.settings import Settings
from tallystick.state.effects import CallEffects


def call(args: Json, *, session: str = "s", call_id: str | None = None) -> Call:
    return Call(agent="demo", session=session, tool="Bash", args=args, call_id=call_id)


def deed_in(folder: Path, command: str) -> CallEffects:
    asked = Call(agent="demo", session="s", tool="Bash", args={"command": command}, cwd=str(folder))
    reading = read_call(asked, LiveWorld(), home=str(folder.parent), workspace=str(folder))
    return recorded_deed(reading, LiveWorld(), Settings())


def test_a_deed_is_taken_once() -> None:
    deeds, deed = Deeds(), CallEffects(effects=Effects())
    deeds.note(call({"command": "ls"}), deed)
    assert deeds.take(call({"command": "ls"})) is deed
    assert deeds.take(call({"command": "ls"})) is None


def test_a_call_is_known_by_its_id_where_its_arguments_were_scrubbed() -> None:
    deeds, deed = Deeds(), CallEffects(effects=Effects())
    deeds.note(call({"command": "export T=secret"}, call_id="c1"), deed)
    assert deeds.take(call({"command": "export T=‹secret:token›"}, call_id="c1")) is deed


def test_the_call_of_a_sub_agent_is_found_under_its_own_id() -> None:
    deeds, deed = Deeds(), CallEffects(effects=Effects())
    deeds.note(call({"command": "ls"}, session="s"), deed)
    assert deeds.take(call({"command": "ls"}, session="s/child")) is deed


def test_arguments_that_cannot_be_written_as_json_are_no_fault() -> None:
    deeds = Deeds()
    deeds.note(call({"a": object()}), CallEffects(effects=Effects()))
    assert deeds.take(call({"a": object()})) is None


def test_only_so_many_are_kept() -> None:
    deeds, deed = Deeds(), CallEffects(effects=Effects())
    for number in range(2_000):
        deeds.note(call({"command": f"ls {number}"}), deed)
    assert deeds.take(call({"command": "ls 0"})) is None
    assert deeds.take(call({"command": "ls 1999"})) is deed


def test_an_archive_of_a_folder_takes_the_secrets_in_it(tmp_path: Path) -> None:
    (tmp_path / "p" / "config").mkdir(parents=True)
    (tmp_path / "p" / "config" / "secrets.yaml").write_text("x", "utf-8")
    read = deed_in(tmp_path / "p", "tar czf all.tgz config").effects
    taken = {read.intents[flow.source].target for flow in read.flows}
    assert str(tmp_path / "p" / "config" / "secrets.yaml") in taken
    looked_at = deed_in(tmp_path / "p", "wc -l config/*").effects
    assert all(intent.operation is not Operation.COPY_SOURCE for intent in looked_at.intents)


def test_what_prints_a_secret_says_so(tmp_path: Path) -> None:
    assert deed_in(tmp_path, "gh auth token").sensitive
    assert deed_in(tmp_path, "cat /proc/self/environ").sensitive
    assert not deed_in(tmp_path, "echo hello").sensitive
