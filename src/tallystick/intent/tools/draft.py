"""What is found in one call, while it is put together.

Owns Draft: which paths and URLs an intent gets, and that nothing is said twice or without bound. Must not
know any tool.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from tallystick.intent.tools.arguments import NAMES, Members, decoded, members_of, text_among
from tallystick.intent.tools.paths import absolute, is_encodable, printable, web_address
from tallystick.intent.tools.uses import Code, ToolCall, Uses
from tallystick.model.intent import Domain, Flow, Intent, Operation
from tallystick.model.paths import folder_of, system_of
from tallystick.model.step import Json

MOST = 200
"""Intents of one call; as many commands, programs and codes."""
_LONGEST_WORD = 200


class Draft:
    """A call that is being read. Rules of `table` call its methods."""

    def __init__(self, call: ToolCall) -> None:
        self._called(call.tool, call.args)
        self.agent, self.server = call.agent, call.server
        self.home = call.home
        self.system = system_of(call.folder)
        self.folder = folder_of(call.folder)
        self.intents: list[Intent] = []
        self.flows: list[Flow] = []
        self.commands: list[str] = []
        self.programs: list[tuple[str, ...]] = []
        self.codes: list[Code] = []
        self.started: list[str] = []
        """Sub-agents."""
        self.typed: list[str] = []
        self.is_told = True
        self.searched: list[int] = []
        self.picked: list[str] = []

    def _called(self, tool: str, args: Json) -> None:
        self.tool = printable(tool[:_LONGEST_WORD])
        self.args = decoded(args)
        self.text: str | None = None
        """The arguments, where they are a mere text."""
        if isinstance(self.args, str):
            self.text = self.args
        self.members: Members = members_of(self.args)

    def inner(self, tool: str, args: Json) -> Draft:
        """A call that this one makes; what is found in it counts as found in this one."""
        inner = copy(self)
        inner._called(tool, args)
        return inner

    def enter_folder(self) -> None:
        """The arguments may name the folder that it runs in: from here on, paths are relative to that."""
        named = text_among(self.members, *NAMES.working_folders)
        if named is not None:
            self.folder = absolute(named, self.folder, self.home)[0]

    def intent(self, intent: Intent) -> int:
        """Add an intent; its position, or that of its double, or -1 if there are too many."""
        if intent in self.intents:
            return self.intents.index(intent)
        if len(self.intents) >= MOST:
            return -1
        self.intents.append(intent)
        return len(self.intents) - 1

    def file(self, operation: Operation, path: str, *, is_deep: bool = False) -> int:
        """Add what is done to a file; its position, or -1."""
        target, is_known = absolute(path, self.folder, self.home)
        return self.intent(
            Intent(domain=Domain.FILE, operation=operation, target=target, is_known=is_known, is_deep=is_deep)
        )

    def author(self, operation: Operation, path: str, content: str | None = None) -> int:
        """Add what a file gets from the arguments: `content` is all of it, where they tell; its position, or -1."""
        target, is_known = absolute(path, self.folder, self.home)
        if content is not None and not is_encodable(content):
            content = None
        return self.intent(
            Intent(
                domain=Domain.FILE,
                operation=operation,
                target=target,
                is_known=is_known,
                is_authored=True,
                content=content,
            )
        )

    def pattern(self, operation: Operation, path: str, *, is_deep: bool) -> int:
        """Add what is done to the files that a path with wildcards names; its position, or -1."""
        target = absolute(path, self.folder, self.home)[0]
        return self.intent(
            Intent(
                domain=Domain.FILE,
                operation=operation,
                target=target,
                is_known=False,
                is_pattern=True,
                is_deep=is_deep,
            )
        )

    def pick(self, folder: str, pattern: str) -> None:
        """Add a pattern by which files below a folder are looked through."""
        if not pattern.startswith("!") and len(self.picked) < MOST:
            self.picked.append(absolute(f"{folder}/{pattern}", self.folder, self.home)[0])

    def files(self, operation: Operation, paths: Iterable[str], *, is_authored: bool = False) -> None:
        """Add what is done to several files. None at all: it is done to a file that is unknown."""
        if is_authored:
            found = [self.author(operation, path) for path in paths]
        else:
            found = [self.file(operation, path) for path in paths]
        if not found:
            self.intent(
                Intent(
                    domain=Domain.FILE,
                    operation=operation,
                    target="",
                    is_known=False,
                    is_authored=is_authored,
                    words=(self.tool,),
                )
            )

    def flow(self, source: int, target: int) -> None:
        """What one intent reads goes into what the other one writes."""
        if source >= 0 and target >= 0 and source != target:
            self.flows.append(Flow(source, target))

    def network(self, operation: Operation, url: str) -> int:
        """Add a transfer from or to a URL."""
        return self.other(Domain.NETWORK, operation, web_address(url))

    def other(self, domain: Domain, operation: Operation, target: str, *words: str) -> int:
        """Add an intent on something that is not a file."""
        said = tuple(printable(word[:_LONGEST_WORD]) for word in words)
        is_known = domain is not Domain.UNKNOWN
        return self.intent(
            Intent(domain=domain, operation=operation, target=printable(target), is_known=is_known, words=said)
        )

    def unknown(self, *words: str) -> None:
        """Something is done and the arguments do not tell what."""
        self.other(Domain.UNKNOWN, Operation.UNKNOWN, self.tool, *words)

    def done(self) -> Uses:
        """What was found."""
        agent = None
        if self.started:
            agent = self.started[0]
        return Uses(
            intents=tuple(self.intents),
            flows=tuple(self.flows),
            commands=tuple(self.commands[:MOST]),
            programs=tuple(self.programs[:MOST]),
            codes=tuple(self.codes[:MOST]),
            folder=self.folder,
            agent=agent,
            typed=tuple(self.typed[:MOST]),
            is_told=self.is_told,
            searched=tuple(self.searched),
            picked=tuple(self.picked),
        )
