"""Input for the measurements, made from the sessions that ship with the package: real shapes, any size.

Two named corpora, each the larger Claude Code sample session N times, every time as a session of its own with new ids:

* `terse-xN`: nothing else is changed. The recording was scripted, so its tool results are a line or two: many small steps,
  and a picture in every session.
* `claude-xN`: tool results are lengthened to what people's sessions have (3.5 KB on average, exponentially distributed, as
  measured on 631 results of ten published histories), with text of this project's own pages.

A third, `published-xN`, is measured where copies of published Claude Code histories lie beside the project; they are no part
of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import orjson

from tallystick.model.step import Json

SAMPLES = Path(__file__).parents[1] / "src" / "tallystick" / "samples" / "home"
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:msg|toolu|req)_[0-9a-zA-Z]+")


def claude_sample() -> bytes:
    """The larger of the shipped Claude Code sessions."""
    files = SAMPLES.glob("dot-claude/projects/*/*.jsonl")
    return max(files, key=lambda path: path.stat().st_size).read_bytes()


def lengthened_sample() -> bytes:
    """The sample session with tool results as long as in people's sessions; the same bytes every time."""
    chance = random.Random(7)
    pages = (SAMPLES.parents[3] / "docs" / "format.md").read_text("utf-8")
    lines: list[bytes] = []
    for line in claude_sample().splitlines():
        value = orjson.loads(line)
        content = value.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_result" and isinstance(block.get("content"), str):
                start = chance.randrange(len(pages) // 2)
                block["content"] = pages[start : start + 1 + int(chance.expovariate(1 / 3500))]
                if isinstance(value.get("toolUseResult"), dict) and "stdout" in value["toolUseResult"]:
                    value["toolUseResult"]["stdout"] = block["content"]
        lines.append(orjson.dumps(value))
    return b"\n".join(lines) + b"\n"


def variants(data: bytes) -> Iterator[bytes]:
    """`data` again and again, each time with its ids changed alike."""
    number = 0
    while True:
        suffix = b"%08x" % number

        def renamed(match: re.Match[bytes], suffix: bytes = suffix) -> bytes:
            found = match[0]
            return suffix + found[8:] if b"-" in found[:9] else found[:6] + suffix + found[6:]

        yield _ID.sub(renamed, data)
        number += 1


def write_claude(folder: Path, data: bytes, *, total_bytes: int, one_file: bool) -> list[Path]:
    """Write about `total_bytes` of variants of `data`: one session a file, or all in one file under one session id."""
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    paths: list[Path] = []
    if one_file:
        path = folder / "00000000-0000-4000-8000-000000000000.jsonl"
        session = re.compile(rb'"sessionId": ?"[^"]+"')
        with path.open("wb") as file:
            for variant in variants(data):
                written += file.write(session.sub(b'"sessionId":"00000000-0000-4000-8000-000000000000"', variant))
                if written >= total_bytes:
                    return [path]
    for number, variant in enumerate(variants(data)):
        path = folder / f"{number:08x}-0000-4000-8000-000000000000.jsonl"
        path.write_bytes(variant)
        paths.append(path)
        written += len(variant)
        if written >= total_bytes:
            break
    return paths


def step_values(number: int) -> tuple[dict[str, Json], dict[str, Json]]:
    """One step of 1 KB of values: `meta` without `recorded`, and two content fields."""
    text = "The quick brown fox jumps over the lazy dog; path/to/file.py:12\n" * 6
    meta: dict[str, Json] = {
        "corr": f"toolu_{number:024}",
        "request": 3,
        "source": "transcript",
        "source_id": f"toolu_{number:024}",
        "tool": "Bash",
        "ts": "2026-01-02T03:04:06.000000Z",
        "type": "tool_call",
    }
    return meta, {"content.args": {"command": text, "timeout": 5}, "content.text": text}
