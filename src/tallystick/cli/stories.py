"""Stories on the terminal: at most seven lines, each with its name, within the width of the terminal.

Owns the words and the order of the lines. Everything that it prints is safe to print.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from tallystick.cli.nodes import moment, step_ref
from tallystick.display.text import counted, cut, first_line, one_line, width_of
from tallystick.model.pattern import pattern_of

if TYPE_CHECKING:
    from tallystick.ask.effects import Effects
    from tallystick.ask.prompts import Prompted
    from tallystick.ask.sources import Source, Sources
    from tallystick.ask.story import Act, Story, Writer
    from tallystick.ask.why import LineOrigin, Why
    from tallystick.graph.resources import Named

MOST_LINES = 7

_LABEL = 10
_LEAST = 16
_NARROW = 110
_LONGEST_NAME, _SHORT_NAME = 48, 32
_REFERENCE = 8
_LOOKED_AT = 20_000
_PART = pattern_of(r"\s*(?:\n|&&|\|\||;)\s*")
_TO_THE_MINUTE = len("2026-11-21 22:30")

_BY = {
    "write": "made by",
    "copy_dest": "made by",
    "create": "made by",
    "edit": "changed by",
    "append": "changed by",
    "modify": "changed by",
    "metadata": "changed by",
    "delete": "deleted by",
    "rename": "moved by",
    "read": "read by",
    "execute": "run by",
    "fetch": "fetched by",
    "copy_source": "copied by",
    "send": "reached by",
    "connect": "reached by",
}
_ASKING = {"plan": "a plan: ", "answer": "an answer: ", "schedule": "a schedule: ", "task": "another agent: "}
_ON_DISK = {
    "same": "on disk as recorded",
    "differs": "on disk changed since",
    "not compared": "on disk",
    "gone": "gone from disk",
    "elsewhere": "not on this machine",
}
_HOW = {"command": "by the command", "run": "run"}


def why_text(found: Why, width: int) -> Iterator[str]:
    """The story of a cause."""
    story = found.story
    lines = [_head(story, found.line, width)]
    if story.act is not None and story.kind == "step":
        lines.append(_step_line(story.act, width))
    elif story.act is not None:
        lines.append(act_line(story.act, story.name, width))
    if story.kind == "prompt" and story.prompt.text is not None:
        room = max(width - _LABEL - 3, _LEAST)
        lines.append(labelled_line("asks", quoted(story.prompt.text, room), "", width))
    else:
        lines.append(asked_line(story.prompt, width))
    lines += agreed_lines(story.prompt, width)
    lines += _from_lines(story, width)
    last = _sure_line(story, found.line, width)
    lines += _writer_lines(story, width, MOST_LINES - len(lines) - 1)
    yield from lines
    yield last


def labelled_line(label: str, words: str, tail: str, width: int) -> str:
    """`label     words  tail`: of words that are too long the beginning."""
    after = f"  {tail}" if tail else ""
    room = max(width - _LABEL - 1 - width_of(after), _LEAST)
    said = first_line(words, room)
    return f"{click.style(label.ljust(_LABEL), dim=True)} {said}{click.style(after, dim=True) if after else ''}"


def _head(story: Story, line: LineOrigin | None, width: int) -> str:
    state = _state(story)
    name = one_line(story.name)
    if line is not None:
        name = f"{name}:{line.number}"
        if line.text is not None:
            state = f"“{first_line(line.text, max(width // 2, _LEAST))}”"
    if story.kind == "step" and story.act is not None:
        state = step_ref(story.name)
        name = first_line(f"{story.act.tool} {story.act.words}", max(width - width_of(state) - 2, _LEAST))
    elif story.act is None and story.kind not in ("file", "url", "commit", "search", "mcp_resource"):
        name = f"{one_line(story.kind)} {step_ref(story.name) if ':' in story.name else one_line(story.name[:8])}"
    room = max(width - width_of(state) - 2, _LEAST)
    return f"{click.style(path_end(name, room), bold=True)}  {state}".rstrip()


def _state(story: Story) -> str:
    if story.kind == "file":
        words = [f"version {story.version}" if story.version else "as it was found"]
        if story.is_deleted:
            words.append("deleted")
        elif story.on_disk.value in _ON_DISK:
            words.append(_ON_DISK[story.on_disk.value])
        return ", ".join(words)
    if story.uses is not None:
        return f"used by {counted(story.uses.calls, 'call')}"
    if story.kind.endswith("session"):
        return "open" if story.is_open else "ended"
    if story.kind == "prompt":
        return "  ".join(part for part in (moment(story.prompt.at_ms), one_line(story.prompt.agent or "")) if part)
    return ""


def _step_line(act: Act, width: int) -> str:
    """When a step was, whose it is, and how it ended."""
    when = moment(act.at_ms) or "at an unknown time"
    words = f"{when} by {one_line(act.agent)}"
    if act.outcome is not None:
        words = f"{words}: {act.outcome}"
    return labelled_line("happened", words, "", width)


def act_line(act: Act, name: str, width: int) -> str:
    """Which call it was, of which step, when, and whose: with the command where that says more than the name."""
    label = "done by"
    if act.operation is not None:
        label = _BY.get(act.operation, "done by")
    words = one_line(act.tool or "")
    if act.words and not _only_names(act.words, name):
        words = f"{words} {part_about(act.words, name)}"
    return labelled_line(label, words, _place(act.step, act.at_ms, act.agent, width), width)


def part_about(words: str, name: str) -> str:
    """A command from the part on that is about something: the one in which its last name stands."""
    last = name.rstrip("/").rpartition("/")[2]
    begin = 0
    for end in _PART.finditer(words[:_LOOKED_AT]):
        if last in words[begin : end.start()]:
            break
        begin = end.end()
    if not begin or last not in words[begin:]:
        return words
    return f"… {words[begin:]}"


def _only_names(words: str, name: str) -> bool:
    """Whether the words of a call say nothing but which files it is about, and the one that is asked about is among them."""
    paths = words.removesuffix(" …").split(", ")
    is_listed = any(path == name or name.endswith(f"/{path}") for path in paths)
    return is_listed or (len(paths) > 1 and all(path.startswith("/") for path in paths))


def _place(step: str, at_ms: int | None, agent: str | None, width: int) -> str:
    when = moment(at_ms)
    if width < _NARROW:
        when = when[:_TO_THE_MINUTE]
    parts = (step_ref(step), when, one_line(agent or ""))
    return "  ".join(part for part in parts if part)


def asked_line(prompt: Prompted, width: int) -> str:
    """The prompt that it was for; that it was erased; or that it is unknown, and why."""
    if prompt.step is None:
        return labelled_line("asked by", f"unknown: {prompt.why_not}", "", width)
    tail = _place(prompt.step, prompt.at_ms, prompt.agent, width)
    if prompt.text is None:
        return labelled_line("asked by", prompt.why_not or "", tail, width)
    who = _ASKING.get(prompt.kind or "", "")
    room = max(width - _LABEL - 5 - width_of(tail) - width_of(who), _LEAST)
    return labelled_line("asked by", f"{who}{quoted(prompt.text, room)}", tail, width)


def quoted(text: str, room: int) -> str:
    """The beginning of a text in quotation marks, its lines joined: the first one may be "Implement this:"."""
    return f"“{first_line(' '.join(text[: 4 * room + 400].split()), room)}”"


def agreed_lines(prompt: Prompted, width: int) -> Iterator[str]:
    """What the prompt agreed to; the one that the agent worked for when it came; what another agent told this one."""
    room = max(width - _LABEL - 3, _LEAST)
    if prompt.agreed_to is not None:
        yield labelled_line("agreeing to", quoted(prompt.agreed_to, room), "", width)
    elif prompt.before is not None:
        place = step_ref(prompt.before_step or "")
        yield labelled_line("while at", quoted(prompt.before, room - width_of(place) - 2), place, width)
    elif prompt.task is not None:
        yield labelled_line("as task", quoted(prompt.task, room), "", width)


# What it was made from, and who else changed it -----------------------------------------------------------------------


def _from_lines(story: Story, width: int) -> Iterator[str]:
    words = sources_words(story.sources, story.name, max(width - _LABEL - 1, _LEAST))
    if words:
        yield labelled_line("from", words, "", width)


def sources_words(sources: Sources, name: str, room: int) -> str:
    """What is known to have gone in, and in a number what a model had only been shown."""
    shown = ""
    if sources.only_shown:
        shown = f"{counted(sources.only_shown, 'file')} only shown to the model"
    listing = listed([_source_words(source, name) for source in sources.known], room - width_of(shown) - 2)
    return "; ".join(part for part in (listing, shown) if part)


def _source_words(source: Source, name: str) -> str:
    if source.how == "before":
        return f"its version {source.version}" if source.version else "the file as it was found"
    where = path_end(near_name(one_line(source.uri.removeprefix("file://")), one_line(name)), _LONGEST_NAME)
    if source.how == "lines":
        return f"{where} ({counted(source.lines, 'line')})"
    return f"{where} ({_HOW.get(source.how, source.how)})"


def near_name(path: str, other: str) -> str:
    """A path without the folders that it shares with another one, if they share some."""
    mine, theirs = path.split("/"), other.split("/")
    shared = 0
    for own, far in zip(mine[:-1], theirs[:-1], strict=False):
        if own != far:
            break
        shared += 1
    if shared < 2:
        return path
    return "/".join(mine[shared:])


def listed(items: Sequence[str], room: int) -> str:
    """As many of some items as there is room for, and how many there are more."""
    kept: list[str] = []
    for position, item in enumerate(items):
        rest = len(items) - position - 1
        more = f", {rest} more" if rest else ""
        if kept and width_of(", ".join((*kept, item))) + width_of(more) > room:
            return f"{', '.join(kept)}, {len(items) - position} more"
        kept.append(item)
    return ", ".join(kept)


def path_end(text: str, width: int) -> str:
    """A path within `width` columns; of a long path the end, which says most."""
    if width_of(text) <= width:
        return text
    kept = text
    while width_of(kept) >= width and kept:
        kept = kept[max(len(kept) // 40, 1) :]
    return f"…{kept}"


def _writer_lines(story: Story, width: int, most: int) -> Iterator[str]:
    lines: list[str] = []
    if story.later:
        lines += writers_words("since", story.later, width, most - 1)
    others = [writer for writer in story.writers if story.act is None or writer.session != story.act.session]
    if story.later:
        later = {writer.session for writer in story.later}
        others = [writer for writer in others if writer.session not in later]
    own = story.changes - sum(writer.changes for writer in others)
    if others:
        lines += writers_words("others", others, width, max(most - len(lines), 1))
    elif own > 1 and not story.later:
        lines.append(labelled_line("others", f"none: all {story.changes:,} changes are of this session", "", width))
    if story.made:
        lines.append(_things_line("changed", story.made, story.changed_things, width))
    yield from lines[:most]


def _things_line(label: str, things: Sequence[Named], count: int, width: int) -> str:
    paths = [one_line(thing.uri.removeprefix("file://")) for thing in things]
    names = [path_end(path, _LONGEST_NAME) for path in paths]
    if len(paths) > 1:
        names = [path_end(near_name(path, paths[position - 1]), _SHORT_NAME) for position, path in enumerate(paths)]
    how_many = counted(count, "thing")
    words = f"{how_many}: {listed(names, width - _LABEL - 3 - width_of(how_many))}"
    return labelled_line(label, words, "", width)


def writers_words(label: str, writers: Sequence[Writer], width: int, most: int) -> list[str]:
    """Every writer with the step of its last change, by agent; on as many lines as they need, `most` at most."""
    room = max(width - _LABEL - 1, _LEAST)
    pieces: list[str] = []
    agent = None
    for writer in writers:
        count = f" (×{writer.changes})" if writer.changes > 1 else ""
        words = f"{step_ref(writer.step)}{count}"
        if writer.agent != agent:
            words, agent = f"{one_line(writer.agent)} {words}", writer.agent
        pieces.append(words)
    lines = _wrapped(pieces, room, max(most, 1))
    return [labelled_line(label if not position else "", line, "", width) for position, line in enumerate(lines)]


def _wrapped(pieces: Iterable[str], room: int, most: int) -> list[str]:
    waiting, lines = list(pieces), [""]
    for position, piece in enumerate(waiting):
        rest = len(waiting) - position
        joined = f"{lines[-1]}, {piece}" if lines[-1] else piece
        is_last_line = len(lines) == most
        spare = 0
        if rest > 1:
            spare = width_of(f", {rest - 1} more (--all)") if is_last_line else width_of(",")
        if width_of(joined) + spare <= room or not lines[-1]:
            lines[-1] = joined
        elif is_last_line:
            lines[-1] = cut(f"{lines[-1]}, {rest} more (--all)", room)
            break
        else:
            lines[-1] += ","
            lines.append(piece)
    return lines


def _sure_line(story: Story, line: LineOrigin | None, width: int) -> str:
    limit = story.limit
    confidence = story.confidence
    if line is not None and line.step is None:
        limit = f"the line is not traced to a write: {line.why_not}; this is who changed the file last"
    elif line is not None and confidence is not None:
        confidence = min(confidence, line.confidence)
    if confidence is None:
        return labelled_line("sure", limit or "nothing is known", "", width)
    return labelled_line("sure", f"{confidence:.2g}: {limit or _stands_on(story)}", "", width)


def _stands_on(story: Story) -> str:
    """What a story stands on that nothing limits."""
    if story.on_disk.value == "same":
        return "call and result are on record, and the file is as they left it"
    if story.act is not None and story.act.has_result:
        return "call and result are on record"
    return "it is on record itself"


# What came of it --------------------------------------------------------------------------------------------------------


def effects_text(story: Effects, width: int) -> Iterator[str]:
    """The story of effects."""
    lines = [_effects_head(story, width)]
    if story.made_count:
        lines.append(_things_line("changed", story.made, story.made_count, width))
    lines += _use_lines(story, width)
    room = max(width - _LABEL - 1, _LEAST)
    names = [_source_words(source, story.name) for source in story.results.known]
    if names:
        lines.append(labelled_line("went into", listed(names, room), "", width))
    if story.results.only_shown:
        words = f"{counted(story.results.only_shown, 'file')} written after the model had been shown it"
        lines.append(labelled_line("perhaps", words, "", width))
    if story.began:
        refs = [one_line(session[:_REFERENCE]) for session in story.began]
        lines.append(labelled_line("began", f"{counted(len(refs), 'session')}: {listed(refs, room - 14)}", "", width))
    if story.further:
        words = f"{counted(story.further, 'thing')} more, made from these (--all)"
        lines.append(labelled_line("further", words, "", width))
    yield from lines[: MOST_LINES - 1]
    words = story.limit or "calls and results are on record"
    if len(lines) == 1:
        words = story.limit or "no result of it is on record"
    if story.confidence is not None:
        words = f"{story.confidence:.2g}: {words}"
    yield labelled_line("sure", words, "", width)


def _effects_head(story: Effects, width: int) -> str:
    name, state = one_line(story.name), ""
    if story.kind in ("step", "prompt"):
        name = f"{story.kind} {step_ref(story.name)}"
    elif story.kind == "session":
        name = f"session {name[:_REFERENCE]}"
    elif story.version is not None and story.kind == "file":
        state = f"version {story.version}" if story.version else "as it was found"
    room = max(width - width_of(state) - 2, _LEAST)
    return f"{click.style(path_end(name, room), bold=True)}  {state}".rstrip()


def _use_lines(story: Effects, width: int) -> Iterator[str]:
    last = story.uses.last
    if last is None:
        return
    calls = f"{counted(story.uses.calls, 'call')}{' or more' if story.uses.is_cut else ''}"
    prompts, sessions = counted(story.uses.requests, "prompt"), counted(story.uses.sessions, "session")
    place = _place(f"{last.session}:{last.n}", last.at_ms, last.agent, width)
    yield labelled_line("used by", f"{calls}, {prompts}, {sessions}; last {last.tool or 'by a call'}", place, width)
    if story.prompt is not None:
        yield asked_line(story.prompt, width)
