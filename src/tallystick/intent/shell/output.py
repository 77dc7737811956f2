"""What is known of a command's output while its effects are put together.

Owns Output, and which commands pass on what the call itself holds. Must not know pipes or files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import Actions
from tallystick.intent.shell.feeds import echoed, printed
from tallystick.intent.shell.files import Text, together
from tallystick.model.script import HOLE, Command, Word

_SILENT = programs_with("prints-nothing")
_MOST_CHARACTERS = 256 << 10
_WILD = re.compile("[\ue000\ue001\ue002]")


class Output(msgspec.Struct, frozen=True):
    """What is known of some data."""

    text: str | None = None
    """All of it; None where it is not known."""
    is_authored: bool = False
    """It is in the call, at least in part."""
    carried: Text = None
    """All of it, as far as it is what files hold. It is read only if it is run."""

    @property
    def held(self) -> Text:
        """All of it, from the call or from files."""
        if self.text is not None:
            return self.text
        return self.carried

    def unsaid(self) -> Output:
        """The same where the text itself is not sure."""
        return Output(None, self.is_authored)

    @staticmethod
    def joined(parts: Sequence[Output]) -> Output:
        """Several in a row as one."""
        if len(parts) == 1:
            return parts[0]
        texts = [part.text for part in parts if part.text is not None]
        whole = None
        if len(texts) == len(parts) and parts:
            whole = "".join(texts)
        return Output(
            whole if whole is not None and len(whole) <= _MOST_CHARACTERS else None,
            any(part.is_authored for part in parts),
            together([part.held for part in parts]) if whole is None and parts else None,
        )


NOTHING = Output()


def written_by(words: Sequence[Word]) -> Output:
    """Text that is in the call, as far as it is known."""
    text = "".join(word.text for word in words)
    is_told = HOLE not in text and not _WILD.search(text) and len(text) <= _MOST_CHARACTERS
    return Output(text if is_told else None, bool(text.replace(HOLE, "").strip()))


def output_of(name: str, command: Command, actions: Actions, fed: Output) -> Output:
    """What a program's output is."""
    if name in ("echo", "printf"):
        said = echoed(name, command.arguments)
        if said is None:
            return written_by(command.arguments[:1]).unsaid()
        is_vague = name == "echo" and "\\" in said.text  # shells differ in what it means there
        if is_vague:
            return written_by([said]).unsaid()
        return written_by([said])
    if name in _SILENT:
        return Output("")
    if actions.prints:
        return NOTHING
    if name in ("cat", "tee", "sponge") and actions.reads_input:
        return fed
    if actions.reads_input:
        return Output(None, fed.is_authored)
    told = printed(command)
    if told is not None and told.is_known:
        return Output(told.text)
    return NOTHING
