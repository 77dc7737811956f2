"""Everything about one step, and what a model call was given."""

from hashlib import sha256

import msgspec
import pytest

from tallystick.ask.show import Shown, given_to, show_step
from tallystick.errors import FormatError, NotFoundError, UsageError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input, Ref
from tallystick.recording.recorder import Recorder
from tallystick.trust.erase import Erasure, erase
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_step


def shown(home: Home, name: str) -> Shown:
    with open_index(home) as index:
        place = find_step(index, name)
    return show_step(home, place.session, place.n, place.offset)


def test_a_step_is_shown_with_what_stands_behind_it(indexed_samples: Home) -> None:
    found = shown(indexed_samples, "a42b3437:47")
    assert found.step.meta["decision"] == "deny"
    assert found.defect is None
    assert found.head_size == 61
    assert found.erasures == ()


def test_a_step_that_no_head_covers_says_so(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        recorder.seal()
        session.prompt("hello")
        assert shown(home, f"{session.id}:0").head_size == 1
        assert shown(home, f"{session.id}:1").head_size is None


def test_values_in_blobs_are_named_with_their_sizes(home: Home) -> None:
    image = bytes(range(256)) * 10
    with Recorder(home.folder) as recorder, recorder.session("demo", "one") as session:
        session.step("tool_result", content={"output": "x" * 100_000}, raw={"content.part_0": image})
    found = shown(home, f"{session.id}:1")
    assert found.blobs == {"content.output": 100_002, "content.part_0": 2560}
    assert found.step.values["content.output"] == "x" * 100_000
    assert found.step.raw["content.part_0"] == image


def test_a_changed_value_shows(samples: Home) -> None:
    sid = find_session(samples, "a42b3437")
    path = samples.journal(sid)
    assert path is not None
    with open_index(samples) as index:
        place = find_step(index, f"{sid}:47")
    path.write_bytes(path.read_bytes().replace(b"Forced pushes", b"Gentle pushes"))
    found = show_step(samples, place.session, place.n, place.offset)
    assert found.defect is not None
    assert found.defect.startswith("fields: ")


def test_an_erased_value_is_named_with_why(samples: Home) -> None:
    sid = find_session(samples, "a42b3437")
    erase(samples, sid, 47, Erasure(("content.output",), reason="a customer asked", basis="law"))
    found = shown(samples, f"{sid}:47")
    assert found.step.withheld == ("content.output",)
    assert found.defect is None
    (erasure,) = found.erasures
    assert (erasure.names, erasure.basis, erasure.reason) == (("content.output",), "law", "a customer asked")


def test_a_place_that_is_wrong_is_an_error_and_no_other_step(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        place = find_step(index, "a42b3437:47")
    with pytest.raises(NotFoundError):
        show_step(indexed_samples, place.session, 46, place.offset)
    with pytest.raises(NotFoundError):
        show_step(indexed_samples, place.session, 47, 10**9)
    with pytest.raises(FormatError):
        show_step(indexed_samples, place.session, 47, place.offset + 1)


# What a model call was given -----------------------------------------------------------------------------------------


def test_every_sample_call_was_given_what_its_digest_says(indexed_samples: Home) -> None:
    checked = 0
    for sid, _ in indexed_samples.sessions():
        for call in read_session(indexed_samples, sid):
            if call.type == "model_call" and "input" in call.meta and call.meta["input"] != "not-visible":
                given = given_to(indexed_samples, call)
                assert given.visible
                assert given.matches
                assert all(step.n < call.n and step.type != "model_call" for step in given.steps)
                checked += 1
    assert checked > 20


def test_the_digest_is_that_of_the_hashes_on_the_path(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        session.step("user", source_id="a", content={"text": "one way"})
        session.step("user", source_id="b", content={"text": "another"}, after=(Ref("a"),))
        session.step("user", source_id="c", content={"text": "a third"}, after=(Ref("a"),))
        call = session.step("model_call", source_id="d", input=Input.PATH, after=(Ref("c"),))
    steps = list(read_session(home, session.id))
    given = given_to(home, call)
    assert [step.n for step in given.steps] == [0, 1, 3]
    assert given.digest == sha256(b"".join(bytes.fromhex(steps[n].hash) for n in (0, 1, 3))).hexdigest()
    assert given.matches


def test_a_path_of_many_pieces_is_found_by_its_last_step(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        for number in range(210):
            session.step("assistant", source_id=f"{number}", after=(Ref(f"{number - 1}"),) if number else ())
            session.step("assistant", source_id=f"aside-{number}", after=(Ref(f"{number}"),))
        call = session.step("model_call", input=Input.PATH, after=(Ref("209"),))
    assert "path" in call.meta["input"]
    given = given_to(home, call)
    assert given.matches
    assert [step.meta.get("source_id") for step in given.steps[1:]] == [str(number) for number in range(210)]


def test_a_call_whose_input_was_not_seen_says_so(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("demo", "one") as session:
        call = session.step("model_call", input=Input.HIDDEN)
    assert not given_to(home, call).visible


def test_a_step_that_was_given_nothing_is_a_mistake_of_the_caller(indexed_samples: Home) -> None:
    with pytest.raises(UsageError, match="has no recorded input"):
        given_to(indexed_samples, shown(indexed_samples, "a42b3437:47").step)


def with_input(call: Recorded, said: object) -> Recorded:
    return msgspec.structs.replace(call, meta={**call.meta, "input": said})


def test_a_digest_that_is_not_that_of_the_steps_shows(indexed_samples: Home) -> None:
    call = shown(indexed_samples, "a42b3437:45").step
    said = {**call.meta["input"], "digest": "00" * 32}
    assert not given_to(indexed_samples, with_input(call, said)).matches


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"digest": 5},
        {"digest": "00" * 32, "steps": ["0-9999999999999"]},
        {"digest": "00" * 32, "steps": ["x"]},
        {"digest": "00" * 32, "steps": 5},
        {"digest": "00" * 32, "path": 9999},
        "odd",
    ],
)
def test_an_input_that_makes_no_sense_is_an_error(indexed_samples: Home, said: object) -> None:
    call = shown(indexed_samples, "a42b3437:45").step
    with pytest.raises(FormatError):
        given_to(indexed_samples, with_input(call, said))
