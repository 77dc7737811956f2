"""`gptme-provenance`, which gptme runs for `gptme provenance`: its five commands, translated to those of `tally`.

Owns the translation, and the one-line verdict (`valid | 28 steps | truncated: False`). Every answer comes from a
command of `tally`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

_USAGE = """\
usage: gptme provenance [--dir DIR] COMMAND

  verify SESSION                     valid or not, how many steps, truncated or not
  list                               the sessions of gptme
  show SESSION                       one session
  replay SESSION [--from-step STEP]  a session step by step, as it happened
  demo                               see it at work on recorded sessions

DIR is the store (default: $TALLY_HOME, else ~/.tally). Further options are those of the commands of `tally`."""
_WORDS = {
    "list": ["session", "list", "--agent", "gptme"],
    "show": ["session", "show"],
    "replay": ["replay"],
    "demo": ["demo"],
}


def main(words: Sequence[str] | None = None) -> None:
    """Run the command that the words name, and end the process with its exit code."""
    from tallystick.cli import main as tally
    from tallystick.cli.command import USAGE

    rest = list(sys.argv[1:] if words is None else words)
    home: list[str] = []
    if rest[:1] == ["--dir"] and len(rest) > 1:
        home, rest = ["--home", rest[1]], rest[2:]
    if not rest or rest[0] in ("-h", "--help"):
        sys.stdout.write(_USAGE + "\n")
        if rest:
            sys.exit(0)
        else:
            sys.exit(USAGE)
    if rest[0] == "verify" and len(rest) == 2:
        sys.exit(_verify(Path(home[1]) if home else None, rest[1]))
    if rest[0] not in (*_WORDS, "verify"):
        sys.stderr.write(f"gptme provenance: no command {rest[0][:80]!r}\n{_USAGE}\n")
        sys.exit(USAGE)
    options = ["--from" if word == "--from-step" else word for word in rest[1:]]
    tally([*home, *_WORDS.get(rest[0], [rest[0]]), *options])


def _verify(home: Path | None, session: str) -> int:
    """One line for one session; 0 sound, 2 tampered, 4 malformed, 1 could not run: as `tally verify`."""
    from tallystick.errors import TallystickError
    from tallystick.model.verdict import Require
    from tallystick.trust.verify_named import verify

    try:
        verdict = verify(session, home=home, require=Require.A1)
    except TallystickError as error:
        sys.stderr.write(f"gptme provenance: {error}\n")
        return 1
    if verdict.valid:
        mark, word = "✅", "valid"
    else:
        mark, word = "❌", "INVALID"
    sys.stdout.write(f"{mark} {word} | {verdict.steps} steps | truncated: {verdict.truncated}\n")
    return verdict.exit_code
