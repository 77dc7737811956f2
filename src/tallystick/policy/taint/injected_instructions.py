"""Whether a call does what text from outside says.

Owns which pieces of a call are looked for in such texts, and how much of one must stand there. Must not know who fetched a
text (`untrusted_input` does), nor what comes of a finding.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.intent.tools.arguments import strings
from tallystick.lineage.quoting import TELLING, flat, telling_words, weight, words_of
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Role
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.taint.tainted import BEFORE, CHANGES, DEEDS, MOST_TEXT, OLD, RUNS, Sources, is_install, written
from tallystick.policy.taint.untrusted_input import Hearing, UntrustedInput

FOLLOWS = "follows-outside-text"
RELAYS = "relays-outside-text"
OBEYS = "obeys-poisoned-file"

RISKS: dict[str, str] = {
    FOLLOWS: "A command or message of which a telling piece stands in text that came from outside, earlier in the session.",
    RELAYS: "The same as follows-outside-text, where the text stood in a file that another session wrote.",
    OBEYS: "It reaches out as a file says that agents load by themselves and that orders them against their user.",
}

_COMMAND_LANGUAGES = frozenset(("powershell", "batch", "fish"))
_MOST_PIECES = 60
_MOST_LINES = 200
_MOST_WORDS = 12
_LONGEST = 200
_ADDRESS = pattern_of(
    r"(?<![\w+-])[\w+-]{1,40}://[^\s\"'<>()\[\]{},;]{4,400}"
    r"|(?<![\w.+-])[\w.+-]{1,100}@[\w-]{1,100}(?:\.[\w-]{1,60}){1,6}"
)
_GRAVE = frozenset(
    (Operation.SEND, Operation.DELETE, Operation.SCHEDULE, Operation.SIGNAL, Operation.ELEVATE, Operation.LISTEN)
)
_LOOKS = programs_with("only-looks")
_CHANGES = CHANGES - {Operation.CREATE}


class _Reach(enum.IntEnum):
    """What a call does at most."""

    LOOKS = 0
    DOES = 1
    REACHES = 2
    """It installs, connects, or runs what is unknown."""
    GRAVE = 3
    """Even a command of everyday words is a deed then."""


_Marks: TypeAlias = list[tuple[str, int, frozenset[str]]]
"""The words of a piece that tell something, their weights, and what they are made of."""


class _Piece(msgspec.Struct, frozen=True):
    """A part of what a call says, flat."""

    text: str
    is_code: bool = False
    is_own: bool = True
    """It is in the call; else in a file that the call runs."""


def followed(reading: CallReading, hearing: Hearing, sources: Sources) -> Iterator[Risk]:
    """Pieces of a call that are in what came from outside; of a script only where the session wrote it afterwards."""
    reach = _reach_of(reading.effects.intents)
    told = ""
    for piece in _pieces(reading):
        if piece.is_own:
            is_looked_at = piece.is_code or reach > _Reach.LOOKS
        else:
            is_looked_at = sources.runs_doubtful
        if not is_looked_at or piece.text in told:
            continue
        marks = [(word, much, words_of(word)) for word, much in telling_words(piece.text).items()]
        for heard in hearing.texts:
            followed = _in_text(piece, marks, heard, hearing, reach)
            if followed:
                if heard.is_poisoned and reach >= _Reach.REACHES:
                    name = OBEYS
                elif piece.is_code or not piece.is_own:
                    name = RUNS
                elif heard.is_relayed:
                    name = RELAYS
                else:
                    name = FOLLOWS
                told += f"\n{followed}"
                yield _risk(name, followed, heard)
                break
    if reach is _Reach.GRAVE and not told:
        yield from _goes_as_said(reading, hearing)


def _goes_as_said(reading: CallReading, hearing: Hearing) -> Iterator[Risk]:
    if reading.uses.commands or reading.uses.programs or reading.uses.codes:
        return _sent_on(reading, hearing)
    return _said_on(reading, hearing)


def _reach_of(intents: Iterable[Intent]) -> _Reach:
    """How far a call goes."""
    return max(map(_reach, intents), default=_Reach.LOOKS)


def _reach(intent: Intent) -> _Reach:
    if intent.operation in _GRAVE:
        return _Reach.GRAVE
    if intent.domain is Domain.UNKNOWN or intent.operation is Operation.CONNECT or is_install(intent):
        return _Reach.REACHES
    is_deed = intent.operation in DEEDS or intent.operation in _CHANGES or intent.operation is Operation.UNKNOWN
    is_run = intent.operation is Operation.RUN and intent.target not in _LOOKS
    if is_deed or is_run:
        return _Reach.DOES
    return _Reach.LOOKS


def _pieces(reading: CallReading) -> Iterator[_Piece]:
    """The commands of a call one by one, its lines, and the lines of its code: each once, few."""
    own = flat("\n".join(text[:MOST_TEXT] for text in reading.texts))
    seen: set[str] = set()
    for piece in _all_pieces(reading, own):
        if piece.text and piece.text not in seen:
            seen.add(piece.text)
            yield piece
            if len(seen) >= _MOST_PIECES:
                return


def _all_pieces(reading: CallReading, own: str) -> Iterator[_Piece]:
    for text in reading.uses.commands:
        if len(text) <= MOST_TEXT and "\n" not in text.strip():
            yield _Piece(flat(text))
    for script in reading.scripts:
        for command in script.commands:
            text = _spelled(command)
            yield _Piece(text, is_own=text in own)
    for snippet in reading.snippets:
        is_own = flat(snippet.text[:_LONGEST]) in own
        for line in snippet.text[:MOST_TEXT].splitlines()[:_MOST_LINES] if is_own else ():
            yield _Piece(flat(line), is_code=snippet.language not in _COMMAND_LANGUAGES)


def _spelled(command: Command) -> str:
    if command.role not in (Role.PROGRAM, Role.CALL):
        return ""
    return flat(" ".join(word.plain for word in command.words[:_MOST_WORDS]))


def _in_text(piece: _Piece, marks: _Marks, heard: UntrustedInput, hearing: Hearing, reach: _Reach) -> str:
    """The part of a piece that is in a text and tells enough; else nothing."""
    there = heard.text.words
    words = piece.text.split()
    if not marks:
        is_plain_deed = heard.is_relayed and reach is _Reach.GRAVE and len(words) > 1
        if is_plain_deed and heard.holds(piece.text):
            return piece.text
        return ""
    if not any(parts <= there for _, _, parts in marks):
        return ""
    known = hearing.known_before(heard)
    told = {word: much for word, much, _ in marks if not known(word)}
    if not told:
        return ""
    if heard.holds(piece.text):
        # A whole command with a plain name in it: `pip install left-pad`. A whole line of code tells less.
        is_whole = len(words) > 1 and not piece.is_code and reach >= _Reach.REACHES
        return piece.text if is_whole or sum(told.values()) >= TELLING else ""
    for size in range(min(len(words), _MOST_WORDS) - 1, 0, -1):
        part = " ".join(words[:size])
        if sum(much for word, much in told.items() if word in part) < TELLING:
            return ""
        if heard.holds(part):
            return part
    return ""


def _said_on(reading: CallReading, hearing: Hearing) -> Iterator[Risk]:
    """A message, a mail, an issue: whom it is for and what it takes along are in what came from outside."""
    given = [flat(text) for name, text in strings(reading.call.args) if len(text) < 400 and name not in OLD]
    for heard in hearing.texts:
        known = hearing.known_before(heard)
        held = [text for text in given[:_MOST_PIECES] if text and heard.holds(text)]
        told = {text: much for text in held if (much := weight(text, filter(known, text.split())))}
        if len(told) > 1 and sum(told.values()) > TELLING:
            yield _risk(RELAYS if heard.is_relayed else FOLLOWS, " ".join(told), heard)
            return


def _sent_on(reading: CallReading, hearing: Hearing) -> Iterator[Risk]:
    """A command that sends a file: where it goes and which one are in what came from outside, in other words or not."""
    intents = reading.effects.intents
    hosts = [flat(one.target) for one in intents if one.operation is Operation.SEND and "://" in one.target]
    takes = (one for one in intents if one.domain is Domain.FILE and one.operation is Operation.READ and one.words)
    files = [flat(one.words[-1].lstrip("@")) for one in takes]
    for heard in hearing.texts if hosts and files else ():
        known = hearing.known_before(heard)
        there = [text for text in (*hosts[:_MOST_LINES], *files[:_MOST_LINES]) if heard.holds(text) and not known(text)]
        if any(text in hosts for text in there) and any(text in files and "." in text for text in there):
            yield _risk(RELAYS if heard.is_relayed else FOLLOWS, " ".join(there), heard)
            return


def relayed(reading: CallReading, hearing: Hearing) -> Iterator[Risk]:
    """What is written or run as the file that another session left says: an address, where data would go or come from."""
    relays = [heard for heard in hearing.texts if heard.is_relayed]
    if not relays:
        return
    reach = _reach_of(reading.effects.intents)
    if reach > _Reach.LOOKS:
        commands = reading.texts
    else:
        commands = ()
    for content in (*written(reading), *(text[:MOST_TEXT] for text in commands)):
        tokens = dict.fromkeys(token.strip(".,:-/") for token in _ADDRESS.findall(flat(content)))
        for heard in relays:
            known = hearing.known_before(heard)
            for token in tokens:
                if not known(token) and heard.holds(token):
                    is_obeyed = heard.is_poisoned and reach >= _Reach.REACHES
                    yield _risk(OBEYS if is_obeyed else RELAYS, token, heard)
                    return


def _risk(name: str, piece: str, heard: UntrustedInput) -> Risk:
    way = BEFORE.join(heard.taint.sources) or heard.source
    if heard.step in way:
        source = way
    else:
        source = f"{heard.source} ({heard.step}){BEFORE}{way}"
    return Risk(name, f"“{piece[:80]}” stands in {source}")
