"""What supervisors are told; the whole texts are in test_signer_setup.py."""

from __future__ import annotations

import plistlib
from pathlib import Path

from tallystick.trust.signer_unit import launchd_plist, systemd_unit
from tests.support.cases import each

WORDS = ["a", 'say "hi"', "back\\slash", "100%", "$HOME", "<a&b>"]


def test_systemd_takes_each_word_as_it_is() -> None:
    text = systemd_unit(WORDS, 7, folder=Path("/f"), socket=Path("/run/s/socket"))
    assert 'ExecStart="a" "say \\"hi\\"" "back\\\\slash" "100%%" "$$HOME" "<a&b>"\n' in text
    assert "\nUser=7\nRuntimeDirectory=s\n" in text


@each("user", ["tally-signer", "<&>"])
def test_launchd_does_too(user: str) -> None:
    found = plistlib.loads(launchd_plist(WORDS, user).encode())
    assert (found["ProgramArguments"], found["UserName"]) == (WORDS, user)
