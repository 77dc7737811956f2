"""Who wrote what a call runs.

Owns which of a call's files count as run by it, through copies and imports as well, and whose the content is that they hold
now. Must not know how the record is kept, nor what follows from an author.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from hashlib import sha256

import msgspec

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.facts import FileFacts
from tallystick.policy.origins import Origins
from tallystick.policy.reading import CallReading
from tallystick.policy.running import also_run, is_tested
from tallystick.policy.world import Content, FileKind, Maker, Provenance, World

FOREIGN = frozenset((Maker.OTHER_SESSION, Maker.OUTSIDE))
"""Neither this session nor someone before all records."""
_MOST_ORIGINS = 8
_LAYOUT = re.compile(r"[\s\"'`;,()]+")
_PROGRAMS = ".py .js .mjs .cjs .jsx .ts .tsx .mts .go .rs .java .kt .scala .rb .php .swift .cs .c .cc .cpp .json .vue"
_FORMATTED = frozenset(_PROGRAMS.split())


def flat_digest(path: str, text: str) -> str:
    """SHA-256 of a text without what editors and formatters change by themselves: ends of lines, in a program its layout.

    Spaces, quotation marks and semicolons of a shell script are not layout.
    """
    is_program = posixpath.splitext(path)[1].lower() in _FORMATTED
    if is_program:
        flat = _LAYOUT.sub("", text)
    else:
        flat = text.replace("\r\n", "\n").strip("\ufeff\n")
    return sha256(flat.encode("utf-8", "surrogatepass")).hexdigest()


class Authors:
    """Who wrote the files that one call runs."""

    def __init__(self, reading: CallReading, world: World) -> None:
        self._reading = reading
        self._world = world
        self._origins: Origins | None = None
        self._positions: dict[int, int] | None = None

    def facts(self, file: FileFacts, intent: Intent) -> FileFacts:
        """The facts of a file that is run, with who wrote it."""
        if not intent.is_known or intent.is_pattern or intent.is_deep or not intent.target.startswith("/"):
            return file
        author, evidence = self._author(intent.target)
        if author not in FOREIGN:
            position = self._position(intent)
            if position is not None:
                author, evidence = self._of_origins(position)
        if author not in FOREIGN:
            return msgspec.structs.replace(file, author=author)
        content = self._world.content(self._world.real(intent.target))
        digest = None
        if isinstance(content, Content):
            digest = content.digest
        position = self._position(intent)
        return msgspec.structs.replace(
            file,
            author=author,
            is_tested=position is not None and is_tested(self._reading, position),
            is_approved=digest is not None and self._world.is_approved(digest),
            evidence=(*((f"content {digest}",) if digest is not None else ()), *evidence, *file.evidence),
        )

    def more(self) -> Iterator[Intent]:
        """Files that are run though the call does not name them as run, where someone else wrote them."""
        named = {one.target for one in self._reading.effects.intents if one.operation is Operation.EXECUTE}
        for path in also_run(self._reading, self._world):
            if path in named:
                continue
            if self._world.state(path).kind is FileKind.FILE and self._author(path)[0] in FOREIGN:
                yield Intent(domain=Domain.FILE, operation=Operation.EXECUTE, target=path, words=("runs", path))

    def _author(self, path: str) -> tuple[Maker, tuple[str, ...]]:
        """Who wrote what a file holds now. Where that is not what the record has, someone else changed it."""
        real = self._world.real(path)
        past = self._world.provenance(real)
        if past.author is Maker.UNKNOWN and real != path:
            past = self._world.provenance(path)
        if past.author not in FOREIGN and past.digest is not None and self._is_changed(real, past):
            return Maker.OUTSIDE, (f"changed since {past.evidence[0]}" if past.evidence else "changed",)
        return past.author, past.evidence

    def _is_changed(self, path: str, past: Provenance) -> bool:
        content = self._world.content(path)
        if not isinstance(content, Content) or content.digest == past.digest:
            return False
        return past.flat is None or flat_digest(path, content.text) != past.flat

    def _of_origins(self, position: int) -> tuple[Maker, tuple[str, ...]]:
        """Whose the files are that this call itself puts together before it runs them."""
        if self._origins is None:
            self._origins = Origins(self._reading.effects)
        for number, origin in enumerate(self._origins.of(position)):
            is_file = origin.domain is Domain.FILE and origin.is_known and origin.target.startswith("/")
            if is_file and number < _MOST_ORIGINS:
                author, evidence = self._author(origin.target)
                if author in FOREIGN:
                    return author, (f"from {origin.target}", *evidence)
        intent = self._reading.effects.intents[position]
        return self._author(intent.target)

    def _position(self, intent: Intent) -> int | None:
        if self._positions is None:
            self._positions = {id(one): k for k, one in enumerate(self._reading.effects.intents)}
        return self._positions.get(id(intent))
