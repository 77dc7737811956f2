"""Programs that read text and print text.

Owns filters, searches and comparisons, and the few of them that can write: `sort -o`, `sed -i`, `yq -i`, `uniq IN
OUT`. Sources: the manual pages of coreutils, grep, sed, gawk, diffutils, util-linux, ripgrep, jq, yq.
"""

from __future__ import annotations

import msgspec

from tallystick.catalog.programs import Program, arguments_of
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import MOST_WORDS, Line, grammar, is_fed, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, Rules, filtering
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

_PATTERN = "-e -f --regexp --file"


def searcher(entry: Program) -> Rule:
    """`rg`, `ag`, `ack`: without a path they read what they are fed, or else the working folder."""
    rules, lists = grammar(f"{entry.takes} {_PATTERN}"), entry.listing.split()

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        is_list = False
        if lists:
            is_list = line.has(*lists)
        has_pattern = line.has(*_PATTERN.split()) or line.has("--files")
        if has_pattern:
            paths = line.operands
        else:
            paths = line.operands[1:]
        built.show(*[built.read(word) for word in line.values("-f", "--file")])
        for path in paths:
            if path.text == "-":
                built.reads_input = True
            else:
                built.show(
                    built.add(Operation.LIST if is_list and line.has("--files") else Operation.READ, path, deep=True)
                )
        if not paths and is_fed(command):
            built.reads_input = True
        elif not paths:
            if line.has("--files", "--type-list"):
                operation = Operation.LIST
            else:
                operation = Operation.READ
            built.show(built.add(operation, Word("."), words=command.words[:1], deep=True))
        return built.build()

    return rule


@RULES.of("grep")
def _grep(built: Builder, line: Line, command: Command) -> None:
    """`grep`: with `-r` and no path, the working folder."""
    deep = line.has("-r", "-R", "--recursive", "--dereference-recursive") or command.program == "rgrep"
    if line.has(*_PATTERN.split()):
        paths = line.operands
    else:
        paths = line.operands[1:]
    built.show(*[built.read(word) for word in line.values("-f", "--file")])
    built.show(*[built.read(word, deep=deep) for word in paths])
    if not paths and deep:
        built.show(built.add(Operation.READ, Word("."), words=command.words[:1], deep=True))
    built.reads_input = built.reads_input or not (paths or deep)


@RULES.of("awk")
def _awk(built: Builder, line: Line, command: Command) -> None:
    """`awk`: the first operand is the program; `name=value` among the others is not a file."""
    sources = line.values("-e", "--source")
    has_file = line.has("-f", "-E", "--file", "--exec")
    if sources or has_file:
        operands = line.operands
    else:
        operands = line.operands[1:]
    if sources or has_file:
        sources += []
    else:
        sources += line.operands[:1]
    built.codes = [Code("awk", source) for source in sources]
    for script in line.values("-f", "-E", "--file", "--exec"):
        if script.text not in ("-", "/dev/stdin"):
            built.run(script)
        elif command.input is not None:
            built.codes.append(Code("awk", command.input))
    files = [word for word in operands if not word.text.partition("=")[0].isidentifier() or "=" not in word.text]
    in_place = any(value.text in ("inplace", "/usr/share/awk/inplace.awk") for value in line.values("-i", "--include"))
    for word in files:
        if in_place:
            built.author(Operation.EDIT, word)
        else:
            built.show(built.read(word))
    built.reads_input = built.reads_input or not files


_JQ = filtering(arguments_of("jq"))


def _jq(command: Command) -> Actions:
    """`jq`: some options take a name and then a value or a file."""
    words: list[Word] = []
    at = 0
    given = command.words[:MOST_WORDS]
    while at < len(given):
        text = given[at].text
        if text in ("--arg", "--argjson"):
            at += 3
        elif text in ("--slurpfile", "--rawfile"):
            words += [given[at], *given[at + 2 : at + 3]]
            at += 3
        else:
            words.append(given[at])
            at += 1
    return _JQ(msgspec.structs.replace(command, words=tuple(words)) if len(words) < len(given) else command)


_SED = filtering(arguments_of("sed"))
_APART = pattern_of(r"\.[\w.-]{1,16}|")


def _sed(command: Command) -> Actions:
    """`sed`: on BSD the ending of a copy is a word of its own, `-i ''`; no script begins with a dot, and none is empty."""
    words = list(command.words[:MOST_WORDS])
    for n, word in enumerate(words[:-1]):
        is_short = word.text[:1] == "-" and word.text[1:2] not in ("", "-") and word.text.endswith("i")
        if is_short and words[n + 1].is_known and _APART.fullmatch(words[n + 1].text):
            words[n : n + 2] = [renamed(word, word.text + words[n + 1].text)]
            return _SED(msgspec.structs.replace(command, words=(*words, *command.words[MOST_WORDS:])))
    return _SED(command)


@RULES.of("tee")
def _tee(built: Builder, line: Line, command: Command) -> None:
    """`tee`: its input goes to files and to its output."""
    if line.has("-a", "--append"):
        operation = Operation.APPEND
    else:
        operation = Operation.WRITE
    built.feed(*[built.add(operation, word) for word in line.operands])
    built.reads_input = built.echoes = True


@RULES.of("split")
def _split(built: Builder, line: Line, command: Command) -> None:
    """`split [FILE [PREFIX]]`, `csplit -f PREFIX FILE PATTERN…`: files whose names begin with the prefix."""
    if command.program.endswith("csplit"):
        prefix = line.value("-f", "--prefix") or Word("xx")
    elif len(line.operands) > 1:
        prefix = line.operands[1]
    else:
        prefix = Word("x")
    source = None
    if line.operands:
        source = built.read(line.operands[0])
    built.reads_input = built.reads_input or not line.operands
    pieces = built.add(Operation.WRITE, Word(f"{prefix.text}\ue000", prefix.hidden), words=(prefix,))
    built.flow([source], [pieces])
    if built.reads_input:
        built.feed(pieces)
    built.codes += [Code("sh", word) for word in line.values("--filter")]


RULES |= {
    "jq": _jq,
    "sed": _sed,
}
