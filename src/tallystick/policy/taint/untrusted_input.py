"""What one session has heard from outside, and the taint of what it wrote.

Owns that value, which calls bring text in, the texts themselves, which words the session knew without them, and how taints
pass through a call that was made. Calls are reported to it in order, and asked before the next one. Must not know where calls
are recorded, nor what follows from a text. The graph knows the same of other sessions: `Earlier` asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import TypeAlias

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.names import canonical
from tallystick.lineage.quoting import Indexed, flat, holds_key, indexed, is_copied, lines_of, telling_words, words_of
from tallystick.lineage.taint import (
    CLEAN,
    MOST_SOURCES,
    Taint,
    Trust,
    Via,
    changed,
    is_third_party,
    joined,
    passed,
    trust_of_target,
    written_in,
)
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.table import Table


class Found(msgspec.Struct, frozen=True):
    """What is known of a path, or of all below it, that this session has not written."""

    taint: Taint = CLEAN
    origins: tuple[Indexed, ...] | None = None
    """The texts from outside that were known where it was written; None: all that it holds came from outside."""
    whole: tuple[str, ...] = ()
    """Of what is below a path: the names of files that came from outside as a whole."""


Earlier: TypeAlias = Callable[[str, bool], Found]
"""Asks for a path, or for all below it."""
_NOTHING = Found()

_MOST_TEXTS = 32
_MOST_CHARACTERS = 512 << 10
"""Of all texts together."""
_MOST_WORDS = 10_000
_MOST_PROMPT = 16 << 10
_MOST_PATHS = 2_000
_MOST_WIDE = 64
"""Folders, and patterns, that a taint is kept for."""
_MOST_SENSITIVE = 16
_MOST_LINES = 2_000
_MOST_SHOWN = 8 << 10
_MARKER = "‹secret:"
"""Stands in the record where a secret stood (docs/secrets.md)."""
_BRINGS = frozenset((Operation.FETCH, Operation.CONNECT, Operation.SEND))
_TAKES = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.EXECUTE, Operation.RENAME))
_WHOLE = frozenset((Operation.WRITE, Operation.COPY_DEST))
_PARTLY = frozenset((Operation.EDIT, Operation.APPEND))
_FROM_ELSEWHERE = pattern_of(
    r"e?mails?|inbox|gmail|outlook|slack|discord|teams|telegram|jira|tickets?|issues?|comments?|calendar|rss|feeds?|web|url"
    r"|browser|page|crawl|scrape|fetch|download|notion|confluence|reddit|tweets?|messages?|chat"
)
_Taken: TypeAlias = tuple[Taint, Found | None]
_RUN_CODE = programs_with("runs-code")
_SEARCHES = pattern_of(r"grep|search|ripgrep|\brg\b")
_NAME_WORDS = pattern_of(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class UntrustedInput(msgspec.Struct, frozen=True, kw_only=True):
    """A text that came to the session, and that no one here wrote."""

    source: str
    """A URL, an MCP server, a tool, or a file."""
    step: str
    """`session:n` of the call that brought it."""
    text: Indexed
    since: int
    """How many calls the session had made before it."""
    taint: Taint = Taint(trust=Trust.UNTRUSTED)
    is_relayed: bool = False
    """It was in a file that another session wrote."""
    origins: tuple[Indexed, ...] | None = None
    """What of it came from outside: what is in one of these as well; None: all of it."""
    is_poisoned: bool = False
    """It is in a file that agents load by themselves, and orders them against their user."""

    def holds(self, piece: str) -> bool:
        """Whether a flat piece is in it, and came from outside."""
        words = words_of(piece)
        if not self.text.holds(piece, words):
            return False
        return self.origins is None or any(origin.holds(piece, words) for origin in self.origins)


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was made."""

    step: str
    tool: str
    effects: Effects
    texts: tuple[str, ...] = ()
    """The commands and codes among its arguments."""
    output: str | None = ""
    """What the model was shown of it; None: that is not on record."""
    folder: str = ""
    """Where it ran."""
    is_unlisted: bool = False
    """Only the name of the tool is on record."""
    is_sensitive: bool = False
    """It gave a secret, other than by reading a path that is one."""


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What one session has heard, and the taint of what it wrote, as a value."""

    texts: tuple[UntrustedInput, ...] = ()
    """What came from outside, the newest last."""
    known: Table[int] = Table()
    """Words, and how many calls the session had made when it first knew them."""
    taints: Table[Taint] = Table()
    """Of what was written, also where it is clean."""
    tainted: Table[bool] = Table()
    """Those of these paths that are not clean."""
    folders: Table[Taint] = Table()
    patterns: Table[Taint] = Table()
    """What `split` and similar wrote: their files have names that only a pattern tells."""
    calls: int = 0
    sensitive: tuple[str, ...] = ()
    """The secrets that it was shown, the newest last: what, and in which step."""
    sensitive_way: tuple[str, ...] = ()
    """Where the newest of them came from."""

    @property
    def may_taint(self) -> bool:
        """Whether anything that it wrote may be other than clean."""
        return bool(self.tainted or self.folders or self.patterns)


_NEW = Heard()


def own_taint(heard: Heard, path: str) -> Taint | None:
    """The taint of what a session wrote to a path; None if it wrote nothing there."""
    own = heard.taints.get(path)
    if own is None and heard.folders:
        own = next((taint for above, taint in heard.folders.all().items() if path.startswith(above + "/")), None)
    if own is None and heard.patterns:
        own = next((taint for name, taint in heard.patterns.all().items() if _is_named(path, name)), None)
    return own


class Hearing:
    """One session on its way from one value to the next: what is reported to it changes `heard`, and no value."""

    def __init__(
        self,
        earlier: Earlier = lambda _path, _is_deep: _NOTHING,
        is_secret: Callable[[str], bool] = lambda _: False,
        held: Callable[[str], str] = lambda _: "",
        heard: Heard = _NEW,
    ) -> None:
        """`held` gives what a file holds now: it is heard where the result of reading it is not on record."""
        self.heard = heard
        """What it has heard so far."""
        self._earlier = earlier
        self._is_secret = is_secret
        self._held = held

    @property
    def texts(self) -> tuple[UntrustedInput, ...]:
        """What came from outside, the newest last."""
        return self.heard.texts

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The secrets that it was shown, the newest last: what, and in which step."""
        return self.heard.sensitive

    @property
    def sensitive_way(self) -> tuple[str, ...]:
        """Where the newest of them came from."""
        return self.heard.sensitive_way

    def _change(self, **members: object) -> None:
        self.heard = msgspec.structs.replace(self.heard, **members)

    def asked(self, prompt: str) -> None:
        """The user said something: none of its words are from outside."""
        self._learn(prompt[:_MOST_PROMPT], 0)

    def known_before(self, heard: UntrustedInput) -> Callable[[str], bool]:
        """Which words the session knew before a text, or has from its user."""
        known, since = self.heard.known, heard.since

        def is_known(word: str) -> bool:
            at = known.get(word)
            return at is not None and at < since

        return is_known

    def taint(self, path: str) -> Taint:
        """The taint of what is at a path."""
        return self._taint(path)[0]

    def done(self, done: Done) -> None:
        """A call was made, and gave what it gave."""
        self._change(calls=self.heard.calls + 1)
        taken = self._taken(done)
        had = self.texts
        self._listen(done, taken)
        self._write(done, taken)
        if had is self.texts and _reads_files(done):
            self._learn((done.output or "")[:_MOST_SHOWN], self.heard.calls)
        for text in done.texts:
            self._learn(text[:_MOST_PROMPT], self.heard.calls)

    def loaded(self, path: str, text: str, step: str) -> None:
        """The agent has read a file by itself, as it does at the start of a session: `CLAUDE.md`, `AGENTS.md`."""
        read = Intent(domain=Domain.FILE, operation=Operation.READ, target=path)
        self._listen(Done(step=step, tool="", effects=Effects(intents=(read,)), output=text), {0: self._read(read)})

    def declared(self, source: str, text: str, step: str) -> None:
        """The agent itself registers a text as untrusted, by whatever tool it came."""
        if all(heard.step != step for heard in self.texts):
            taint = Taint(trust=Trust.UNTRUSTED, sources=(f"{source[:200]} ({step})",))
            self._hear(Done(step=step, tool="", effects=Effects(), output=text), source, taint)

    def handed(self, text: str, heard: Iterable[UntrustedInput]) -> None:
        """An agent was handed a text by one that had heard others: what is in both came from outside.

        Each is named as the other agent heard it, because that is where the words come from.
        """
        given = indexed(text)
        passed_on = (one for one in heard if not given.words.isdisjoint(one.text.words))
        both = tuple(
            msgspec.structs.replace(
                one, text=given, since=self.heard.calls, origins=(one.text,) if one.origins is None else one.origins
            )
            for one in passed_on
        )
        self._change(texts=(*self.texts, *both)[-_MOST_TEXTS:])

    def poisoned(self, path: str, text: str, step: str, why: str) -> None:
        """The same of a file that orders agents against their user, no matter who wrote it."""
        heard = UntrustedInput(
            source=path[:200],
            step=step,
            text=indexed(text),
            since=self.heard.calls,
            taint=Taint(trust=Trust.UNTRUSTED, sources=(f"{path} ({step})", why)),
            is_relayed=True,
            is_poisoned=True,
        )
        self._change(texts=(*self.texts, heard)[-_MOST_TEXTS:])

    def _learn(self, text: str, at: int) -> None:
        known = self.heard.known
        learned: dict[str, int | None] = {}
        for word in telling_words(flat(text)):
            since = known.get(word)
            if since is None or at < since:
                learned[word] = at
        if learned:
            self._change(known=known.put(learned, _MOST_WORDS))

    # What a call took -----------------------------------------------------------------------------------------------

    def _taint(self, path: str, *, is_deep: bool = False) -> tuple[Taint, Found | None]:
        """The taint of a path, and where it is from another session, what is known there."""
        own = own_taint(self.heard, path)
        if own is not None:
            return own, None
        if self._is_secret(path):
            return Taint(is_sensitive=True, sources=(path,)), None
        found = self._earlier(path, is_deep)
        return found.taint, None if found.taint.is_clean else found

    def _taken(self, done: Done) -> dict[int, _Taken]:
        """What the intents of a call read, by position."""
        found: dict[int, _Taken] = {}
        for k, intent in enumerate(done.effects.intents):
            if intent.domain is Domain.FILE and (intent.operation in _TAKES or _is_search(done, intent)):
                taint, other = self._read(intent)
                way = (source for source in taint.sources if source != intent.target)
                sources = (f"{intent.target} ({done.step})", *way)[:MOST_SOURCES]
                found[k] = (msgspec.structs.replace(taint, sources=sources), other)
            elif intent.domain is Domain.NETWORK and intent.operation in _BRINGS:
                trust = trust_of_target(intent.target)
                source = f"{intent.target[:200]} ({done.step})"
                found[k] = (Taint(trust=trust, is_sensitive=done.is_sensitive, sources=(source,)), None)
        return found

    def _read(self, intent: Intent) -> _Taken:
        if not intent.is_known or not intent.target.startswith("/"):
            return CLEAN, None
        taint, other = self._taint(intent.target, is_deep=intent.is_deep)
        if intent.is_deep:
            within = intent.target + "/"
            heard = self.heard
            paths = (path for path in heard.tainted.all() if path.startswith(within))
            below = {path: one for path in paths if (one := heard.taints.get(path)) is not None}
            taint = joined([taint, *below.values()])
            names = {path.rpartition("/")[2] for path, one in below.items() if one.trust is Trust.UNTRUSTED}
            if names or other is not None:
                known = other
                if known is None:
                    known = Found(taint, ())
                other = msgspec.structs.replace(known, whole=tuple({*known.whole, *names}))
        return taint, other

    # What the model was shown ---------------------------------------------------------------------------------------

    def _listen(self, done: Done, taken: dict[int, _Taken]) -> None:
        """Keep what came from outside; of several sources of one output, the least trusted is named."""
        moved = {flow.source for flow in done.effects.flows}
        for k, (taint, other) in taken.items():
            intent = done.effects.intents[k]
            if taint.is_sensitive and (intent.operation is not Operation.EXECUTE):
                self._show(taint.sources)
            is_outside = (
                taint.trust is Trust.UNTRUSTED
                or (other is not None and bool(other.origins))
                or (intent.domain is Domain.FILE and is_third_party(intent.target))
            )
            if is_outside and k not in moved and intent.operation is not Operation.EXECUTE:
                shown = self._shown(done, intent)
                if intent.is_deep:
                    shown, other = _below(shown, other)
                self._hear(shown, intent.target, taint, other)
                return
        if done.is_sensitive and not taken:
            self._show((f"{done.tool[:80]} ({done.step})",))
        if done.is_unlisted and _is_from_elsewhere(done.tool):
            source = f"{done.tool[:80]} ({done.step})"
            self._hear(done, done.tool[:80], Taint(trust=Trust.UNTRUSTED, sources=(source,)))

    def _show(self, way: tuple[str, ...]) -> None:
        """The model was shown a secret."""
        self._change(sensitive=(*self.sensitive, way[0])[-_MOST_SENSITIVE:], sensitive_way=way)

    def _shown(self, done: Done, intent: Intent) -> Done:
        """The call with what it showed: where that is not on record, a file that it read, as it is now."""
        if done.output is not None or intent.operation is not Operation.READ or intent.domain is not Domain.FILE:
            return done
        if intent.is_deep or intent.is_pattern or not intent.is_known:
            return done
        return msgspec.structs.replace(done, output=self._held(intent.target))

    def _hear(self, done: Done, source: str, taint: Taint, other: Found | None = None) -> None:
        if done.output is None or not done.output.strip():
            return
        origins = None
        if other is not None:
            origins = other.origins
        if origins == ():
            return  # nothing of what was shown is known to be from outside
        text = UntrustedInput(
            source=source[:200],
            step=done.step,
            text=indexed(done.output),
            since=self.heard.calls,
            taint=msgspec.structs.replace(taint, trust=Trust.UNTRUSTED),
            is_relayed=other is not None,
            origins=origins,
        )
        texts = (*self.texts, text)[-_MOST_TEXTS:]
        while sum(len(heard.text.text) for heard in texts) > _MOST_CHARACTERS:
            texts = texts[1:]
        self._change(texts=texts)

    # What it wrote --------------------------------------------------------------------------------------------------

    def _write(self, done: Done, taken: dict[int, _Taken]) -> None:
        into: dict[int, list[Taint]] = {}
        for flow in done.effects.flows:
            if flow.source in taken:
                into.setdefault(flow.target, []).append(taken[flow.source][0])
        for k, intent in enumerate(done.effects.intents):
            if intent.domain is not Domain.FILE or not intent.is_known or not intent.target.startswith("/"):
                continue
            if intent.operation in _WHOLE or intent.operation in _PARTLY:
                taints = [passed(taint, Via.COMMAND) for taint in into.get(k, ())]
                if not taints and not intent.is_authored:
                    taints = _got(done, intent, taken)
                if done.is_sensitive and not intent.is_authored:
                    taints.append(Taint(is_sensitive=True, sources=(f"{done.tool[:80]} ({done.step})",)))
                if intent.is_authored:
                    taints.append(self._of_written(intent.content or ""))
                base = self.taint(intent.target) if intent.operation in _PARTLY else None
                taint = joined(taints) if base is None else changed(base, taints)
                self._set(intent, written_in(taint, intent.target, done.step), done.folder)
            elif intent.operation in (Operation.DELETE, Operation.RENAME):
                self._set(intent, CLEAN, done.folder)

    def _set(self, intent: Intent, taint: Taint, folder: str) -> None:
        path, heard = intent.target, self.heard
        if intent.is_deep and f"{folder}/".startswith(f"{path}/"):
            return  # what is unpacked into the working folder lies among files that were there before
        taints: dict[str, Taint | None] = {}
        if intent.is_deep:
            taints = {below: None for below in heard.taints.all() if below.startswith(path + "/")}
            self._set_folder(path, taint)
        elif intent.is_pattern:
            self._change(patterns=heard.patterns.put({path: taint}, _MOST_WIDE))
        self._change(taints=heard.taints.put({**taints, path: taint}, _MOST_PATHS))
        self._mark(path, taint, taints)

    def _mark(self, path: str, taint: Taint, gone: Iterable[str]) -> None:
        """Note which paths are not clean."""
        tainted = self.heard.tainted
        marks: dict[str, bool | None] = {below: None for below in gone if below in tainted}
        if not taint.is_clean:
            marks[path] = True
        elif path in tainted:
            marks[path] = None
        self._change(tainted=tainted.put(marks, _MOST_PATHS))

    def _set_folder(self, path: str, taint: Taint) -> None:
        folders = self.heard.folders
        if not taint.is_clean:
            self._change(folders=folders.put({path: taint}, _MOST_WIDE))
        elif path in folders:
            self._change(folders=folders.put({path: None}, _MOST_WIDE))

    def _of_written(self, content: str) -> Taint:
        """The taint of what the model writes: of what it quotes, or of what it had heard."""
        found = [passed(heard.taint, Via.MODEL) for heard in self.texts]
        if self.texts:
            lines = lines_of(content)
        else:
            lines = []
        copied = (heard for heard in self.texts if is_copied(lines, heard.text, self.known_before(heard)))
        found += [passed(heard.taint, Via.QUOTE) for heard in copied]
        if self.sensitive and (_MARKER in content or holds_key(content)):
            found.append(Taint(is_sensitive=True, sources=self.sensitive[-3:]))
        return joined(reversed(found))


def _is_named(path: str, pattern: str) -> bool:
    """Whether a pattern names a path; its wildcards stand for no folder."""
    folder, _, name = path.rpartition("/")
    above, _, names = pattern.rpartition("/")
    return folder == above and fnmatchcase(name, names)


def _reads_files(done: Done) -> bool:
    """Whether what was shown is of files, and nothing of it came over the network."""
    domains = {intent.domain for intent in done.effects.intents if intent.operation in _TAKES | _BRINGS}
    return domains == {Domain.FILE}


def _got(done: Done, written: Intent, taken: dict[int, _Taken]) -> list[Taint]:
    """What was got from elsewhere and goes into a file, though no flow tells it: by a tool of its own, and by code."""
    intents = done.effects.intents
    got = {k: taint for k, (taint, _) in taken.items() if intents[k].domain is Domain.NETWORK}
    if not done.texts:
        return list(got.values())
    by_code = {one.command for one in intents if one.operation is Operation.RUN and canonical(one.target) in _RUN_CODE}
    if written.command not in by_code or written.operation not in _WHOLE or written.is_deep:
        return []
    moved = {flow.source for flow in done.effects.flows}
    own = (taint for k, taint in got.items() if intents[k].command == written.command and k not in moved)
    return [passed(taint, Via.COMMAND) for taint in own if taint.trust is Trust.UNTRUSTED]


def _is_search(done: Done, intent: Intent) -> bool:
    """Whether lines of files are shown, and not their names alone."""
    return intent.operation is Operation.LIST and intent.is_deep and _SEARCHES.search(done.tool.lower()) is not None


def _is_from_elsewhere(tool: str) -> bool:
    """Whether the name of a tool says that it reads what others wrote."""
    return any(_FROM_ELSEWHERE.fullmatch(word.lower()) for word in _NAME_WORDS.findall(tool[:200]))


def _below(done: Done, found: Found | None) -> tuple[Done, Found]:
    """What was shown of files below a folder that came from outside: the lines that name one of those, if any do."""
    if found is None:
        return done, Found(origins=())
    lines = (done.output or "").splitlines()[:_MOST_LINES]
    named = [line for line in lines if any(name in line for name in found.whole)]
    if not named:
        return done, found
    return msgspec.structs.replace(done, output="\n".join(named)), msgspec.structs.replace(found, origins=None)
