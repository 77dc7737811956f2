"""Files of options of `curl` (`-K FILE`): lines of text → the words that they stand for. Source: curl(1), "--config"."""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.model.pattern import pattern_of

_SETTING = pattern_of(r"-{0,2}([\w-]{1,40})[ \t]{0,20}[ \t=:][ \t]{0,20}(\S.*)")
_ALONE = pattern_of(r"-{0,2}[\w-]{1,40}")
_MOST_SETTINGS = 64
_MOST_CHARACTERS = 20_000


def words_in(text: str) -> Iterator[str]:
    """The options of such a file, each with its value as the next word."""
    for line in text[:_MOST_CHARACTERS].split("\n")[:_MOST_SETTINGS]:
        line = line.strip()
        told = _SETTING.match(line)
        name = told[1] if told is not None else line.lstrip("-")
        if not line.startswith("#") and (told is not None or _ALONE.fullmatch(line)):
            yield f"--{name}" if len(name) > 1 else f"-{name}"
            if told is not None:
                yield told[2].strip().strip('"')
