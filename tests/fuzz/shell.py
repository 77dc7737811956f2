"""A target for atheris: any text is read, quickly, and what comes of it is sound.

Run it by hand, or by `make soak` (tests/intent/shell/test_fuzz.py):

    python -m tests.fuzz.shell -max_len=4096 -runs=100000 [CORPUS_FOLDER]
"""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-untyped]

with atheris.instrument_imports(include=["tallystick.intent.shell", "tallystick.model"]):
    from tests.intent.shell.soundness import check


def one(data: bytes) -> None:
    """One input: the bytes are a text."""
    check(data.decode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
