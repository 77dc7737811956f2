"""What files, pipes and devices hold while the intents of commands are made.

Owns the intents of actions and redirects on them, what a file holds after something was written to it, and what a program
prints of the files that it reads. Must not know what is run.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tallystick.intent.actions import Action, Actions
from tallystick.intent.shell.feeds import passed_on
from tallystick.intent.shell.files import Text, read, together
from tallystick.intent.shell.intents import Intents, Site
from tallystick.intent.shell.output import NOTHING, Output
from tallystick.intent.shell.targets import Target, is_no_file, path_of, socket_of, target_of
from tallystick.model.intent import Domain, Operation
from tallystick.model.script import Command, Redirect, Word

READS = frozenset({Operation.READ, Operation.COPY_SOURCE, Operation.EXECUTE, Operation.LIST, Operation.RENAME})
INTO_VARIABLES = frozenset({"read", "mapfile", "readarray"})


class Holding(Intents):
    """Collects intents, and what the files and pipes hold that they concern."""

    def _action(self, site: Site, action: Action) -> int:
        """The place that stands for an action: its intent, or a pipe where it concerns no file."""
        word, operation = action.target, action.operation
        if word.is_stream:
            return self._stream(site, word, operation in READS)
        target = target_of(action.domain, word, site.command.folder)
        if action.domain is Domain.FILE:
            if is_no_file(target.text):
                return self._device(site, target.text, operation in READS)
            host = socket_of(target.text)
            if host is not None:
                return self.add(site, _connection(word), Target(host))
        fed = NOTHING
        if action.from_input and operation in (Operation.WRITE, Operation.APPEND):
            fed = site.fed
        if operation is Operation.WRITE and action.content is None:
            content = fed.text
        else:
            content = action.content
        after = None
        if action.domain is Domain.FILE and content is None:
            after = self._after(site, word, operation, fed)
        is_authored = action.is_authored or fed.is_authored
        if is_authored is not action.is_authored or content is not action.content:
            action = replace(action, is_authored=is_authored, content=content)
        node = self.add(site, action, target)
        if after is not None:
            self._keep(site, word, after)
        return node

    def _stream(self, site: Site, word: Word, is_read: bool) -> int:
        """A pipe to or from the commands in `<(…)` or `>(…)`."""
        node = self.plumbing.pipe()
        for n in word.commands:
            if is_read:
                self.plumbing.connect(site.outs[n], node)
            else:
                self.plumbing.connect(node, site.ins[n])
        return node

    def _device(self, site: Site, path: str, is_read: bool) -> int:
        if is_read and path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            return site.into
        if not is_read and path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            return site.out
        return self.plumbing.pipe()

    def _redirect(self, site: Site, redirect: Redirect, output: Output, is_bound: bool) -> None:
        word, operator = redirect.target, redirect.operator
        is_input = redirect.descriptor in ("", "0")
        if operator == "<>":
            node = self._file(site, redirect, Operation.READ)
            self.plumbing.connect(node, site.into if is_input else self.plumbing.pipe())
            if socket_of(path_of(word, site.command.folder).text) is None:
                self._file(site, redirect, Operation.EDIT)
        elif not redirect.writes:
            if word.is_stream:
                node = self._stream(site, word, True)
            else:
                node = self._file(site, redirect, Operation.READ)
            if is_input:
                self.plumbing.connect(node, site.into)
        else:
            if operator.endswith(">>"):
                operation = Operation.APPEND
            else:
                operation = Operation.WRITE
            is_stream = word.is_stream
            if is_stream:
                node = self._stream(site, word, False)
            else:
                node = self._file(site, redirect, operation, output)
            if is_bound:
                self.plumbing.connect(site.out, node)

    def _file(self, site: Site, redirect: Redirect, operation: Operation, output: Output = NOTHING) -> int:
        target = path_of(redirect.target, site.command.folder)
        words = (Word(f"{redirect.descriptor}{redirect.operator}"), redirect.target)
        if is_no_file(target.text):
            return self.plumbing.pipe()
        host = socket_of(target.text)
        if host is not None:
            return self.add(site, _connection(*words), Target(host, target.is_known))
        after = self._after(site, redirect.target, operation, output)
        content = None
        if operation is Operation.WRITE:
            content = output.text
        action = Action(
            domain=Domain.FILE,
            operation=operation,
            target=redirect.target,
            words=words,
            is_authored=output.is_authored,
            content=content,
        )
        node = self.add(site, action, target)
        if after is not None and (operation is not Operation.WRITE or output.text is None):
            self._keep(site, redirect.target, after)
        return node

    def _held(self, site: Site, word: Word, told: Sequence[Output] = ()) -> Text:
        """What the file holds that a word names, or what comes out of the commands that it is a pipe from."""
        if word.is_stream:
            told = told or site.told
            return together([told[n].held for n in word.commands if n < len(told)] or [None])
        target = path_of(word, site.command.folder)
        if target.is_known and not target.is_pattern:
            return self.files.held(target.text)
        return None

    def _keep(self, site: Site, word: Word, text: Text) -> None:
        """Take note of what a file holds from here on."""
        target = path_of(word, site.command.folder)
        if target.is_known and not target.is_pattern:
            self.files.change(target.text, text)

    def _after(self, site: Site, word: Word, operation: Operation, output: Output) -> Text:
        """What a file holds after something was written to it: all of it, or with what was there before."""
        match operation:
            case Operation.WRITE:
                return output.held
            case Operation.APPEND:
                before = self._held(site, word)
                if output.held is not None:
                    return together([lambda: read(before) or "", output.held])
                return before
            case Operation.EDIT:
                return self._held(site, word)
            case _:
                return None

    def _carried(self, site: Site, name: str, command: Command, actions: Actions) -> Text:
        """What a program prints of the files that it reads and of its input."""
        if name in INTO_VARIABLES:
            return site.fed.held
        shown = [actions.actions[n] for n in actions.prints if n < len(actions.actions)]
        texts = [self._held(site, action.target) for action in shown if action.domain is Domain.FILE]
        if actions.reads_input and site.fed.held is not None:
            texts += [site.fed.held]
        return passed_on(name, command, together(texts) if texts else None)[0]


def _connection(*words: Word) -> Action:
    """What the shell does for a path below `/dev/tcp` or `/dev/udp`."""
    return Action(domain=Domain.NETWORK, operation=Operation.CONNECT, target=words[-1], words=words)
