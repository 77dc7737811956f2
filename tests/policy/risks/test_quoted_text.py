"""Words in quotes that are only said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.quoted_text import without_talk

SAID = (
    'Write-Output "New-Service"',
    "git commit -m 'New-Service; more'",
    "$x = 1\nWrite-Host 'New-Service'",
    "gci | select-string 'New-Service'",
    "-Command rg 'New-Service' docs",
)
DONE = (
    "New-Service -Name x",
    "Write-Output 'x'; New-Service -Name x",
    'Write-Output "$(New-Service -Name x)"',
    "pwsh -c 'New-Service -Name x'",
    "iex 'New-Service -Name x'",
    "git commit -m 'x'\nNew-Service y",
)


@pytest.mark.parametrize("text", SAID)
def test_what_is_only_said_is_left_out(text: str) -> None:
    assert "New-Service" not in without_talk(text)


@pytest.mark.parametrize("text", DONE)
def test_what_is_done_stays(text: str) -> None:
    assert "New-Service" in without_talk(text)


@given(st.text(alphabet="ab;|{\n ", max_size=100))
def test_a_text_without_quotes_stays_as_it_is(text: str) -> None:
    assert without_talk(text) == text
