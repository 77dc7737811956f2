"""What a person means by an id: our own or the agent's, whole or its unique beginning.

Owns asking the index, and that a step can be named by its number alone where its session is known.
"""

from __future__ import annotations

from tallystick.errors import NotFoundError, UsageError
from tallystick.graph.lookup import Place, resolve_session
from tallystick.graph.lookup import find_step as find_in_index
from tallystick.model.ids import StepReference, parse_step_reference
from tallystick.workspace.index import Index

_SHORTEST_HASH = 4
"""With fewer digits no hash is named."""


def find_session(index: Index, text: str) -> str:
    """Our id of the session that `text` names.

    Raises:
        NotFoundError, AmbiguousError: it names none, or several; the message lists them.
    """
    return resolve_session(index.graph, text).session


def find_step(index: Index, text: str, *, within: str | None = None) -> Place:
    """Where the step is that `text` names: `SESSION:N`, `SESSION#HASH`, `HASH`, or, within a session, `N`.

    Raises: UsageError: the text names no step, or one of another session than `within`. NotFoundError, AmbiguousError:
    none exists, or there are several; the message lists them.
    """
    if within is not None and text.isascii() and text.isdigit():
        try:
            return find_in_index(index.graph, StepReference(session=within, n=int(text)))
        except NotFoundError:
            if len(text) < _SHORTEST_HASH:  # else it may be a hash that begins with digits
                raise
    wanted = parse_step_reference(text)
    if wanted.session is None and within is not None:
        wanted = StepReference(session=within, hash=wanted.hash)
    found = find_in_index(index.graph, wanted)
    if within is not None and found.session != within:
        raise UsageError(
            f"step {text} does not belong to session {within}", hint=f"it belongs to session {found.session}"
        )
    return found
