"""What a replay says of security: blocks of content, checks of calls and commands, trees of taint.

Owns the words of those types at verbosity 0, 1 and 2, those of the headless agent's own replay (specification 3.2 and 3.4)
but that a verdict which is missing is unknown. All that is returned is safe to print.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from tallystick.display.before import Before
from tallystick.display.facts import short
from tallystick.display.parts import (
    blocks_below,
    bracketed,
    names,
    note,
    said_of,
    short_id,
    text_below,
    took,
    verdict,
    word_of,
)
from tallystick.display.said import Line, Piece, Tone
from tallystick.display.text import cut, first_line, one_line, spaced
from tallystick.lineage.taint_tree import TaintNode, said_tree
from tallystick.model.recorded import Recorded

_MOST_CONTEXT = 35
_TAINTED_BY = re.compile(r'tainted-by="([^"<>]{1,200})"')
_HEAD_OF_BLOCK = 600
_TRUST = {"untrusted": Tone.BAD, "vetted": Tone.WARNING, "trusted": Tone.GOOD}


def context(step: Recorded) -> str:
    """What a security check was about: block and tool, else the source, else the call."""
    named = " ".join(word for word in (word_of(step, "block_id"), word_of(step, "tool")) if word)
    corr = step.meta.get("corr")
    other = one_line(said_of(step, "source"))
    if not other and isinstance(corr, str):
        other = short_id(one_line(corr))
    return cut(named or other, _MOST_CONTEXT)


def _block(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    entropy, source = step.member("entropy"), one_line(said_of(step, "source"))[:200]
    trust = word_of(step, "trust")
    measured = ""
    if isinstance(entropy, float | int) and not isinstance(entropy, bool):
        measured = f" entropy {entropy:.2f}"
    named = _TAINTED_BY.search(said_of(step, "text")[:_HEAD_OF_BLOCK])
    parents = names(step.meta.get("related_blocks"))
    if not parents and named:
        parents = one_line(named[1].replace(",", " "))
    if parents:
        parents = f" tainted by {parents}"
    if source:
        source = f" ← {source}"
    yield [
        Piece(f"SECURITY: block {word_of(step, 'block_id') or '?'}", Tone.SECURITY),
        bracketed(trust or "unknown", _TRUST.get(trust, Tone.WARNING)),
        Piece(measured, Tone.FAINT),
        Piece(source),
        Piece(parents, Tone.WARNING),
    ]


def _static(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    is_told = {"pass", "check", "flags", "skip_reason"} & step.meta.keys()
    if step.meta.get("pass") is True:
        word = "pass"
    elif is_told:
        word = "flagged"
    else:
        word = ""
    yield [Piece("SECURITY: static check ", Tone.SECURITY), verdict(word), bracketed(context(step))]
    flags, related = names(step.meta.get("flags")), step.meta.get("related_blocks")
    if flags:
        yield note("flags", f"[{flags}]", Tone.WARNING)
    if isinstance(related, list) and len(related) > 1:
        yield note("related", f"[{names(related)}]")
    tree = said_tree(step.values.get("content.taint_lineage"), step.session, before.places)
    if tree:
        yield [Piece("taint lineage:", Tone.FAINT)]
        yield from taint_lines(tree, before.seqs)
    yield from _skipped(step)


def _skipped(step: Recorded) -> Iterator[Line]:
    if word_of(step, "skip_reason"):
        yield note("skip reason", word_of(step, "skip_reason"))


def _triage(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    is_told = {"suspicious", "check", "skip_reason", "model"} & step.meta.keys()
    if step.meta.get("suspicious") is True:
        word = "suspicious, escalating"
    elif is_told:
        word = "benign"
    else:
        word = ""
    yield [
        Piece("SECURITY: triage ", Tone.SECURITY),
        verdict(word),
        bracketed(word_of(step, "model")),
        bracketed(context(step)),
        took(step),
    ]
    yield from _skipped(step)
    if verbosity > 1:
        yield from blocks_below(step, "thinking", "prompt", "response")


def _security_supervisor(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    yield [
        Piece("SECURITY: supervisor ", Tone.SECURITY_LOUD),
        verdict(word_of(step, "verdict")),
        bracketed(word_of(step, "model")),
        bracketed(context(step)),
        took(step),
    ]
    yield from _reason(step)
    if verbosity > 1:
        yield from blocks_below(step, "thinking", "prompt", "response")


def _reason(step: Recorded) -> Iterator[Line]:
    if said_of(step, "reason"):
        yield from text_below(step, said_of(step, "reason"), label="reason", most=20)


def _security_decision(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    path = word_of(step, "check_path")
    yield [
        Piece("SECURITY: decision ", Tone.SECURITY),
        verdict(word_of(step, "action").upper()),
        bracketed(path),
        bracketed(context(step)),
    ]
    yield from _reason(step)


def _bash(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    """Checks of a command: of those that passed nothing is shown unless more is wanted."""
    action = word_of(step, "action").upper()
    if action == "ALLOW" and not verbosity:
        return
    command, about = said_of(step, "source"), ""
    if command:
        about = f" {first_line(command, 50)}"
    yield [
        Piece(f"BASH: {word_of(step, 'check') or 'check'} ", Tone.COMMAND),
        verdict(action),
        Piece(about),
        took(step),
    ]
    if verbosity > 1:
        if len(command) > 50:
            yield from text_below(step, command, label="command")
        yield from _reason(step)


def _decision(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    """What policy decided about a call."""
    effect = word_of(step, "effect")
    said = first_line(said_of(step, "text") or said_of(step, "reason"), 400)
    yield [
        Piece("POLICY: ", Tone.SECURITY),
        verdict(effect.upper()),
        bracketed(names(step.meta.get("rules"))),
        Piece(spaced(said)),
    ]


CHECKS: Mapping[str, Callable[[Recorded, Before, int], Iterator[Line]]] = {
    "security_block": _block,
    "security_static": _static,
    "security_triage": _triage,
    "security_supervisor": _security_supervisor,
    "security_decision": _security_decision,
    "bash_security": _bash,
    "decision": _decision,
}
"""By type of step: what gives its lines."""


# Trees ----------------------------------------------------------------------------------------------------------------


def taint_lines(roots: tuple[TaintNode, ...], seqs: Mapping[int, int] = {}) -> Iterator[Line]:
    """A tree of taint. What is in it twice is drawn once and named where it comes again.

    Args:
        seqs: by entry, the number that the source gave the event.
    """
    drawn: set[str] = set()
    waiting = [(node, 0) for node in reversed(roots)]
    while waiting:
        node, depth = waiting.pop()
        branch = "● "
        if depth != 0:
            branch = "  " * depth + "└─ "
        place = ""
        if node.n is not None:
            seq = seqs.get(node.n)
            if seq is not None:
                place = f" (seq:{seq})"
            else:
                place = f" ({short(node.session or '')}:{node.n})"
        is_again = node.is_repeat or (node.block is not None and node.block in drawn)
        name = again = ""
        if node.block is not None:
            name = one_line(f"{node.block} ")
        if is_again:
            again = " (see above)"
        yield [
            Piece(f"{branch}{name}", Tone.PLAIN),
            Piece(f"[{node.trust}]", _TRUST.get(str(node.trust), Tone.WARNING)),
            Piece(f" {one_line(node.source)}{place}"),
            Piece(again, Tone.FAINT),
        ]
        if node.block is not None:
            drawn.add(node.block)
        if not is_again:
            waiting += [(child, depth + 1) for child in reversed(node.children)]
