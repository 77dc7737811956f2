"""Secrets that a call looks for and reads, and broad looks that no single path shows.

Owns recognizing that: secrets that are found by name and shown, picked by a pattern, taken from a repository's history;
indexes of the machine, all commits of a project, a pattern across home folders. Where a path is in a call, the path is
judged; here the path is only known once it is found. A folder that is searched whole is judged as a path, by what lies
below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from tallystick.catalog.programs import names_of, programs_with, words_of
from tallystick.model.intent import Domain, Operation
from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.kinds.homes import below_home, is_above_homes, plain
from tallystick.policy.kinds.secrets import is_secret, kind_of
from tallystick.policy.kinds.wildcards import has_wildcards
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "reads-secret": "It looks for secrets and reads what it finds.",
    "reads-credential": "It looks for what may hold credentials, by name, and reads what it finds.",
    "sweep": "It looks through a whole machine, home folders, or all commits of a project.",
}
_READS = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.EXECUTE))
_FINDERS = programs_with("finder")
_RISK_OF = {"secret": "reads-secret", "credential": "reads-credential"}
_SEARCHERS = programs_with("searcher")
_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname"))
_RUNS = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch", "-fprintf")
_PICKING = frozenset(("--include", "-g", "--glob", "--iglob", "-G", "--file-search-regex"))
_MOST_CODE = 48 << 10
_REGEX_SIGNS = pattern_of(r"\\([.\-_])|[\^$()]|\.\*")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for pattern in (*reading.uses.picked, *_all_picked(reading)):
        risk = _RISK_OF.get(kind_of(pattern, reading.home) or "")
        if risk is not None:
            yield Risk(risk, pattern[:200])
    yield from _parsed(reading)
    if reading.scripts:
        yield from _in_commands(reading)


_PARSING = pattern_of(
    r"\b(?:dotenv_values|dotenv\.parse|godotenv\.Read|Dotenv\.parse|parse_dotenv|(?:dotenv['\"]?\)?)\.config)"
    r"\([^)]{0,200}\)(\.parsed)?"
)


def _parsed(reading: CallReading) -> Iterator[Risk]:
    """Code of the call itself that parses a file of variables. A program of the project that loads its own does its work."""
    for snippet in reading.snippets:
        if "dotenv" in snippet.text.lower() and any(snippet.text in text for text in reading.texts):
            for found in _PARSING.finditer(snippet.text[:_MOST_CODE]):
                if ".config(" not in found[0] or found[1]:
                    yield Risk("reads-secret", found[0][:200])


def _in_commands(reading: CallReading) -> Iterator[Risk]:
    found: list[str] = []
    is_read = _reads_what_is_found(reading)
    for program in programs(reading):
        if program.name in _FINDERS and (is_read or program.has(*_RUNS)):
            found += _sought(program, reading)
        if program.name == "git":
            found += _in_history(program, reading)
    if is_read:
        found += _listed(reading)
    yield from (Risk("reads-secret", path[:200]) for path in dict.fromkeys(found))


def _reads_what_is_found(reading: CallReading) -> bool:
    """Whether files are read that another command names."""
    return any(
        intent.domain is Domain.FILE and intent.operation in _READS and not intent.is_known and not intent.is_pattern
        for intent in reading.effects.intents
    )


def _listed(reading: CallReading) -> Iterator[str]:
    """Secrets that a call lists: `cat $(ls ~/.ssh/id_*)`."""
    for intent in reading.effects.intents:
        is_list = intent.domain is Domain.FILE and intent.operation is Operation.LIST
        if (
            is_list
            and is_secret(intent.target, reading.home, reading.workspace)
            and not _is_narrowed(intent.target, reading)
        ):
            yield intent.target


def _is_narrowed(folder: str, reading: CallReading) -> bool:
    """Whether `find` looks below the folder for names that are not secrets: public keys."""
    finders = [program for program in programs(reading) if program.name in _FINDERS]
    return bool(finders) and all(
        (names := _names(program)) and not any(is_secret(f"{folder}/{name}", reading.home) for name in names)
        for program in finders
    )


def _sought(program: Started, reading: CallReading) -> Iterator[str]:
    """The secrets that `find` or `fd` looks for by name."""
    if program.name not in ("fd", "fdfind"):
        names = _names(program)
    else:
        names = [_pattern_of(word) for word in program.operands[:1]]
    roots = [root for root in program.operands if root.startswith(("/", "~"))] or [reading.folder or ""]
    for name in names:
        yield from (f"{root}/{name}" for root in roots if _is_sought(name, root, reading.home))


def _is_sought(name: str, root: str, home: str) -> bool:
    """Whether a name below a folder is meant for a secret; below a home folder in whatever hidden folder that is."""
    folder = plain(root)
    is_home = below_home(folder, home) == "" or is_above_homes(folder, home)
    last = name.removeprefix("*/").lstrip("/")
    places = (f"{root}/{last}", f"{home}/.any/{last}") if is_home else (f"{root}/{last}",)
    return any(is_secret(place, home) for place in places)


def _names(program: Started) -> list[str]:
    """The patterns of names that `find` wants; those after `!` it does not."""
    words = program.words
    return [
        word if before in ("-name", "-iname") else _pattern_of(word)
        for n, (before, word) in enumerate(pairwise(words))
        if before in _NAMES and (n == 0 or words[n - 1] not in ("!", "-not"))
    ]


def _pattern_of(regex: str) -> str:
    """A regular expression as a pattern of names, as far as it is simple."""
    return _REGEX_SIGNS.sub(lambda found: found[1] or ("*" if found[0] == ".*" else ""), regex[:200])


def _all_picked(reading: CallReading) -> Iterator[str]:
    """The patterns by which searches pick files: `grep -r --include=.env*`, `rg -g '*.pem'`."""
    for program in programs(reading):
        if program.name in _SEARCHERS:
            yield from (placed(pattern, reading.folder) for pattern in _picked(program))


def _picked(program: Started) -> Iterator[str]:
    words = program.words
    for n, word in enumerate(words):
        option, joint, value = word.partition("=")
        if option in _PICKING:
            if joint:
                pattern = value
            elif n + 1 < len(words):
                pattern = words[n + 1]
            else:
                pattern = ""
            if pattern and not pattern.startswith("!"):
                yield pattern


# What version control keeps -------------------------------------------------------------------------------------------

_SHOWING = names_of("git", "shows")
_SUMMARIES = words_of("git", "summaries")
_PATCHES = ("-p", "-u", "--patch", "-G", "-L", "--patch-with-stat", "-c", "--cc")


def _in_history(program: Started, reading: CallReading) -> Iterator[str]:
    """Secrets that `git` shows as they are, or were, in a commit: `git show HEAD:.env`."""
    operands = program.operands
    verb = next((word for word in operands if word in _SHOWING or word in ("log", "stash")), "")
    if not verb or (verb in ("log", "stash") and not program.has(*_PATCHES)):
        return
    if any(word in _SUMMARIES for word in program.words):
        return
    yield from (word for word in operands if word != verb and _is_secret_of_commit(word, reading))


def _is_secret_of_commit(word: str, reading: CallReading) -> bool:
    path = word.partition(":")[2] or word
    return is_secret(placed(path, reading.folder), reading.home, reading.workspace)


_SCANNED = frozenset((Operation.READ, Operation.COPY_SOURCE))
_PROMISES = pattern_of(r"(?i)passw|secret|token|credential|api.?key|private.?key|akia|bearer|-----begin")


def scan_risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for program in programs(reading):
        word = _FORMS.of(program)
        if word is not None and not _is_within(program, reading):
            yield Risk(word, program.spelled)
    yield from (Risk("sweep", pattern[:200]) for pattern in reading.patterns if _is_wide(pattern, reading))


def _is_within(program: Started, reading: CallReading) -> bool:
    """Whether an index of files is asked for one folder, that of the project or below it: `mdfind -onlyin src x`."""
    folder = next((after for option, after in pairwise(program.words) if option == "-onlyin"), None)
    top = reading.workspace
    if folder is None or top is None or top == reading.home:
        return False
    path = placed(folder, reading.folder)
    return path == top or path.startswith(f"{top}/")


def _all_of_history(program: Started) -> bool:
    """A search through each commit that there is: `git grep X $(git rev-list --all)`, `git log -p --all -S secret`."""
    operands = program.operands
    hidden = " ".join(word.hidden for word in program.given if word.hidden)
    if "grep" in operands[:2] and "rev-list" in hidden and "--all" in hidden:
        return True
    is_all = program.has("--all", "--branches", "--reflog", "-g", "--walk-reflogs")
    asks = any(_PROMISES.search(word) for word in program.words if word[:2] in ("-S", "-G") or not word.startswith("-"))
    return "log" in operands[:2] and is_all and program.has("-p", "--patch", "-S", "-G", "-u") and asks


_FORMS = Forms("searches", _all_of_history)


def _is_wide(pattern: str, reading: CallReading) -> bool:
    """Whether a pattern has files read in any folder of a home folder, or of all of them: `cat ~/*/*.json`."""
    parts = plain(pattern).split("/")
    first = next((n for n, part in enumerate(parts) if has_wildcards(part)), len(parts))
    if first >= len(parts) - 1 and parts[-1] not in ("*", ".*"):
        return False
    folder = "/".join(parts[:first]) or "/"
    is_home = below_home(folder, reading.home) == "" or is_above_homes(folder, reading.home)
    return (
        is_home
        and pattern.startswith(("/", "~"))
        and any(
            intent.domain is Domain.FILE and intent.operation in _SCANNED and fnmatchcase(intent.target, pattern)
            for intent in reading.effects.intents
        )
    )
