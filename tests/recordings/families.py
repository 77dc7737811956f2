"""Recordings of whole families: what an agent delivered to hooks, and how far its transcripts were written each time.

Owns the form, one file a family: a line for each of the agent's files below its home as it was at the end,
`{"path", "text"}`, then a line a delivery: `{"at", "event", "payload", "lines"}`, `lines` being how many lines each file had
by then. Must not know who reads it.

    python -m tests.recordings.families RAW_HOME TARGET
"""

import json
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.recordings.scrub import scrub_file, scrub_json

LOG = "hooks.jsonl"
_ROOT = Path(__file__).resolve().parents[2]
_BULKY: dict[str, Any] = {"tools": [], "shape": {}, "systemPrompt": [], "base_instructions": None}
"""Members that repeat the vendor's tools and prompts: no reader looks at them."""


def make(home: Path, target: Path) -> None:
    """Write the recording of a run, whose home folder is `home`, to `target`."""
    replace = [(re.compile(re.escape(old)), new) for old, new in _renamed(home)]
    deliveries = [json.loads(line) for line in (home / LOG).read_text("utf-8").splitlines()]
    ends = {name: _line_ends(home / name) for name in sorted(deliveries[-1]["sizes"])}
    with target.open("w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as folder:
        for name in ends:
            scrubbed = Path(folder) / Path(name).name
            scrub_file(home / name, scrubbed, replace)
            text = _slim(scrubbed.read_text("utf-8"), scrubbed.suffix)
            out.write(json.dumps({"path": _scrubbed_name(name, home), "text": text}) + "\n")
        for said in deliveries:
            lines = {_scrubbed_name(name, home): _lines(ends[name], size) for name, size in said["sizes"].items()}
            at = datetime.fromtimestamp(said["t"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = {"at": at, "event": said["event"], "payload": said["payload"], "lines": lines}
            out.write(scrub_json(json.dumps(line), replace) + "\n")


def _line_ends(path: Path) -> list[int]:
    return [position for position, byte in enumerate(path.read_bytes()) if byte == 0x0A]


def _lines(ends: list[int], size: int) -> int:
    """How many lines end within so many bytes; a file without lines is there as a whole."""
    return sum(end < size for end in ends) or int(not ends)


def _renamed(home: Path) -> list[tuple[str, str]]:
    slug = str(home).replace("/", "-")
    return [
        (str(home), "/home/dev"),
        (slug, "-home-dev"),
        (str(_ROOT), "/opt/tallystick"),
        (str(home.parent.parent), "/opt"),
    ]


def _scrubbed_name(name: str, home: Path) -> str:
    for old, new in _renamed(home):
        name = name.replace(old, new)
    return name


def _slim(text: str, suffix: str) -> str:
    if suffix != ".jsonl":
        return text
    return "".join(json.dumps(_slimmed(json.loads(line))) + "\n" for line in text.splitlines() if line.strip())


def _slimmed(value: Any) -> Any:
    match value:
        case dict():
            return {key: _BULKY[key] if key in _BULKY else _slimmed(item) for key, item in value.items()}
        case list():
            return [_slimmed(item) for item in value]
        case _:
            return value


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
