from __future__ import annotations

from hypothesis import given

from tallystick.agents.kit.media import take_out
from tallystick.model.step import Json
from tests.agents.mutations import JSON_VALUES
from tests.support.cases import each, each_case

PNG = b"\x89PNG"
PLACEHOLDER = {"type": "image", "mime": "image/png", "part": "content.part_0"}


@each_case("block")
def test_every_spelling_of_a_picture_is_taken_out(block: Json) -> None:
    assert take_out([block, "text"]) == ([PLACEHOLDER, "text"], {"content.part_0": PNG})


def test_other_members_of_a_picture_stay() -> None:
    block = {"data": "iVBORw==", "mimeType": "audio/wav", "displayName": "a.wav"}
    placeholder = {"displayName": "a.wav", "type": "audio", "mime": "audio/wav", "part": "content.part_0"}
    assert take_out(block) == (placeholder, {"content.part_0": PNG})


@each("data", ["no base64!", "", "iVBORw"])
def test_what_only_looks_like_a_picture_stays(data: str) -> None:
    block = {"type": "image", "data": data, "mimeType": "image/png"}
    assert take_out(block) == (block, {})


def test_a_step_has_no_more_pictures_than_it_can_hold() -> None:
    blocks, parts = take_out([{"data": "iVBORw==", "mimeType": "image/png"}] * 30)
    assert len(parts) == 20
    assert blocks[19]["part"] == "content.part_19"
    assert blocks[20]["data"] == "iVBORw=="


@given(JSON_VALUES)
def test_values_without_pictures_stay_as_they_are(value: Json) -> None:
    assert take_out(value) == (value, {})
