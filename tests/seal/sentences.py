"""What a refusal must say: which rule, in a sentence that a person can read."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tallystick.errors import FormatError

# What stands in a sentence that was put together wrongly, or names something in another spelling than everybody knows.
_SPOILED = re.compile(r"None|XX|\{|^\W*$|\b(?:json|utf-8|ed25519|lf|cr or nul)\b|[A-Z]{2,}\W+[A-Z]{2,}")


def reads_well(sentence: str) -> bool:
    """Whether a sentence has words in it, in the usual spelling, and nothing that a mistake leaves behind."""
    words = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\S*[…#]\S*", "", sentence)
    return not _SPOILED.search(words) and any(map(str.islower, words))


def refusal(call: Callable[[], object]) -> str:
    """The rule that a call says is broken."""
    with pytest.raises(FormatError) as found:
        call()
    assert reads_well(str(found.value)), str(found.value)
    return found.value.rule
