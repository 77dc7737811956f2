"""An act as one row: a prompt as a heading; a call with what it was asked, its result, and how long it took.

Owns these words, whether an act was denied, asked about or failed, and which acts are no part of the work and are left out
(`Kind.QUIET`). Every program that shows rows shows these. All texts are safe to print. Must not know times, columns other
than the row's own, or how acts are found (`joining`).
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from tallystick.display import outcome
from tallystick.display.joining import told_time
from tallystick.display.said import Line, Piece, Tone, cut_line
from tallystick.display.tagged import readable
from tallystick.display.text import cut, first_line, one_line, width_of
from tallystick.model.recorded import Recorded
from tallystick.model.request import RequestKind, opened_kind
from tallystick.model.step import Json


class Kind(enum.StrEnum):
    """What an act is."""

    PROMPT = "prompt"
    CALL = "call"
    SAID = "said"
    EVENT = "event"
    QUIET = "quiet"


class Word(enum.StrEnum):
    """What a reader must not miss of an act, the first that holds."""

    DENIED = "denied"
    FAILED = "failed"
    ASKED = "asked"
    WARNED = "warned"
    ALERT = "alert"
    NONE = ""


class ActRow(msgspec.Struct, frozen=True, kw_only=True):
    """An act in words: its name, what it was asked, its result, how long it took."""

    kind: Kind
    word: Word = Word.NONE
    name: str = ""
    asked: str = ""
    came: str = ""
    took: str = ""


_WIDEST = 600
_NAME = 24
_NAMES = 8
"""Names of tools are padded to so many columns: what they were asked stands in one column for most."""
_REFUSING = ("deny", "block", "denied", "rejected", "reject", "refused")
_CHECKS = frozenset(
    ("decision", "permission", "bash_security", "security_static", "security_triage", "security_supervisor")
) | {"security_decision"}
_EFFECTS = ("file_effect", "process", "network")
_SILENT = frozenset(
    (
        *("model_call", "usage", "session_start", "session_update", "session_end", "sighting", "checkpoint", "system"),
        *("security_block", "config_change", "policy_change", "attribution", "skill_invoke", "goal_start", "goal_end"),
        *("workflow_start", "workflow_end", "phase_commit", "phase_execute", "phase_reconcile", "feedback"),
        *("user", "assistant", *_CHECKS, *_EFFECTS),
    )
)
"""Types whose steps are no act of their own, unless a word stands on them."""
_TONES = {
    Word.DENIED: Tone.BAD,
    Word.FAILED: Tone.BAD,
    Word.ASKED: Tone.WARNING,
    Word.WARNED: Tone.WARNING,
    Word.ALERT: Tone.WARNING,
}
_PATHS = ("file_path", "path", "filePath", "notebook_path", "absolute_path")
_PATCH = "*** Begin Patch"
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_RUNS = ("command", "cmd", "url", "query", "pattern")


def act_row(steps: Sequence[Recorded], *, folder: str = "") -> ActRow:
    """The row of an act, by the steps that it consists of, the one that began it first.

    Args:
        folder: where the session works: paths below it are shown from there.
    """
    lead, word = steps[0], _word(steps)
    request = _request_kind(lead)
    if request is not None:
        name = "" if request is RequestKind.PROMPT else request.value
        return ActRow(kind=Kind.PROMPT, name=name, asked=_text(lead), word=word)
    if lead.type in ("tool_call", "tool_result"):
        return _call(steps, word, folder)
    if lead.type in _CHECKS and word is not Word.NONE:
        return _call(steps, word, folder)
    if lead.type == "assistant" and (_text(lead) or word):
        return ActRow(kind=Kind.SAID, asked=_text(lead), word=word)
    if lead.type in _SILENT and word is Word.NONE and not _is_marked(lead):
        return ActRow(kind=Kind.QUIET)
    return _event(steps, word)


def act_line(row: ActRow, width: int) -> Line:
    """A row within some columns."""
    if row.kind is Kind.PROMPT:
        head = [Piece("› ", Tone.HUMAN)]
        if row.name:
            head.append(Piece(f"[{row.name}] ", Tone.FAINT))
        return cut_line([*head, Piece(row.asked, Tone.HUMAN)], width)
    if row.kind is Kind.SAID:
        return cut_line([Piece("  “"), Piece(cut(row.asked, max(width - 4, 1))), Piece("”")], width)
    return cut_line(list(_told(row, width)), width)


def _told(row: ActRow, width: int) -> Iterator[Piece]:
    name = cut(row.name, _NAME)
    yield Piece(f"  {name}{' ' * (_NAMES - width_of(name))}", Tone.TOOL if row.kind is Kind.CALL else Tone.SUBAGENT)
    used = 2 + max(width_of(name), _NAMES)
    if row.word:
        yield Piece(f" {row.word}", _TONES[row.word])
        used += len(row.word) + 1
    if row.took:
        yield Piece(f" {row.took}", Tone.FAINT)
        used += len(row.took) + 1
    left = max(width - used - 1, 0)
    asked = row.asked
    if row.came and row.asked:
        came = min(width_of(row.came) + 3, max(left * 2 // 5, left - width_of(row.asked)))
        asked = cut(row.asked, max(left - came, 1))
    if asked:
        yield Piece(f" {asked}")
    if row.came:
        bad = row.word in (Word.DENIED, Word.FAILED)
        yield Piece(" → " if asked else " ", Tone.FAINT)
        yield Piece(row.came, Tone.BAD if bad else Tone.FAINT)


# The word -------------------------------------------------------------------------------------------------------------


def word_of(steps: Sequence[Recorded]) -> Word:
    """The word that stands on an act, by all that is known of it."""
    return _word(steps)


def _word(steps: Sequence[Recorded]) -> Word:
    if any(map(refuses, steps)):
        return Word.DENIED
    if any(map(_fails, steps)):
        return Word.FAILED
    if any(map(asks, steps)):
        return Word.ASKED
    if any(step.type == "decision" and step.member("effect") == "warn" for step in steps):
        return Word.WARNED
    if any(step.type == "alert" for step in steps):
        return Word.ALERT
    return Word.NONE


def refuses(step: Recorded) -> bool:
    """Whether a step says no to a call, no matter who says it: a rule, a check, a person."""
    if step.type == "decision":
        return "deny" in (step.member("told") or step.member("effect"),)
    return step.member("decision") in _REFUSING or step.member("action") in _REFUSING


def asks(step: Recorded) -> bool:
    """Whether a step says that a person was asked."""
    if step.type == "decision":
        return "ask" in (step.member("effect"),)
    hook = step.member("hook")
    is_request = hook is None or (isinstance(hook, str) and "permission" in hook.lower())
    decided = step.member("decision")
    return step.type == "permission" and (decided == "ask" or (decided is None and is_request))


def _fails(step: Recorded) -> bool:
    """Whether the act did not succeed; a hook or a check that fails is no failure of the call."""
    if step.type in ("permission", "decision", "system") or step.type.startswith("security"):
        return step.type == "system" and step.meta.get("success") is False and "hook" not in step.meta
    return outcome.is_failed(step)


# Its parts ------------------------------------------------------------------------------------------------------------


def _call(steps: Sequence[Recorded], word: Word, folder: str) -> ActRow:
    lead = steps[0]
    args = readable(lead.values.get("content.args"))
    result = next((step for step in reversed(steps) if step.type == "tool_result"), None)
    asked = _asked(args, folder)
    if not asked:
        asked = outcome.gone(lead)
    return ActRow(
        kind=Kind.CALL,
        word=word,
        name=_tool(steps),
        asked=first_line(asked, _WIDEST),
        came=_came(steps, result, word, folder),
        took=_took(lead, result),
    )


def _tool(steps: Sequence[Recorded]) -> str:
    for step in steps:
        tool = step.member("tool")
        if isinstance(tool, str) and tool:
            return one_line(tool)
    if steps[0].type in _CHECKS:
        return one_line(steps[0].type.replace("_", " "))
    return "?"


def _asked(args: Json, folder: str) -> str:
    """What a call was asked. A search says what for before where."""
    if isinstance(args, dict):
        sought = args.get("pattern") or args.get("query")
        where = next((args[name] for name in _PATHS if isinstance(args.get(name), str)), None)
        if isinstance(sought, str) and isinstance(where, str):
            return _from(f"{sought}  in {where}", folder)
    asked = outcome.asked(args)
    if _PATCH in asked[:200]:
        asked = "  ".join(_PATCHED.findall(asked)) or asked
    return _from(asked, folder)


def _from(text: str, folder: str) -> str:
    """A text with the paths below a folder shown from there."""
    if len(folder) < 2 or folder not in text[:4000]:
        return text
    plain = text.removeprefix(f"cd {folder} && ").removeprefix(f'cd "{folder}" && ')
    return plain.replace(f"{folder}/", "")


def _came(steps: Sequence[Recorded], result: Recorded | None, word: Word, folder: str) -> str:
    """The result of a call: why it was denied or failed, else the beginning of its output where that says something."""
    if word is Word.DENIED:
        return first_line(_reason(steps, result), _WIDEST)
    if result is None:
        return "" if word else "(no result)"
    if word is Word.FAILED:
        code = result.member("exit_code")
        said = outcome.plain(result.values.get("content.error")) or outcome.plain(result.values.get("content.output"))
        exit_text = f"exit {code}" if type(code) is int else ""
        return first_line(" ".join(part for part in (exit_text, said) if part), _WIDEST)
    reason = ""
    if word in (Word.ASKED, Word.WARNED):
        reason = _reason(steps, None)
    is_path = _is_about_a_file(readable(steps[0].values.get("content.args")))
    said = reason or ("" if is_path else outcome.plain(result.values.get("content.output")))
    return first_line(_from(said, folder), _WIDEST)


def _is_about_a_file(args: Json) -> bool:
    """Whether a call reads or writes a file: that it did is all there is to say."""
    if isinstance(args, dict):
        return any(name in args for name in _PATHS) and not any(name in args for name in _RUNS)
    return _PATCH in outcome.plain(args)[:200]


def _reason(steps: Sequence[Recorded], result: Recorded | None) -> str:
    """Why a call was denied or asked about."""
    for step in steps:
        if not (refuses(step) or asks(step)):
            continue
        said = (step.values.get(f"content.{name}") for name in ("text", "reason", "error", "output"))
        for text in (*map(outcome.plain, said), step.member("decision_reason")):
            if isinstance(text, str) and text.strip():
                by = step.member("decided_by")
                return f"{by}: {text}" if isinstance(by, str) and by != "policy" else text
    if result is not None:
        error = outcome.plain(result.values.get("content.error"))
        return error or outcome.plain(result.values.get("content.output"))
    return ""


def _took(lead: Recorded, result: Recorded | None) -> str:
    """How long a call took: what its result says, else the time between the two."""
    if result is None:
        return ""
    told = outcome.duration_of(result)
    if told or result is lead:
        return told
    try:
        began, ended = (datetime.fromisoformat(told_time(step)) for step in (lead, result))
    except ValueError:
        return ""
    between = (ended - began).total_seconds() * 1000
    return outcome.duration_text(round(between)) if 0 < between < 1e9 else ""


def _request_kind(step: Recorded) -> RequestKind | None:
    """What kind of request a step opens, or the one that it revises; None if it opens none."""
    own = {name: value for name, value in step.meta.items() if name not in ("revises", "corroborates")}
    return opened_kind(step.type, own)


def _is_marked(step: Recorded) -> bool:
    """Whether a step of a quiet type is shown all the same: someone set the mark, or it turned out badly."""
    if step.type in _EFFECTS:
        return step.meta.get("source") != "watch"
    if step.type == "checkpoint":
        return "manual" in (step.member("trigger"), step.member("ckpt_type"))
    return step.type == "session_end" and step.member("status") in ("failed", "discarded", "merged")


def _event(steps: Sequence[Recorded], word: Word) -> ActRow:
    lead = steps[0]
    if word is Word.FAILED and len(steps) > 1:
        said = outcome.outcome_of(steps[-1], _WIDEST)
    else:
        said = outcome.outcome_of(lead, _WIDEST)
    name = outcome.name_of(lead)
    if lead.type.startswith("subagent_"):
        # some agents name them by their path below the first one
        name, said = (text.rpartition("/")[2] if " " not in text else text for text in (name, said))
    if lead.type == word.value:
        word = Word.NONE
    return ActRow(
        kind=Kind.EVENT,
        word=word,
        name=one_line(lead.type.replace("_", " ")),
        asked=" ".join(part for part in (name, said) if part),
        took=outcome.duration_of(steps[-1]),
    )


def _text(step: Recorded) -> str:
    """What was said, on one line: its lines joined by blanks."""
    text = outcome.plain(step.values.get("content.text")) or outcome.plain(step.values.get("content.parts"))
    if not text:
        return outcome.gone(step)
    return first_line(" ".join(text[:_WIDEST].split()), _WIDEST)
