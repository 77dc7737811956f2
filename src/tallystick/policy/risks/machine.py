"""What changes the machine as a whole: its kernel, its network, its clock, whether it runs, and the processes of others.

Owns those programs and the files that stand for them. To stop a server by its id, or by a name that is its own, is work.
Sources: the manual pages of procps, psmisc, kmod, util-linux, iproute2, systemd; networksetup(8), scutil(8) on macOS.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from tallystick.catalog.agents import AGENTS
from tallystick.catalog.agents import programs as programs_of_agents
from tallystick.catalog.loading import Entry, inverted, load
from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import names
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS = {
    "stops-machine": "The machine is shut down, restarted or put to another state.",
    "changes-kernel": "The kernel is changed: modules, settings, memory, what it boots.",
    "changes-mounts": "What lies below a folder becomes something else.",
    "changes-network": "Where names and addresses lead, which certificates are trusted, or the machine's clock is changed.",
    "kills-all": "All processes of the user or of the machine are ended.",
    "kills-others": "Processes are ended by a name that others' programs have as well, or by their owner.",
}
_HARMLESS = frozenset((Operation.READ, Operation.LIST, Operation.COPY_SOURCE, Operation.FOLDER, Operation.EXECUTE))


class _Facts(Entry, frozen=True):
    """Facts of catalog/machine.toml."""

    common_processes: frozenset[str]
    common_processes_of_two_words: frozenset[str]
    files: Mapping[str, tuple[str, ...]]


_FACTS = load("machine", _Facts)
_OF_FILES = tuple(inverted(_FACTS.files).items())
_LETTERS = ("/p", "/s", "/d", "/b", "/e", "/l", "/u")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does to the machine, of RISKS."""
    for intent in reading.effects.intents:
        if intent.domain is Domain.FILE and intent.operation not in _HARMLESS:
            yield from _of_file(intent)
    sought: list[Started] = []
    for started in programs(reading):
        word = _FORMS.of(started)
        if word is not None:
            yield Risk(word, started.spelled)
        if started.name in _SEEKS:
            sought.append(started)
        elif started.name == "kill" and sought and _SEEKS.intersection(started.hidden.replace("(", " ").split()):
            yield from _of_sought(sought)
    for snippet in reading.snippets:
        if "kill" in snippet.text and _CODE_KILLS_ALL.search(snippet.text):
            yield Risk("kills-all", f"{snippet.language}: {snippet.text[:150]}")


def _of_sought(sought: list[Started]) -> Iterator[Risk]:
    """`kill $(pgrep NAME)` ends what `pkill NAME` ends."""
    for started in sought:
        word = _of_name(started)
        if word is not None:
            yield Risk(word, started.spelled)


def _of_file(intent: Intent) -> Iterator[Risk]:
    path = intent.target
    if path.startswith(_LETTERS):
        found = next((word for place, word in _OF_FILES if path.startswith(place)), None)
        if found is not None and intent.operation is not Operation.UNKNOWN:
            yield Risk(found, path[:200])
    elif path.lower().endswith("\\drivers\\etc\\hosts"):
        yield Risk("changes-network", path[:200])


def _sets_clock(started: Started) -> bool:
    given = tuple(word for word in started.given if word.text[:2] != "-I")  # the letters of `-Ins` are a precision
    started = replace(started, given=given)
    is_set = started.has("--set", "-s") or any(re.fullmatch(r"\d{8,12}(?:\.\d\d)?", word) for word in started.operands)
    return is_set and not started.has("-d", "--date", "-r", "-j", "-f")


# Processes -----------------------------------------------------------------------------------------------------------

_OF_TWO_WORDS = _FACTS.common_processes_of_two_words
_COMMON = (
    _FACTS.common_processes
    | programs_of_agents()
    | frozenset(name for facts in AGENTS.values() for name in facts.editor.programs)
)
_SEEKS = programs_with("finds-processes")
_CODE_KILLS_ALL = pattern_of(r"\bkill\b\s{0,4}\(?\s{0,4}(?:[\w\"':.]{1,20}\s{0,4},\s{0,4})?-1\b")
_OF_OWNER = names("--euid --uid --user --group --terminal")
_SIGNAL = pattern_of(r"-(?:\d{1,2}|(?:SIG)?[A-Z]{2,8}\d?)")
_BROAD = pattern_of(r"[\s.*^$+?()\[\]|\\/-]*|\.{1,3}|\w{1,2}", re.ASCII)


def _ends(started: Started, risk: str) -> bool:
    """`kill -9 -1`: everything. The first word with a dash is a signal."""
    words = [word for word in started.words if word != "--"]
    signals = [n for n, word in enumerate(words[:2]) if _SIGNAL.fullmatch(word)]
    if started.words[:1] == ("--",):
        signals = []
    if words[:1] in (["-s"], ["-n"], ["--signal"]):
        words, signals = words[2:], []
    if words[:1] in (["-l"], ["-L"]):
        return False
    rest = [word for n, word in enumerate(words) if n not in signals[:1]]
    if risk == "kills-all":
        return "-1" in rest or _of_all(started)
    return "1" in rest


_EVERY = pattern_of(r"\bps\b")
_CHOSEN = pattern_of(r"grep|/[^/\s]{1,80}/|~|==|\s-[CpU]\s|--pid|--ppid|head|tail|lsof|cat\b")


def _of_all(started: Started) -> bool:
    """`kill $(ps aux | awk …)`, with nothing that chooses among them."""
    hidden = started.hidden
    return bool(hidden) and _EVERY.search(hidden) is not None and _CHOSEN.search(hidden) is None


def _by_name(started: Started, risk: str) -> bool:
    """By a name, and what that is."""
    return _of_name(started) == risk


def _of_name(started: Started) -> str | None:
    """By a name. Of whom, or what else has the name, decides."""
    words = [word for word in started.words if not _SIGNAL.fullmatch(word)]
    if started.has("--help", "-l", "-V", "--version", "-0", "--list") and not started.has("-9"):
        return None
    patterns = _patterns(words)
    if not patterns:
        of_owner = any(word[:2] in ("-u", "-U", "-G", "-g", "-t") or word in _OF_OWNER for word in words)
        return "kills-all" if of_owner else None
    if started.has("--inverse", "-v"):
        return "kills-others"
    for pattern in patterns:
        name = pattern.strip("^$").rpartition("/")[2].lower()
        if _BROAD.fullmatch(pattern) or pattern in (".*", "."):
            return "kills-all"
        if name in _COMMON or name in _OF_TWO_WORDS:
            return "kills-others"
    return None


def _patterns(words: list[str]) -> list[str]:
    """The names and patterns, without options and their values."""
    found: list[str] = []
    takes = names(
        "-u -U -G -g -t -P -s --signal --euid --uid --user --parent --terminal --older --younger -o -y -Z --ns --nslist -n"
    )
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif word[:1] == "-" and word != "-":
            is_value = word in takes and word not in ("-n", "-o")
        else:
            found.append(word)
    return found


def _image(started: Started, *images: str) -> bool:
    """Whether Windows ends programs by one of some names, or by one that others have as well."""
    words = [word.lower() for word in started.words]
    found = [b for a, b in pairwise(words) if a in ("/im", "-im", "-name")]
    if images:
        return not set(images).isdisjoint(found)
    return any(image in _COMMON or image.removesuffix(".exe") in _COMMON for image in found)


_FORMS = Forms("machine", _by_name, _ends, _image, _sets_clock)
