"""The tags that policies may ask for."""

import re
from importlib import resources

from tallystick.policy.content.inspection import GRAVE_RISKS
from tallystick.policy.content.tags import TAGS
from tallystick.policy.world import Unread
from tests.support.cases import each

SHIPPED = resources.files("tallystick.policy") / "shipped"
_ASKED = re.compile(r"resource\.tags\.contains(?:Any|All)?\(\s*\[?([^\])]*)")
ASKED = sorted(
    {
        word
        for folder in (SHIPPED, SHIPPED / "strict")
        for file in folder.iterdir()
        if file.name.endswith(".cedar")
        for words in _ASKED.findall(file.read_text("utf-8"))
        for word in re.findall(r'"([^"]+)"', words)
    }
)


def test_the_shipped_rules_ask_for_tags() -> None:
    assert {"hidden-text", "fetched", "loses-rows", "too-slow", "reverse-shell"} <= set(ASKED)


@each("word", ASKED)
def test_what_a_shipped_rule_asks_for_is_explained(word: str) -> None:
    assert word in TAGS


def test_each_tag_has_a_sentence() -> None:
    assert {*GRAVE_RISKS, "too-large", "too-slow", "unreadable"} <= TAGS.keys()
    assert [word for word, meaning in TAGS.items() if not re.fullmatch(r"[A-Z].*\.", meaning)] == []
    assert {str(word) for word in Unread} - {"missing"} <= TAGS.keys()
