"""What one family of sessions has done so far: the value that its next call is judged by.

Owns the value and the questions that are asked of it. Must not know how it follows from steps (`reducer`).
"""

from __future__ import annotations

import msgspec

from tallystick.model.table import Table
from tallystick.policy.taint.untrusted_input import Heard
from tallystick.policy.world import Maker
from tallystick.state.call_times import CallTimes
from tallystick.state.effects import CallEffects, may_change_anything
from tallystick.state.files import Before, Files, Made
from tallystick.state.steps import Outcome


class PendingCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is in the record and has no result yet."""

    session: str
    step: str
    """SESSION:n."""
    tool: str
    deed: CallEffects
    at_us: int
    before: Before = {}
    """What its changes took the place of."""
    is_asked: bool = False
    """Its changes do not count before its result is there."""
    digests: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """What the user was asked about: content that would run, hosts that data would go to."""
    asked: tuple[str, ...] = ()
    """The same as digests of scopes."""
    decision: str = ""
    """The step that asked."""


class FinishedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that has a result. Another source may say later that it ended otherwise."""

    outcome: Outcome
    if_made: Before = {}
    """What is known of the paths that it changes where it succeeded."""
    if_failed: Before = {}
    """The same where it failed."""
    digests: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """What the user was asked about."""
    asked: tuple[str, ...] = ()
    decision: str = ""
    result: str = ""
    """The step of the result."""


class FamilyState(msgspec.Struct, frozen=True, kw_only=True):
    """What a family of sessions has done. Bounded, whatever it has done."""

    heard: Heard = Heard()
    files: Files = Files()
    workspace: str | None = None
    """The folder that the first session began in."""
    home: str | None = None
    """The home folder that the process of its hook had, where that was seen."""
    calls: int = 0
    network_calls: int = 0
    request: int = 0
    """How many prompts a human has given."""
    sensitive: tuple[str, ...] = ()
    """The secrets that were read, the newest last: what, and in which step."""
    shown: Table[str] = Table()
    """The steps that showed a secret, each with the call that it is of; a `?` before it: someone said it, or a page or
    a program that ran, and it may be anyone's."""
    taken: Table[bytes] = Table()
    """What is kept of secrets that calls read without showing them, by the call (`scrubbing.fingerprints`)."""
    has_unseen: bool = False
    """A secret was shown of which the record does not say where it stood."""
    approved: Table[bool] = Table()
    """Digests of content that the user let run."""
    hosts: frozenset[str] = frozenset()
    """Hosts that the user let data go to."""
    granted: Table[str] = Table()
    """What the user said yes to: digests of scopes, and the steps that asked."""
    pending: dict[str, PendingCall] = {}
    """Calls without a result, the oldest first, by the agent's id of them."""
    finished: dict[str, FinishedCall] = {}
    """The newest calls with a result that change files or were asked about, by the agent's id of them."""
    folders: Table[str] = Table()
    """Where each session works."""
    has_results: Table[bool] = Table()
    """Sessions of which results are recorded."""
    file_times: CallTimes = CallTimes()
    network_times: CallTimes = CallTimes()
    """When the newest calls that work on files, and that talk to hosts, were made."""
    has_orders: bool = False
    """What the agent reads by itself at the start was looked at."""

    def recent(self, now_us: int) -> tuple[int, int]:
        """How many calls worked on files, and talked to hosts, in the last minute."""
        return self.file_times.recent(now_us), self.network_times.recent(now_us)

    def is_loose(self, path: str, since_us: int) -> bool:
        """Whether something may have changed a file since a time, without its text saying that it does."""
        if any(may_change_anything(one.deed.effects) for one in self.pending.values()):
            return True
        return self.files.is_loose(path, since_us)

    def maker(self, made: Made) -> Maker:
        """Who that is, for the next call."""
        if made.request == self.request:
            return Maker.REQUEST
        return Maker.SESSION
