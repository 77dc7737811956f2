from __future__ import annotations

import pytest

from tallystick.model.effect import EffectKind, FileEffect, Holder


def test_an_effect_is_a_value() -> None:
    effect = FileEffect(kind=EffectKind.CREATE, path="/w/a", at_ms=1, holder=Holder(7, "sh"))
    assert effect == FileEffect(kind=EffectKind.CREATE, path="/w/a", at_ms=1, holder=Holder(7, "sh"))
    with pytest.raises(AttributeError):
        effect.path = "/w/b"  # type: ignore[misc]


def test_the_kinds_are_those_of_the_record() -> None:
    assert [kind.value for kind in EffectKind] == ["create", "modify", "delete", "rename"]
