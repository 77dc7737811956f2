"""What the text does not tell and that may be of a grave kind.

Owns which gaps in what was read are worth a question: text that is run and that no one can see; programs that are
unknown with something grave among their words, or that nothing tells the name of and that are given what lies outside
of the workspace (`$x -rf ~/Documents` may be anything, `$PYTHON -m pytest` is work); deletions of what is unknown; and
calls of file tools that do not say which file. Gaps in scripts that lie on disk are not asked about: they may be read
there. Code that hides what it runs is `concealed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tallystick.catalog.languages import LANGUAGES
from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.targets import path_of, spelled
from tallystick.intent.shell.wrappers import SHELL_OPTION
from tallystick.intent.tools.arguments import strings
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, STAR, Command, Role, Script, Word
from tallystick.policy.calls.legitimate_use import used_words
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.kinds.system import is_temporary
from tallystick.policy.risks.disks import is_disk
from tallystick.policy.risks.programs import called, name_of, own_scripts, reaching
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "untold-program": "A program that is not told, or not known, is given something grave: a secret, a start file.",
    "untold-code": "A text is run that comes from a variable, a file or a decoder, and that cannot be seen.",
    "untold-syntax": "The command cannot be read to its end, and names something grave.",
    "untold-deletion": "What is deleted with all below it is not told, and may be anything.",
    "untold-file": "A tool that changes files does not say which.",
}
_LOOKED_UP = pattern_of(
    r"\b(?:which|whence|command\s+-[vV]|type\s+-[pP]|npm\s+bin|xcrun|brew\s+--prefix|pyenv|rbenv|asdf)\b"
)
_FORCES = pattern_of(r"-[a-zA-Z]{0,6}[rRf][a-zA-Z]{0,6}|--(?:recursive|force|no-preserve-root)")
_OF_PROGRAMS = (
    "/usr/",
    "/opt/",
    "/lib/",
    "/lib64/",
    "/bin/",
    "/sbin/",
    "/nix/",
    "/snap/",
    "/Library/",
    "/Applications/",
    "/proc/",
    "/dev/",
)
_MOST_WORDS = 100


def program_risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    if not reading.effects.opaque:
        return
    for script in own_scripts(reading):
        for command in script.commands:
            words = _words(command)
            target = None
            if words:
                target = _outside(words[1:_MOST_WORDS], command.folder, reading)
            if target is not None:
                yield Risk("untold-program", target[:200])
            if words and _is_fed_by_a_host(command, script.commands):
                yield Risk("untold-program", f"{words[0].plain or '?'} gets what a host sends")


_FETCHERS = programs_with("fetches")


def _is_fed_by_a_host(command: Command, commands: Sequence[Command]) -> bool:
    """`curl … | "$X"`."""
    makers = [commands[n] for n in command.inputs if n < len(commands)]
    return any(called(maker) in _FETCHERS for maker in makers)


def _words(command: Command) -> Sequence[Word]:
    """The words of a command whose program is unknown; none of another."""
    words: Sequence[Word] = command.words
    if command.role is Role.UNTOLD and command.reason == "eval":
        text = " ".join(word.text for word in command.spelled[1:])
        words = [Word(part) for part in text.split(" ")[:_MOST_WORDS] if part]
    elif command.role is not Role.PROGRAM:
        return ()
    if not words or words[0].text.strip(HOLE) or HOLE not in words[0].text:
        return ()
    first = words[0]
    is_seen = bool(first.hidden) and (not first.commands or _LOOKED_UP.search(first.hidden[:400]) is not None)
    if is_seen:
        return ()
    return words


def _outside(words: Sequence[Word], folder: str | None, reading: CallReading) -> str | None:
    """The first path outside of the workspace that a program may do anything with."""
    has_force = any(_FORCES.fullmatch(word.plain) for word in words)
    for word in words:
        plain = word.plain
        if plain[:1] in ("-", "") or ("/" not in plain and plain not in ("~", "..")):
            continue
        if is_disk(plain):
            return plain
        if plain.startswith("~"):
            path = reading.home + plain[1:]
        else:
            path = path_of(word, folder).text
        if not path.startswith("/") or "://" in plain or _is_inside(path, reading):
            continue
        is_of_home = _is_below(path, reading.home)
        if (
            is_of_home
            or (has_force and not is_temporary(path, reading.home))
            or not (path.startswith(_OF_PROGRAMS) or is_temporary(path, reading.home))
        ):
            return path
    return None


def _is_inside(path: str, reading: CallReading) -> bool:
    return any(_is_below(path, folder) for folder in (reading.workspace, reading.folder) if folder)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


_SHELLS = programs_with("reads-shell-text")
_INTERPRETERS = programs_with("reads-code")
_SECRETS = frozenset(("secret", "credential"))
_GRAVE_KINDS = """
root home holds-secrets shell-start program-start git-hook git-settings schedule service autostart ssh-access account
loader agent-settings agent-extension shadows-program
"""
_GRAVE = _SECRETS | frozenset(_GRAVE_KINDS.split())
_MAKES_TEXT_NAMES = """
init init- hook env shellenv activate completion completions docker-env shell-init shell.bash shell.zsh shell.posix
generate-shell-completion path-add podman-env setup-shell
"""
_MAKES_TEXT = frozenset(_MAKES_TEXT_NAMES.split())
_PRINTS_SETTINGS = programs_with("prints-settings")
_PASSES = programs_with("passes-text")
_LISTS = programs_with("prints-names")
_READS = programs_with("prints-content")
_MOST_TOKENS = 300
_MOST_STRINGS = 60
_PATCH = pattern_of(r"^(?:\*\*\* |--- |\+\+\+ |diff |@@ )", re.MULTILINE)
_TOKENS = pattern_of(r"[^ \t\r\n\"'`;|&<>(){}=,]{2,300}")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    if any(intent.domain is Domain.UNKNOWN for intent in reading.effects.intents):
        yield from _unseen(reading, settings)
    for script in own_scripts(reading):
        for command in script.commands:
            name = called(command)
            if name in ("rm", "rimraf", "shred", "srm", "trash"):
                yield from _deleted(command, script.commands)
            elif name in ("chmod", "chown", "chgrp"):
                yield from _deleted(command, script.commands, only_deep=True)
            elif name == "dd":
                yield from _copied(command)
            elif command.inputs and command.words:
                yield from _fed(command, script.commands)
    for intent in reading.uses.intents:
        is_file = intent.domain is Domain.FILE and intent.operation in _CHANGES
        if is_file and not intent.is_known and not intent.target.strip("/") and _names_a_file(reading):
            yield Risk("untold-file", reading.call.tool[:100])


def _names_a_file(reading: CallReading) -> bool:
    """Whether an argument is a path or a patch, though not one that the tool is known to take."""
    for n, (_, text) in enumerate(strings(reading.call.args)):
        if n >= _MOST_STRINGS:
            return False
        if _PATCH.search(text[:2000]) or (
            "/" in text and len(text) < 300 and not re.search(r"[ \t\n]|://|^/memories\b", text)
        ):
            return True
    return False


_CHANGES = frozenset(
    {Operation.WRITE, Operation.EDIT, Operation.DELETE, Operation.APPEND, Operation.CREATE, Operation.RENAME}
)


# Text that runs -------------------------------------------------------------------------------------------------------


def _unseen(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """Gaps of the agent's own text."""
    scripts = own_scripts(reading)
    gaps = [intent for intent in reading.effects.intents if intent.domain is Domain.UNKNOWN]
    reasons = {intent.target.partition(":")[0] for intent in gaps}
    told = {intent.words for intent in gaps if intent.target.startswith(("eval:", "pipe:"))}
    for script in scripts:
        yield from _untold_texts(script, told)
        yield from (risk for intent in gaps for risk in _code(intent, script))
    if "program" in reasons:
        yield from (risk for intent in gaps for risk in _program(intent, reading, scripts, settings))
    if reasons & {"syntax", "size", "depth"}:
        yield from _lost(reading, settings)


def _untold_texts(script: Script, told: set[tuple[str, ...]]) -> Iterator[Risk]:
    """Texts of the shell that are run, and wholly unknown; `told` are the words of those that stayed unread."""
    for command in script.commands:
        if command.role is not Role.UNTOLD or command.reason not in ("eval", "pipe"):
            continue
        words = spelled(command.spelled)
        if words in told and _runs_unseen(command.reason, command, _run_words(command.spelled), script.commands):
            yield Risk("untold-code", " ".join(words)[:200])
            return


def _run_words(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Those that may be run: of `sh FILE ARGUMENT…` and `sh -c TEXT NAME ARGUMENT…`, none after the first operand."""
    if name_of(words[0].plain) not in _SHELLS:
        return words
    for n, word in enumerate(words[1:], 1):
        takes_next = n > 1 and SHELL_OPTION.fullmatch(words[n - 1].text) is not None
        if word.text[:1] not in ("-", "+") and not takes_next:
            return words[: n + 1]
    return words


def _code(intent: Intent, script: Script) -> Iterator[Risk]:
    """Code of other languages that is run: in a word, in a file, or on the input of its interpreter."""
    reason, _, what = intent.target.partition(": ")
    for command in script.commands[intent.command : intent.command + 1]:
        if command.role is not Role.PROGRAM:
            return
        if reason == "pipe":
            is_own = spelled(command.words)[1:] == intent.words[1:]
            is_unseen = is_own and bool(command.inputs) and not _is_generated(command.inputs, script.commands)
        else:
            is_code = reason == "script" or (reason == "code" and what.partition(":")[0] in LANGUAGES.code)
            # Where the text or the script itself is known, a word that is unknown is only an argument of it.
            words = [word for word in command.words[1:] if spelled((word,)) == intent.words]
            is_unseen = is_code and _runs_unseen(reason, command, (command.words[0], *words), script.commands)
        if is_unseen:
            yield Risk("untold-code", intent.target[:200])


def _runs_unseen(reason: str, command: Command, words: tuple[Word, ...], commands: tuple[Command, ...]) -> bool:
    holes = [word for word in words[1:] if not word.is_known and not word.plain.strip()]
    if reason == "pipe" and not holes:
        return bool(command.inputs) and not _is_generated(command.inputs, commands)
    if not holes:
        return False
    makers = [n for word in holes for n in word.commands]
    if reason in ("eval", "code"):
        return not makers or not _is_generated(makers, commands)
    # A script whose name is unknown: one of several that are listed is work.
    if any(word.is_stream for word in holes):
        return not _is_generated(makers, commands)
    names = _leaves(makers, commands)
    if names:
        return not (names <= _LISTS)
    return reason == "pipe" and not any(word.hidden for word in holes)


def _is_generated(makers: tuple[int, ...] | list[int], commands: tuple[Command, ...]) -> bool:
    """Whether a text is what a program prints for shells to run: `direnv hook bash`, `ssh-agent -s`."""
    found = [commands[n] for n in makers if n < len(commands)]
    programs = [command for command in found if command.role is Role.PROGRAM and command.words]
    return bool(programs) and len(programs) == len(found) and all(map(_prints_shell, programs))


def _prints_shell(command: Command) -> bool:
    name = called(command) or command.words[0].plain.rpartition("/")[2]
    if not command.words[0].is_known or name in _PASSES or command.inputs:
        return False
    words = {word.plain.lstrip("-").partition("=")[0] for word in command.words[1:]}
    return (
        name in _PRINTS_SETTINGS or name.startswith("register-python-argcomplete") or not words.isdisjoint(_MAKES_TEXT)
    ) or any("complet" in word for word in words)


def _leaves(makers: Iterable[int], commands: tuple[Command, ...]) -> set[str]:
    """The programs that something comes from, also through others."""
    found = [each for each in reaching(makers, commands) if each.role is Role.PROGRAM and each.words]
    names = {called(each) or "?" for each in found}
    return names - {"read", "mapfile", "readarray", "tee"}


def _fed(command: Command, commands: tuple[Command, ...]) -> Iterator[Risk]:
    """An interpreter that runs what reaches it, where nothing of it is told."""
    name = called(command)
    if name not in _INTERPRETERS or (command.input is not None and command.input.is_known):
        return
    own = [word.plain for word in command.words[1:] if word.plain != "-"]
    if any(text[:1] != "-" or text[:2] in _TAKES_CODE for text in own):
        return
    makers = [maker for maker in reaching(command.inputs, commands) if maker.role is Role.PROGRAM]
    if not all(word.is_known for maker in makers for word in maker.words):
        yield Risk("untold-code", f"pipe: {name}")


_TAKES_CODE = ("-c", "-e", "-m", "-r", "-p")


# Programs -------------------------------------------------------------------------------------------------------------


def _program(intent: Intent, reading: CallReading, scripts: tuple[Script, ...], settings: Settings) -> Iterator[Risk]:
    """A program of which it is unknown what it does with something grave."""
    if not intent.target.startswith("program:"):
        return
    is_unnamed = intent.target == "program: ?"
    for script in scripts:
        for command in script.commands[intent.command : intent.command + 1]:
            if command.role is not Role.PROGRAM or spelled(command.words) != intent.words:
                continue
            used = used_words([word.plain for word in command.words])
            for word in command.words[1:]:
                for part in _parts(word):
                    if part.plain in used:
                        continue
                    target = path_of(part, command.folder)
                    kinds = _kinds(target.text, reading, settings, is_known=target.is_known)
                    # A bare noun may be a verb of the program, or a value: `git secret reveal`, `tool token list`.
                    is_noun = part.plain.isalpha() and part.plain.islower()
                    if kinds & (_GRAVE if is_unnamed else _SECRETS) - ({"credential"} if is_noun else set()):
                        yield Risk("untold-program", target.text[:200])
                        return


def _parts(word: Word) -> Iterator[Word]:
    """The paths that a word may name: itself, what stands after `=`, after `@`."""
    text = word.text
    if text.strip(HOLE) and text[:1] != "-":
        yield word
    if "=" in text:
        after = text.partition("=")[2]
    elif text[:1] == "@":
        after = text[1:]
    else:
        after = ""
    if after:
        yield Word(after)


def _kinds(path: str, reading: CallReading, settings: Settings, *, is_known: bool = True) -> frozenset[str]:
    if not path.startswith("/"):
        return frozenset()
    named = Named(path=path, real=path, home=reading.home, workspace=reading.workspace, is_known=is_known)
    return kinds_of(named, settings)


def _lost(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """A text that could not be read to its end: what it names, word by word."""
    left = _MOST_TOKENS
    for text in reading.texts:
        for found in _TOKENS.finditer(text[: 64 << 10]):
            token = found[0]
            if "/" not in token and token[:1] not in ("~", "."):
                continue
            left -= 1
            if left < 0:
                return
            path = path_of(Word(_at_home(token, reading.home)), reading.folder).text
            if _kinds(path, reading, settings) & _NAMED_GRAVE:
                yield Risk("untold-syntax", token[:200])
                return


_NAMED_GRAVE = _GRAVE - {"home", "root", "holds-secrets"}


def _at_home(token: str, home: str) -> str:
    lead = next((lead for lead in ("~", "$HOME", "${HOME}") if token.startswith(lead)), "")
    if lead:
        return home + token[len(lead) :]
    return token


# Deletions ------------------------------------------------------------------------------------------------------------

_ROOTS = frozenset(("", "*", ".*", "..", "usr", "etc", "home", "var", "bin", "lib", "opt", "root", "Users", "System"))


def _copied(command: Command) -> Iterator[Risk]:
    """`dd of="$X"`: a file or a disk, and nothing tells which."""
    for word in command.words[1:]:
        if word.text == f"of={HOLE}" and not word.hidden and not word.commands:
            yield Risk("untold-deletion", " ".join(each.plain for each in command.words)[:200])


def _deleted(command: Command, commands: tuple[Command, ...], *, only_deep: bool = False) -> Iterator[Risk]:
    """`rm -rf "$X"/*`, where X may be empty; `rm -rf` of what a file or a host tells; `chmod -R` of the same."""
    options = [word.plain for word in command.words[1:] if word.plain[:1] == "-"]
    is_deep = any(text == "--recursive" or (text[:2] != "--" and set(text) & set("rR")) for text in options)
    risk: Risk | None = None
    for word in command.words[1:] if is_deep or not only_deep else ():
        if not word.is_known and _may_be_anything(word, commands, is_deep=is_deep):
            risk = risk or Risk("untold-deletion", " ".join(each.plain for each in command.words)[:200])
            yield risk


def _may_be_anything(word: Word, commands: tuple[Command, ...], *, is_deep: bool) -> bool:
    if ":?" in word.hidden or "mktemp" in word.hidden:
        return False
    head, slash, rest = word.text.replace(STAR, "*").partition("/")
    if head.strip(HOLE) or HOLE not in head:
        return False
    if slash and rest.strip("/").partition("/")[0] in _ROOTS:
        return not word.hidden and not word.commands
    if not is_deep and any(map(_lists_all, reaching(word.commands, commands))):
        return not rest
    return is_deep and not rest and _is_told_elsewhere(word, commands)


def _is_told_elsewhere(word: Word, commands: tuple[Command, ...]) -> bool:
    """Whether what is deleted is in a file or an answer, not in a list of files. An empty variable deletes nothing."""
    if word.commands:
        found = list(reaching(word.commands, commands))
        is_file = any(map(_reads_a_file, found)) or any(map(_lists_all, found))
        return is_file or bool(_leaves(word.commands, commands) & _READS)
    if any(_takes_a_list(command) for command in commands):
        return not word.hidden
    return any(command.role is Role.WRAPPER and _is_fed_a_file(command, commands) for command in commands)


def _lists_all(command: Command) -> bool:
    """`git ls-files`: everything that the project has, or with `-o` everything that it does not."""
    words = [word.plain for word in command.words]
    if len(words) < 2 or name_of(words[0]) != "git" or words[1] != "ls-files":
        return False
    return not any(word[:1] != "-" or word in _SOME_FILES for word in words[2:])


_SOME_FILES = frozenset(("-d", "--deleted", "-i", "--ignored", "-x", "-X", "--exclude-from", "-m", "--modified"))


def _is_fed_a_file(command: Command, commands: tuple[Command, ...]) -> bool:
    """Whether it is an `xargs` whose input is a file: `xargs rm -rf < list.txt`."""
    is_list = any(name_of(word.plain) == "xargs" for word in command.spelled[:16])
    return is_list and any(map(_reads_a_file, commands))


def _reads_a_file(command: Command) -> bool:
    """`< FILE` around what follows."""
    return command.role is Role.GROUP and any(not one.writes and one.operator == "<" for one in command.redirects)


def _takes_a_list(command: Command) -> bool:
    """Whether it is an `xargs` that reads a file of its own."""
    words = [word.plain for word in command.spelled]
    return bool(words) and name_of(words[0]) in ("xargs", "parallel") and bool(_LISTS_OF.intersection(words))


_LISTS_OF = frozenset(("-a", "--arg-file", "::::"))
