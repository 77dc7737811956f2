"""All keys, in one table: the bindings, the line of hints, the help and the documentation are made of it."""

from __future__ import annotations

import msgspec
from textual.binding import Binding, BindingType


class Key(msgspec.Struct, frozen=True):
    """Keys, as Textual and as people write them, what they are bound to, and what that does.

    No action: the pane that has the keys binds them itself. `hint`: one word for the line at the bottom.
    """

    keys: str
    shown: str
    action: str
    does: str
    hint: str = ""


PANES: tuple[tuple[str, tuple[Key, ...]], ...] = (
    (
        "Moving",
        (
            Key("", "j k ↓ ↑", "", "the next or previous row"),
            Key("", "PgDn PgUp", "", "the next or previous page; space and b do the same"),
            Key("", "g G", "", "the first or last row; Home and End do the same"),
            Key("", "Tab", "", "the next pane; Shift-Tab: the previous one"),
            Key("left_square_bracket", "[", "session(-1)", "the previous session in the list"),
            Key("right_square_bracket", "]", "session(1)", "the next session in the list"),
            Key("", "← →", "", "in the list of sessions: fold and unfold child sessions; h and l do the same"),
            Key("enter", "Enter", "", "on a session: its steps; on a step: its detail, on or off", "detail"),
        ),
    ),
    (
        "Jumping",
        (
            Key("colon,number_sign", ":", "number", "to a step by its number, or by SESSION:N or its hash", "go to"),
            Key("p", "p", "parent", "to the step that this one follows from"),
            Key("P", "P", "above", "to the parent session, at the step where this one began"),
            Key("o", "o", "child", "to the session that this step began (marked ↳)"),
            Key("c", "c", "cause", "to the cause of this step: its call, the step it is part of, its prompt", "cause"),
            Key("e", "e", "next('failed',1)", "to the next failure or refusal (marked ✕)", "failure"),
            Key("E", "E", "next('failed',-1)", "to the previous one"),
            Key("d", "d", "next('decided',1)", "to the next decision on a call"),
            Key("D", "D", "next('decided',-1)", "to the previous one"),
            Key("J", "J", "next('prompt',1)", "to the next prompt (marked ›)"),
            Key("K", "K", "next('prompt',-1)", "to the previous one"),
            Key("m", "m", "marks", "to a checkpoint: lists those of the session"),
            Key("backspace", "Backspace", "return", "back to the start of the last jump"),
        ),
    ),
    (
        "Finding",
        (
            Key("slash", "/", "search", "search: visible rows at once, the whole session on Enter", "search"),
            Key("n", "n", "hit(1)", "the next hit (marked »)"),
            Key("N", "N", "hit(-1)", "the previous hit"),
            Key("f", "f", "filter", "show only some steps: type:T tool:T agent:A failed WORDS", "filter"),
            Key("x", "x", "no_filter", "show all steps again"),
        ),
    ),
    (
        "Looking",
        (
            Key("F", "F", "follow", "follow: read new steps; at the end the newest step stays in view", "follow"),
            Key("R", "R", "reload", "read the journals again"),
            Key("v", "v", "verdict", "the verdict on this session, axis by axis"),
            Key("V", "V", "verify", "verify it again"),
            Key("y", "y", "copy", "copy the step's id to the clipboard of the terminal, and show it"),
            Key("t", "t", "sessions", "show or hide the list of sessions"),
            Key("s", "s", "settings", "settings: see and change them"),
            Key("question_mark", "?", "help", "these keys", "help"),
            Key("escape", "Esc", "leave", "close what is open: a search, a filter, a list"),
            Key("q", "q", "quit", "leave", "quit"),
        ),
    ),
)  # fmt: skip

SIGNS: tuple[tuple[str, str], ...] = (
    ("● ✔ ✕ ⊕ ⊖", "a session: active, completed, failed, merged, discarded"),
    ("▸", "the child sessions are folded"),
    ("~", "the parent of a session is only claimed, or is not recorded"),
    ("✕ › ↳ ?", "a step: failed or refused, a prompt, started a session, cannot be read"),
    ("»", "matches the search"),
    ("✔ ◐ ✕ ▧ ◌", "an axis of the verdict: good, partial, bad, something is withheld, not known yet"),
)
"""What signs mean."""


def bindings() -> list[BindingType]:
    """What the screen of steps binds."""
    return [
        Binding(key.keys, key.action, key.does, show=False)
        for _, keys in PANES
        for key in keys
        if key.action and key.keys
    ]


def hints() -> list[tuple[str, str]]:
    """Keys and words for the line at the bottom: leaving and the help first, they are seen in the narrowest line too."""
    return [(key.shown, key.hint) for _, keys in reversed(PANES) for key in reversed(keys) if key.hint]
