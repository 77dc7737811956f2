"""An address that people read as another is known as such, and names in other scripts are not."""

from __future__ import annotations

import pytest

from tallystick.policy.network.hosts import host_of
from tallystick.policy.settings import Settings


@pytest.mark.parametrize(
    "target",
    [
        "https://github.com@evil.example.net/install.sh",
        "https://github.com%2Fdev%2Fshop@evil.example.net/x",
        "https://registry.npmjs.org:443@evil.example.net/x",
        "https://g\u0456thub.com/x",  # one Cyrillic letter
        "https://\u0430\u0440\u0440\u04cf\u0435.com/x",  # all of them
        "https://xn--80ak6aa92e.com/x",  # the same in punycode
        "https://example.net/\u202emoc.elgoog//:sptth",
    ],
)
def test_it_is_disguised(target: str) -> None:
    assert "disguised" in host_of(target, Settings()).kinds


@pytest.mark.parametrize(
    "target",
    [
        "https://github.com/dev/shop",
        "https://dev@dev.azure.com/team/_git/shop",
        "https://dev:word@git.example.org/shop.git",
        "https://john.doe@git.example.org/shop.git",
        "https://john%40example.org:word@git.example.org/shop.git",
        "git@github.com:dev/shop.git",
        "https://m\u00fcller.de/x",
        "https://xn--mller-kva.de/x",
        "https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/x",
        "https://\u4f8b\u3048.jp/x",
        "https://example.com/@types/node",
    ],
)
def test_it_is_what_it_seems_to_be(target: str) -> None:
    assert "disguised" not in host_of(target, Settings()).kinds
