"""Programs that keep, make and use keys and secrets.

Owns gpg, ssh-keygen, the keychains and password stores. Sources: gpg(1), ssh-keygen(1), age(1), security(1), secret-tool(1).
"""

from __future__ import annotations

from tallystick.catalog.programs import words_of
from tallystick.intent.programs.arguments import Line, at_home, below, renamed
from tallystick.intent.programs.rules import Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

RULES = Rules()

_SECURITY = grammar_of("security")


@RULES.of("keychain", _SECURITY)
def _keychain(built: Builder, line: Line, command: Command) -> None:
    """`security`, `secret-tool`, `pass`, `op`: `find` and `lookup` print secrets, `add` and `store` keep them."""
    verb = line.operand(0)
    target = renamed(command.words[0], f"keychain:{command.program}")
    if verb.startswith(("find", "dump", "export", "lookup", "search", "show", "read", "get", "item", "inject")):
        built.show(built.add(Operation.READ, target, words=command.words[:2]))
    elif verb.startswith(
        ("add", "delete", "set", "store", "clear", "import", "insert", "rm", "edit", "generate", "create")
    ):
        built.add(Operation.EDIT, target, words=command.words[:2])


_GPG_SERVER = ("--recv-keys", "--refresh-keys", "--search-keys", "--send-keys")
_GPG_EXPORT = ("--export-secret-keys", "--export-secret-subkeys", "--export")
_GPG_RING = words_of("gpg", "ring")
_GPG_TEXT = ("-a", "--armor", "--clearsign", "--clear-sign")
_GPG_MAKES = words_of("gpg", "makes")


@RULES.of("gpg")
def _gpg(built: Builder, line: Line, command: Command) -> None:
    """`gpg`: encrypts and signs beside the file, decrypts to the output, unless `-o` says where."""
    for word in line.values("--passphrase-file"):
        built.read(word)
    if line.has(*_GPG_SERVER):
        if line.has("--send-keys"):
            operation = Operation.SEND
        else:
            operation = Operation.FETCH
        built.add(operation, line.value("--keyserver") or Word("hkps://keys.openpgp.org"), words=command.words[:2])
    elif line.has(*_GPG_RING):
        _gpg_ring(line, built, command.words[:2])
    else:
        _gpg_files(line, built)


def _gpg_ring(line: Line, built: Builder, words: tuple[Word, ...]) -> None:
    """What is done with the keys that are there: exported, listed, changed."""
    source = None
    if line.has(*_GPG_EXPORT):
        source = built.add(Operation.READ, line.value("--homedir") or at_home(".gnupg"), words=words, deep=True)
    made = [built.write(word) for word in line.values("-o", "--output")]
    built.flow([source], made)
    if not made:
        built.show(source)


def _gpg_files(line: Line, built: Builder) -> None:
    """What becomes of the files that are named, or of what is piped in."""
    sources = [built.read(word) for word in line.operands]
    built.reads_input = built.reads_input or not line.operands
    output = line.value("-o", "--output")
    if output is not None:
        made = [built.write(output)]
        built.flow(sources, made)
        if built.reads_input:
            built.feed(*made)
    elif line.has(*_GPG_MAKES) and line.operands:
        if line.has(*_GPG_TEXT):
            suffix = ".asc"
        elif line.has("-b", "--detach-sign"):
            suffix = ".sig"
        else:
            suffix = ".gpg"
        for at, word in zip(sources, line.operands, strict=False):
            built.flow([at], [built.write(renamed(word, f"{word.text}{suffix}"), words=(word,))])
    else:
        built.show(*sources)


@RULES.of("ssh-keygen")
def _ssh_keygen(built: Builder, line: Line, command: Command) -> None:
    """`ssh-keygen -f FILE`: a key and its public half; `-y`, `-l` read one; `-R HOST` forgets a host."""
    file = line.value("-f")
    if line.has("-R"):
        words = tuple(line.values("-R"))
        if file:
            words = (file,)
        built.add(Operation.EDIT, file or at_home(".ssh/known_hosts"), words=words)
    elif line.has("-y", "-l", "-F", "-e", "-B"):
        built.show(
            built.add(Operation.READ, file or at_home(".ssh/id_rsa"), words=(file,) if file else command.words[:2])
        )
    elif line.has("-p", "-c"):
        built.add(Operation.EDIT, file or at_home(".ssh/id_rsa"), words=(file,) if file else command.words[:2])
    else:
        key = file or below(at_home(".ssh"), Word(f"id_{line.said('-t') or 'ed25519'}"))
        for name in (key, renamed(key, f"{key.text}.pub")):
            built.add(Operation.WRITE, name, words=(file,) if file else command.words[:1])
