"""Drafting a new agent from files that it left: reader, catalogue entry, recording, test and page.

Owns what is guessed from the files, and where each part of the draft is put. A draft keeps to the laws of readers from the
first day: what it does not understand yet it counts. Must not know any agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files as package_files
from pathlib import Path
from string import Template

import msgspec

from tallystick.agents import Shape
from tallystick.agents.kit.reading import BadJson, dict_of, loads
from tallystick.agents.recognition import objects
from tallystick.errors import SourceError, UsageError
from tallystick.model.step import Json

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
_MAGIC = b"SQLite format 3\0"
_MESSAGES = ("messages", "history", "conversation", "turns", "entries", "items")
_IDS = ("id", "uuid", "messageId", "message_id")
_TIMES = ("timestamp", "ts", "created_at", "createdAt", "time", "created")
_VARIABLE = re.compile(r"\d{4,}|[0-9a-f]{8,}")
_LINES = """        otherwise = Loss(kind="unknown_line", detail=f"byte {offset}")
        yield from events_of_object(data, offset, self._message, otherwise)"""
_DOCUMENT = """        self._count = 1
        otherwise = Loss(kind="bad_document", detail="not an object", fault=True)
        yield from events_of_object(data, offset, self._document, otherwise)"""
_MESSAGES_OF = """
    def _document(self, document: dict[str, Json]) -> Iterator[Event]:
        messages = list_of(document.get("$member"))
        if not messages:
            yield Loss(kind="no_messages")
        for message in messages:
            yield from self._message(dict_of(message))
"""
_LINE_LOSSES = "| `unknown_line` | a line that is JSON, and not an object |\n"
_DOCUMENT_LOSSES = (
    "| `bad_document` ✕ | a document that is not an object |\n| `no_messages` | a document without messages |\n"
)


class Sample(msgspec.Struct, frozen=True):
    """What is guessed from a file: how it is read, which members it begins with, and where messages and their parts are."""

    shape: Shape
    marks: tuple[str, ...]
    messages: str = ""
    """Of a document: the member that holds its messages."""
    nested: bool = False
    """Whether a message's role and content are in its member `message`."""
    id: str = "id"
    ts: str = "timestamp"


class Draft(msgspec.Struct, frozen=True):
    """What was written: the files, the folder they are below, and whether that is a package of its own."""

    root: Path
    written: tuple[Path, ...]
    is_package: bool


def sample_of(path: Path, content: bytes) -> Sample:
    """What can be guessed from a file.

    Raises:
        SourceError: it is neither lines of JSON nor a document of JSON.
    """
    if content.startswith(_MAGIC):
        raise SourceError(
            f"{path} is a database", hint="see agents/opencode for a reader of one; it is written by hand"
        )
    found = objects(content)
    lines = [line for line in content.split(b"\n") if line.strip()]
    parsed = [line for line in lines if _is_object(line)]
    if not found:
        raise SourceError(f"{path} is neither lines of JSON nor a JSON document", hint="its reader is written by hand")
    is_lines = len(parsed) > 1 or (len(lines) == 1 and path.suffix == ".jsonl")
    if is_lines:
        return _with_parts(Sample(shape=Shape.LINES, marks=_marks(found[0])), found)
    if not _is_object(content):
        raise SourceError(f"{path} is damaged JSON")
    document = dict_of(loads(content).value)
    member = next((name for name in _MESSAGES if isinstance(document.get(name), list)), "messages")
    messages = document.get(member)
    if isinstance(messages, list):
        inner = [dict_of(item) for item in messages]
    else:
        inner = []
    return _with_parts(Sample(shape=Shape.DOCUMENT, marks=_marks(document), messages=member), inner)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(loads(text).value, dict)
    except BadJson:
        return False


def _marks(first: dict[str, Json]) -> tuple[str, ...]:
    return tuple(name for name in first if re.fullmatch(r"\w+", name, re.ASCII))[:4]


def _with_parts(sample: Sample, messages: Sequence[dict[str, Json]]) -> Sample:
    nested = any("role" in dict_of(message.get("message")) for message in messages)
    return msgspec.structs.replace(
        sample,
        nested=nested,
        id=_first_present(_IDS, messages),
        ts=_first_present(_TIMES, messages),
    )


def _first_present(names: Sequence[str], messages: Sequence[dict[str, Json]]) -> str:
    """The first of the names that messages have."""
    return next((name for name in names if any(name in message for message in messages)), names[0])


def draft_agent(name: str, paths: Sequence[Path], *, home: Path, into: Path | None = None) -> Draft:
    """Write the draft of an agent.

    Args:
        paths: files that the agent left; the first is the one that is guessed from.
        home: the home folder that they were found below, if they were.
        into: the folder of a package of one's own; None: the checkout of Tallystick here, else `tallystick-NAME` here.

    Raises:
        UsageError: the name is not a name or is taken, or a file of the draft exists already.
        SourceError: a file cannot be read, or is of no form that a draft can be made of.
    """
    if not _NAME.match(name):
        raise UsageError(
            f"{name!r} is not a name for an agent", hint="write it as goose, factory-droid: a-z, 0-9 and -"
        )
    contents = {path: _file_bytes(path) for path in paths}
    sample = sample_of(paths[0], contents[paths[0]])
    if into is None:
        root = Path.cwd()
    else:
        root = into
    is_package = into is not None or not (root / "src" / "tallystick" / "agents" / "__init__.py").is_file()
    if is_package and into is None:
        root = root / f"tallystick-{name}"
    texts = dict(_texts(name, sample, [path.name for path in paths], globs_of(paths, home), is_package=is_package))
    recordings = root / _recordings(name, is_package=is_package)
    wanted = {root / place: text.encode() for place, text in texts.items()}
    wanted |= {recordings / _below(path, home): content for path, content in contents.items()}
    if taken := next((path for path in wanted if path.exists()), None):
        raise UsageError(f"{taken} exists already", hint="choose another name, or another --into")
    for path, data in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if is_package:
        changed: tuple[Path, ...] = ()
    else:
        changed = tuple(_register(root, name))
    return Draft(root=root, written=(*wanted, *changed), is_package=is_package)


def _file_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error


def _below(path: Path, home: Path) -> Path:
    """Where a file is below the home folder; else its name."""
    found = path.absolute()
    if found.is_relative_to(home):
        return found.relative_to(home)
    return Path(path.name)


def globs_of(paths: Sequence[Path], home: Path) -> tuple[str, ...]:
    """Globs below the home folder for files like these: parts that look like an id, a date or a session become `*`."""
    found = []
    for path in paths:
        *folders, last = _below(path, home).parts
        parts = ["*" if _VARIABLE.search(part) else part for part in folders]
        found.append("/".join([*parts, f"*{Path(last).suffix}"]))
    return tuple(dict.fromkeys(found))


def _recordings(name: str, *, is_package: bool) -> str:
    if is_package:
        return "tests/recordings"
    return f"tests/recordings/{name}/unknown"


def _texts(
    name: str, sample: Sample, names: Sequence[str], globs: Sequence[str], *, is_package: bool
) -> Iterator[tuple[str, str]]:
    """The files of a draft, by their place."""
    folder = name.replace("-", "_")
    if is_package:
        module = f"tallystick_{folder}"
    else:
        module = f"tallystick.agents.{folder}"
    title = name.replace("-", " ").title()
    is_lines = sample.shape is Shape.LINES
    known = {
        "name": name,
        "title": title,
        "module": module,
        "variable": folder,
        "what": "lines of JSON" if is_lines else "one JSON document each",
        "piece": "line" if is_lines else "document",
        "files": ", ".join(names),
        "shape": sample.shape.name,
        "globs": ", ".join(map(json.dumps, globs)),
        "marks": ", ".join(map(json.dumps, sample.marks)),
        "feed": _LINES if is_lines else _DOCUMENT,
        "document": "" if is_lines else Template(_MESSAGES_OF).substitute(member=sample.messages),
        "message": 'dict_of(line.get("message"))' if sample.nested else "line",
        "id": sample.id,
        "ts": sample.ts,
        "losses": _LINE_LOSSES if is_lines else _DOCUMENT_LOSSES,
        "facts": "" if is_package else _facts(folder),
        "recordings": _test_recordings(name, is_package=is_package),
    }
    code = "src/" + module.replace(".", "/")
    yield f"{code}/__init__.py", f'"""{title}: its transcripts."""\n'
    yield f"{code}/transcript.py", _without_unused(_filled("transcript.py", known))
    if is_package:
        yield "pyproject.toml", _filled("pyproject.toml", known)
        yield "README.md", _filled("page.md", known)
        yield "tests/test_transcript.py", _filled("test.py", known)
        yield "tests/recordings/README.md", _filled("recording.md", known)
        return
    yield f"src/tallystick/catalog/agents/{name}.toml", _filled("agent.toml", known)
    yield f"tests/agents/{folder}/test_transcript.py", _filled("test.py", known)
    yield f"tests/recordings/{name}/unknown/README.md", _filled("recording.md", known)
    yield f"docs/agents/{name}.md", _filled("page.md", known)


def _filled(template: str, known: dict[str, str]) -> str:
    text = package_files(__package__).joinpath("templates", f"{template}.txt").read_text("utf-8")
    return Template(text).substitute(known)


def _without_unused(text: str) -> str:
    """The reader without the imports that this draft of it does not use."""
    unused = [name for name in ("dict_of", "list_of") if text.count(name) == 1]
    for name in unused:
        text = text.replace(f"{name}, ", "", 1)
    return text


def _facts(folder: str) -> str:
    return (
        '\n<!-- [[[cog import sys; sys.path.insert(0, "docs"); import _pages; '
        f'cog.outl(_pages.facts("{folder}.transcript")) ]]] -->\n<!-- [[[end]]] -->\n'
    )


def _test_recordings(name: str, *, is_package: bool) -> str:
    if is_package:
        return 'Path(__file__).parent / "recordings"'
    return f'Path(__file__).parents[2] / "recordings" / "{name}"'


def _register(root: Path, name: str) -> Iterator[Path]:
    """Name the reader in the list of adapters, where there is a list: else the catalogue's entry does it."""
    path = root / "src" / "tallystick" / "agents" / "__init__.py"
    text = path.read_text("utf-8")
    listed = re.search(r"^NAMES: tuple\[str, \.\.\.\] = \(\n(?:    \"[\w.]+\",\n)+", text, re.MULTILINE)
    if listed is not None:
        line = f'    "{name.replace("-", "_")}.transcript",\n'
        path.write_text(text[: listed.end()] + line + text[listed.end() :], "utf-8")
        yield path
