"""The configuration that a session ran under, on the terminal.

Owns these lines of `tally session show` and `tally drift`. Everything it returns is safe to print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tallystick.cli.context import counted
from tallystick.display.facts import short
from tallystick.display.text import cut, first_line, one_line
from tallystick.recording.run_config.recorded import Under
from tallystick.sessions.configuration import Configuration, ordered

_FINGERPRINT_DIGITS = 12
_MOST_HOOKS = 12
_MOST_CHANGES = 20


def fingerprint_text(configuration: Configuration) -> str:
    """A fingerprint, short."""
    return one_line(configuration.fingerprint[:_FINGERPRINT_DIGITS])


def facts(under: Under | None) -> Iterator[tuple[str, str]]:
    """Names and values for the facts of a session."""
    if under is None:
        return
    found = under.configuration
    filled = [f"{one_line(name)} {len(found.inputs.get(name, ()))}" for name in ordered(found.sections)]
    yield "ran under", f"{fingerprint_text(found)} ({', '.join(filled)})"
    unread = [item.name for items in found.inputs.values() for item in items if item.problem is not None]
    yield "unreadable", first_line(", ".join(dict.fromkeys(unread)), 200)
    yield "hooks", _hooks(found)
    yield "changed", f"{counted(len(under.changes), 'time')} during the session" if under.changes else ""


def _hooks(configuration: Configuration) -> str:
    """The names of hooks, and how many there are of each."""
    on = Counter(hook.name for hook in configuration.registry if hook.enabled)
    off = sum(not hook.enabled for hook in configuration.registry)
    names = [f"{cut(one_line(name), 40)}{f' ×{count}' if count > 1 else ''}" for name, count in on.most_common()]
    if len(names) > _MOST_HOOKS:
        rest = [f"{len(names) - _MOST_HOOKS} more"]
    else:
        rest = []
    return ", ".join([*names[:_MOST_HOOKS], *rest, *([f"{off} disabled"] if off else [])])


def change_lines(under: Under | None, width: int) -> Iterator[str]:
    """One line for each change during the session."""
    for change in under.changes[:_MOST_CHANGES] if under is not None else ():
        place = ""
        if under is not None:
            place = f"{short(under.session)}:{change.n}"
        yield f"{place}  {first_line(change.text or ', '.join(change.sections), max(width - len(place) - 6, 40))}"
    if under is not None and len(under.changes) > _MOST_CHANGES:
        yield f"… and {len(under.changes) - _MOST_CHANGES} more; --json lists all"
