"""What the record knows of the taint of paths when a call is judged: by the index, and by what is in journals.

Owns reading what a step gave and what was written, to tell a quote from words of one's own, and which texts from outside were
known where a file was written. The walk is `store.taint`'s, its rules `lineage.taint`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from tallystick.errors import TallystickError
from tallystick.graph.graph import Graph, GraphError
from tallystick.graph.taint import Input, Taints, VersionAt, inputs_of, newest_below, newest_version, place_of
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.lineage.quoting import Indexed, holds_key, indexed, is_copied, lines_of, written_texts
from tallystick.lineage.taint import Trust, Via, joined
from tallystick.model.decision import Call
from tallystick.model.paths import home_of
from tallystick.model.plain_text import plain_text
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.facts import RISKS as SENSITIVE_RISKS
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.risks import risks_of
from tallystick.policy.settings import Settings
from tallystick.policy.taint.untrusted_input import Found
from tallystick.policy.world import Content, Tracking, Unread

_SECRET_KINDS = frozenset(("secret", "credential"))
_MARKER = "‹secret:"
_LARGEST = 1 << 20
_MOST_TEXTS = 20
_MOST_HOPS = 4
_MOST_ORIGINS = 8
_NOTHING = Found()
_NOBODY = "/nonexistent"


class Memory:
    """What the record knows of paths, for one open index: what `policy.taint.untrusted_input` asks of other sessions."""

    def __init__(self, home: Home, graph: Graph, *, is_secret: Callable[[str], bool] | None = None) -> None:
        self._graph = graph
        self._reader = _Quoting(home, graph)
        self.taints = taints_of(home, graph, is_secret=is_secret, reader=self._reader)

    def __call__(self, path: str, is_deep: bool = False) -> Found:
        """What is known of a path, or of all below it. Where the index cannot be asked, nothing."""
        try:
            if is_deep:
                versions = [*newest_below(self._graph, path)]
            else:
                versions = []
            own = newest_version(self._graph, "file", f"file://{path}")
            tainted = [(version, self.taints.of_version(version)) for version in ([own] if own else []) + versions]
            tainted = [(version, taint) for version, taint in tainted if not taint.is_clean]
            if not tainted:
                return _NOTHING
            doubtful = [version for version, taint in tainted if taint.trust is not Trust.TRUSTED]
            found = [(version, self._origins(version)) for version in doubtful]
        except GraphError:
            return _NOTHING
        whole = tuple(version.uri.rpartition("/")[2] for version, texts in found if texts is None)
        texts = tuple(text for _, some in found for text in some or ())
        taint = joined(taint for _, taint in tainted)
        if is_deep:
            return Found(taint, texts, whole)
        return Found(taint, None if whole else texts)

    def _origins(self, version: VersionAt, depth: int = 0) -> tuple[Indexed, ...] | None:
        """The texts from outside that were known where a version was written; None: it came from outside as a whole."""
        texts: list[Indexed] = []
        for taken in inputs_of(self._graph, version):
            taint = self.taints.of_input(taken)
            if taint.trust is Trust.TRUSTED or len(texts) >= _MOST_ORIGINS:
                continue
            if taken.version.kind != "file":
                if taken.via is Via.COMMAND:
                    return None
                texts.append(self._reader.shown(taken))
            elif taint.trust is Trust.UNTRUSTED and depth < _MOST_HOPS:
                inner = self._origins(taken.version, depth + 1)
                if inner is None and taken.via is not Via.MODEL:
                    return None
                if inner is not None:
                    texts += inner
                else:
                    texts += [self._reader.shown(taken)]
        return tuple(texts[:_MOST_ORIGINS])


# What is in journals ----------------------------------------------------------------------------------------------


def taints_of(
    home: Home, graph: Graph, *, is_secret: Callable[[str], bool] | None = None, reader: _Quoting | None = None
) -> Taints:
    """Answers about the things of an index, with the journals behind it at hand."""
    reading = reader or _Quoting(home, graph)
    return Taints(graph, is_secret=is_secret or is_secret_by_name, quotes=reading, gives_secret=reading.gives_secret)


def is_secret_by_name(path: str) -> bool:
    """Whether a path is one that holds secrets, by the settings that everybody has."""
    named = Named(path=path, real=path, home=home_of(path) or _NOBODY)
    return not _SECRET_KINDS.isdisjoint(kinds_of(named, _SETTINGS))


_SETTINGS = Settings()


def has_secret_shown(step: Recorded) -> bool:
    """Whether a recorded call has a secret shown, or written down, by the words of its commands."""
    reading = read_recorded(step, None)
    return any(risk.name in SENSITIVE_RISKS for risk in risks_of(reading, _SETTINGS))


def read_recorded(step: Recorded, folder: str | None) -> CallReading:
    """What a recorded call meant to do, by its arguments alone: files are others by now."""
    tool, server = step.member("tool"), step.member("server")
    name = ""
    if isinstance(tool, str):
        name = tool
    if isinstance(server, str) and server and "mcp" not in name:
        name = f"mcp__{server}__{name}"
    call = Call(agent="", session=step.session, tool=name, args=step.values.get("content.args"), cwd=folder)
    return read_call(call, _NO_FILES, home=home_of(folder) or _NOBODY, workspace=folder)


class _NoFiles:
    """Files as they were when a call was made are not there any more."""

    def matches(self, pattern: str) -> Sequence[str]:
        return ()

    def content(self, path: str) -> Content | Unread:
        return Unread.MISSING

    def tracking(self, path: str) -> Tracking:
        return Tracking()


_NO_FILES = _NoFiles()


class _Quoting:
    """Reads what was shown and what was written, and compares. What was found stays so: journals only grow."""

    def __init__(self, home: Home, graph: Graph) -> None:
        self._home = home
        self._graph = graph
        self._found = lru_cache(maxsize=4096)(self._look)
        self._shown = lru_cache(maxsize=64)(self._index)
        self.gives_secret = lru_cache(maxsize=4096)(self._gives_secret)

    def __call__(self, version: VersionAt, taken: Input) -> bool:
        """Whether a telling piece of what a step gave is in what was written."""
        if version.made_by is None:
            return False
        return self._found(version.made_by, taken.step, taken.result, taken.version.kind == "file")

    def _look(self, writing: int, reading: int, result: int | None, is_file: bool) -> bool:
        written = self._step(writing)
        if written is None:
            return False
        texts = [text for text, _ in zip(written_texts(written), range(_MOST_TEXTS), strict=False)]
        if is_file and any(map(_holds_secret, texts)):
            shown = self._result(reading, result)
            return shown is not None and _holds_secret(_output(shown))
        source = self._shown(reading, result)
        return any(is_copied(lines_of(text), source) for text in texts)

    def _gives_secret(self, id_: int) -> bool:
        """Whether what a step took from elsewhere was a secret: `kubectl get secret`."""
        step = self._step(id_)
        return step is not None and has_secret_shown(step)

    def shown(self, taken: Input) -> Indexed:
        """What a step gave, ready to be looked in."""
        return self._shown(taken.step, taken.result)

    def _index(self, reading: int, result: int | None) -> Indexed:
        step = self._result(reading, result)
        return indexed(_output(step) if step is not None else "")

    def _step(self, id_: int) -> Recorded | None:
        place = place_of(self._graph, id_)
        path = None
        if place is not None:
            path = self._home.journal(place.session)
        if place is None or path is None:
            return None
        try:
            step = read_at(self._home, path, place.offset, load_blobs=True, largest=_LARGEST)
        except TallystickError:
            return None
        if step is not None and step.hash == place.hash:
            return step
        return None

    def _result(self, step: int, n: int | None) -> Recorded | None:
        place = place_of(self._graph, step)
        if place is None:
            return None
        return self._step(step - place.n + n if n is not None else step)


def _holds_secret(text: str) -> bool:
    return _MARKER in text or holds_key(text)


def _output(step: Recorded) -> str:
    value: Json = step.values.get("content.output", step.values.get("content.text"))
    if value is None:
        return ""
    return plain_text(value)
