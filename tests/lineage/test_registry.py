from __future__ import annotations

from tallystick.lineage.registry import membership
from tests.support.cases import each_case


@each_case("path, registries")
def test_a_path_is_in_the_registries_that_its_name_says(path: str, registries: str) -> None:
    found = membership(path)
    named = {name for name in ("executable", "memory", "persistent", "control_plane") if getattr(found, f"is_{name}")}
    assert named == set(registries.split())
    assert found.is_any == bool(named)
