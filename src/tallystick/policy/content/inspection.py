"""What the content of a file tells of it, before it runs and when it is written: tags.

Owns which cells of notebooks are code (but not how those are cut), the tags, and that they belong to a digest: what holds
something else has other tags. Must not know what follows from a tag, nor open a file. A call's own intents come from
`reading`; tags are for what is only written now, for what the record keeps, and for content that could not be inspected.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256

from tallystick.intent.actions import Reading
from tallystick.intent.code.notebooks import cells, in_cell
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import read_effects, read_file_effects
from tallystick.intent.shell.recipes import package_scripts
from tallystick.intent.shell.tasks import shell_of_makefile, task_texts
from tallystick.intent.tools.arguments import plain_name, strings
from tallystick.intent.tools.uses import Uses
from tallystick.model.decision import Call
from tallystick.model.intent import Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json
from tallystick.policy.calls.high_impact import GRAVE, grave
from tallystick.policy.calls.legitimate_use import in_use
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.code_files import MOST_INSPECTED, is_binary, is_makefile, language_in, may_have_tags
from tallystick.policy.content.markdown import Code, code_in, imports
from tallystick.policy.content.prompt_injection import tags_of
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.network.hosts import host_of
from tallystick.policy.risks import bombs, concealed, defences, disks, environments, machine, reverse_shells
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings
from tallystick.policy.taint.origins import REACHES, Origins
from tallystick.policy.world import Content, Unread, World

TAGS: dict[str, str] = {
    "too-large": "It has more than 256 KiB, so it was not inspected.",
    "too-slow": "Reading it took more than 100 ms, so it was not inspected.",
    "unreadable": "It could not be read, so it was not inspected.",
    "binary": "It is no text.",
    **GRAVE,
}
"""Tags besides those in GRAVE_RISKS, which say the same of a content as of a call."""

_WORDS = """
reverse-shell fork-bomb writes-disk disables-firewall disables-audit clears-logs disables-protection kills-all
decodes-and-runs
"""
GRAVE_RISKS = frozenset(_WORDS.split())
"""Of `risks.RISKS` those that are tags as well."""
_MODULES = (bombs, concealed, defences, disks, machine, reverse_shells)
MEANINGS: dict[str, str] = {
    **{name: meaning for module in _MODULES for name, meaning in module.RISKS.items() if name in GRAVE_RISKS},
    **TAGS,
}
"""What each tag of a content means."""
_MOST_KNOWN = 4096
_WORKSPACE = "/workspace"
_INSTALLED = pattern_of(
    r"/(?:node_modules|site-packages|dist-packages|\.venv|venv|\.tox|\.nox|\.cargo|\.rustup|\.local|go|\.nvm|\.pyenv|\.rbenv|\.asdf"
    r"|\.volta|\.bun|\.deno|\.sdkman|miniconda3|anaconda3|\.yarn)/(?:.*/)?(?:bin|shims|releases|Scripts)/"
)
_LINES_OF_RECIPES = pattern_of(r"^\t[@+-]*(.*)$", re.MULTILINE)


def content_tags(text: str, language: str, *, home: str, name: str = "") -> frozenset[str]:
    """The tags of a text that would run.

    Args:
        language: as `language_in` gives it, or the program's that runs it.
        name: of the file, for files of tasks.
    """
    if not may_have_tags(text):
        return frozenset()
    if len(text) > MOST_INSPECTED:
        return frozenset(("too-large",))
    if is_binary(text):
        return frozenset(("binary",))
    key = (sha256(text.encode("utf-8", "surrogatepass")).digest(), language, home, name if language == "tasks" else "")
    found = _known.get(key)
    if found is None:
        found = _found(text, language, home, name)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = found
    return found


_known: dict[tuple[bytes, str, str, str], frozenset[str]] = {}


def run_tags(path: str, world: World) -> frozenset[str]:
    """Why the content of a file that will run was not inspected; nothing, if it was or need not be."""
    if _INSTALLED.search(path):
        return frozenset()
    found = world.content(path)
    if isinstance(found, Content):
        if "\0" in found.text:
            return frozenset(("binary",))
        return frozenset()
    if found is Unread.MISSING:
        return frozenset()
    return frozenset((str(found),))


def written_tags(intent: Intent, home: str) -> frozenset[str]:
    """The tags of what an intent writes, where the call tells all of it and it is code."""
    if intent.content is None or not intent.is_known:
        return frozenset()
    language = language_in(intent.content, intent.target)
    if language is None:
        return frozenset()
    return content_tags(intent.content, language, home=home, name=posixpath.basename(intent.target))


# Cells of notebooks ----------------------------------------------------------------------------------------------------

_NOT_NEW = frozenset(("oldstring", "oldtext", "oldstr", "oldsource", "search", "description", "explanation"))
_MOST_CELLS = 50
_MOST_CELL = 64 << 10


def is_notebook(path: str) -> bool:
    """Whether a path is a notebook's, by its name."""
    return path.lower().endswith(".ipynb")


def cell_tags(intent: Intent, reading: CallReading) -> frozenset[str]:
    """The tags of what an intent writes into a notebook, as far as the call tells it."""
    if intent.content is not None:
        found = cells(intent.content)
    else:
        found = _edited_cells(reading.call.args)
    tags: set[str] = set()
    for language, text in found:
        tags |= content_tags(text[:_MOST_CELL], language, home=reading.home)
    return frozenset(tags)


def _edited_cells(args: Json) -> Iterator[tuple[str, str]]:
    """The code that an edit brings. Text for people is none."""
    texts = [(plain_name(name), text) for name, text in strings(args)][:_MOST_CELLS]
    if any(name == "celltype" and text in ("markdown", "raw") for name, text in texts):
        return
    for name, text in texts:
        if name not in _NOT_NEW:
            yield from in_cell(text[:_MOST_CELL])


# What a text does -----------------------------------------------------------------------------------------------------


def _found(text: str, language: str, home: str, name: str) -> frozenset[str]:
    environment = Environment(variables={"HOME": home, "PWD": _WORKSPACE}, folder=_WORKSPACE)
    if language == "tasks":
        readings = [read_effects(one, environment) for one in _tasks(text, name)]
    else:
        readings = [read_file_effects("", text, language, environment)]
    tags: set[str] = set()
    for reading in readings:
        tags |= _of_reading(reading, text, home)
    return frozenset(tags)


def _tasks(text: str, name: str) -> tuple[str, ...]:
    if name == "package.json":
        return tuple(package_scripts(text).values())[:100]
    if is_makefile(name):
        lines = _LINES_OF_RECIPES.findall(text)[:500]
        return ("\n".join(line.replace("$$", "$") for line in lines), *shell_of_makefile(text))
    return task_texts(name, text, ()) or ()


def _of_reading(reading: Reading, text: str, home: str) -> set[str]:
    whole = _as_call(reading, text, home)
    settings = Settings()
    tags = {risk.name for module in _MODULES for risk in module.risks(whole, settings)} & GRAVE_RISKS
    found = (grave(intent, settings, home=home, workspace=_WORKSPACE) for intent in reading.effects.intents)
    return tags | {word for word in found if word is not None}


def _as_call(reading: Reading, text: str, home: str) -> CallReading:
    call = Call(agent="", session="", tool="Bash", cwd=_WORKSPACE)
    return CallReading(
        call=call,
        home=home,
        folder=_WORKSPACE,
        workspace=_WORKSPACE,
        uses=Uses(),
        effects=reading.effects,
        scripts=reading.scripts,
        snippets=reading.snippets,
        texts=(text,),
    )


# Text that agents read as orders --------------------------------------------------------------------------------------

ORDERED = (GRAVE_RISKS - {"kills-all"}) | {"deletes-home"}
"""Of the tags those that no order to an agent needs; manuals tell of all others."""
RUN_UNSEEN = ORDERED | GRAVE.keys()
"""The same of what runs by itself when the text is read."""
_MOST_LINES = 50
_MAY_LEAK = pattern_of(
    r"https?:|\b(?:curl|wget|nc|ncat|netcat|socat|telnet|scp|rsync|ftp|mail|fetch|requests|urllib|http)\b"
)


@lru_cache(maxsize=64)
def order_tags(text: str, home: str) -> frozenset[str]:
    """What a text that agents read as orders tells them against their user, in words and in code: tags. Never raises."""
    found = set(tags_of(text))
    for code in code_in(text[:MOST_INSPECTED]):
        if may_have_tags(code.text) or "env" in code.text:
            found |= _ordered(code, home)
    kinds = (kinds_of(_named(f"{home}{one[1:]}", home), Settings()) for one in imports(text) if one.startswith("~/"))
    return frozenset((*found, *("leaks" for each in kinds if "secret" in each)))


def _ordered(code: Code, home: str) -> set[str]:
    text = code.text
    environment = Environment(variables={"HOME": home, "PWD": _WORKSPACE}, folder=_WORKSPACE)
    reading = read_file_effects("", text, code.language, environment)
    if "syntax" in reading.effects.opaque and "\n" in text:  # prose, or code among prose: line by line
        lines = [line for line in text.splitlines() if may_have_tags(line)][:_MOST_LINES]
        return {tag for line in lines for tag in _ordered(Code(code.language, line), home)}
    tags = _of_reading(reading, text, home) & (RUN_UNSEEN if code.is_run else ORDERED)
    if any(_deletes_home(one, home) for one in reading.effects.intents):
        tags.add("deletes-home")
    if _MAY_LEAK.search(text) and _leaks(_as_call(reading, text, home)):
        tags.add("leaks")
    return tags


def _deletes_home(intent: Intent, home: str) -> bool:
    """Whether all of a home folder is deleted, or a whole folder in it that no program keeps for itself."""
    if intent.operation is not Operation.DELETE or not (intent.is_deep and intent.is_known):
        return False
    target = intent.target.removesuffix("/*").rstrip("/")
    above, _, name = target.rpartition("/")
    return target in ("", home) or (above == home and name[:1] not in (".", "*"))


def _leaks(whole: CallReading) -> bool:
    """Whether a secret, or the environment as a whole, goes to a host."""
    origins, settings, used = Origins(whole.effects), Settings(), in_use(whole)
    is_environment = any(environments.risks(whole, settings))
    for n, intent in enumerate(whole.effects.intents):
        if intent.operation not in REACHES or not host_of(intent.target, settings).kinds.isdisjoint(
            ("local", "service")
        ):
            continue
        if is_environment and intent.operation is not Operation.FETCH:
            return True
        taken = (one.target for one in origins.leaving(n) if one.is_known and one.target not in used)
        if any("secret" in kinds_of(_named(path, whole.home), settings) for path in taken):
            return True
    return False


def _named(path: str, home: str) -> Named:
    return Named(path=path, real=path, home=home, workspace=_WORKSPACE)


# Modules --------------------------------------------------------------------------------------------------------------


def module_risks(reading: CallReading) -> Iterator[Risk]:
    """What modules and tests do that a call loads, as far as no ordinary program does it."""
    for module in reading.modules:
        key = (module.digest, reading.home)
        names = _of_modules.get(key)
        if names is None:
            names = _remember(key, frozenset(_of_reading(module.reading, "", reading.home) & GRAVE_RISKS))
        yield from (Risk(name, module.path[-200:]) for name in names)


_of_modules: dict[tuple[str, str], frozenset[str]] = {}


def _remember(key: tuple[str, str], names: frozenset[str]) -> frozenset[str]:
    if len(_of_modules) >= _MOST_KNOWN:
        _of_modules.clear()
    _of_modules[key] = names
    return names
