"""What multiplies without end, or fills a disk.

Owns fork bombs: of the shell, told by its loops and cycles; of other languages, where a process is started in a loop
that never ends, waits for nothing and is never left, a function that forks comes back to itself, or a program starts
itself. Python is read by its tree; the others by the words around a loop. Owns also endless data that goes into a file.
Recursion that may come to an end, and loops that wait for something, are work.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import islice, pairwise

from tallystick.catalog.languages import LANGUAGES
from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import names
from tallystick.intent.shell.names import canonical
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Loop, Role, Script
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_MOST_TEXT = 16 << 10
_MOST_BODY = 2000
_MOST_LOOPS = 32
_HINTS = ("fork", "spawn", "popen", "process", "thread", "exec", "system")


def multiplies(language: str, text: str) -> bool:
    """Whether a text starts processes without end."""
    small = text.lower()
    if not any(hint in small for hint in _HINTS):
        return False
    if language == "python":
        tree = _parsed(text)
        return tree is not None and _python(tree)
    return language in LANGUAGES.looped and _by_words(text[:_MOST_TEXT])


def fills(language: str, text: str) -> bool:
    """Whether a text writes without end."""
    tree = None
    if language == "python" and "while" in text and "write" in text:
        tree = _parsed(text)
    return tree is not None and any(
        isinstance(node, ast.While) and _is_true(node.test) and _multiplies(node.body, _WRITES)
        for node in ast.walk(tree)
    )


# Python --------------------------------------------------------------------------------------------------------------

_STARTS = names(
    "fork forkpty Popen Process Thread spawnl spawnlp spawnv spawnvp startfile posix_spawn start_new_thread popen"
)
_FORKS = names("fork forkpty")
_WRITES = names("write writelines write_text write_bytes")
_WAITS = names(
    "wait wait3 wait4 waitpid join sleep communicate accept recv read readline input get result run call check_call "
    "check_output poll select pause acquire exit _exit kill send serve_forever as_completed map handle_request"
)
_ENDLESS_ITERATORS = names("count cycle repeat")
_RUNS = names("run call check_call check_output getoutput getstatusoutput system spawn")
_EXITS = names("exit _exit quit abort")
_OTHER_FILES = names("dirname parent parents with_name with_suffix glob listdir")
_MOST_NODES = 200
_MANY_FORKS = 8
"""As many forks in a row make hundreds of processes."""


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text[:_MOST_TEXT])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python(tree: ast.Module) -> bool:
    if sum(_is_call(node, _FORKS) for node in tree.body for node in [getattr(node, "value", node)]) >= _MANY_FORKS:
        return True
    return _starts_itself(tree) or any(_goes_on(node) for node in ast.walk(tree))


def _starts_itself(tree: ast.Module) -> bool:
    """Whether a program surely starts itself again: a program that ends when it has done so once takes its own place."""
    own = [node for node in _sure(tree.body) if _is_itself(node)]
    is_often = len(own) > 1 or any(
        isinstance(node, (ast.For, ast.While)) and any(each in own for each in ast.walk(node))
        for node in ast.walk(tree)
    )
    if is_often:
        return True
    ends = any(isinstance(node, (ast.Return, ast.Raise)) or _is_call(node, _EXITS) for node in ast.walk(tree))
    return bool(own) and not ends


def _sure(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What runs whenever the program does: nothing that is in a condition or in a function."""
    for part in body:
        if isinstance(part, ast.If):
            if _is_main(part.test):
                yield from _sure(part.body)
        elif isinstance(part, (ast.For, ast.While, ast.With, ast.Try)):
            yield from _sure(part.body)
        elif not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from ast.walk(part)


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _is_itself(node: ast.AST) -> bool:
    """Whether a call starts the program that it is in: `Popen([sys.executable, __file__])`."""
    if not isinstance(node, ast.Call) or _called(node) not in _STARTS | _RUNS or not node.args:
        return False
    inner = list(islice((each for part in node.args for each in ast.walk(part)), _MOST_NODES))
    members = {each.attr for each in inner if isinstance(each, ast.Attribute)}
    if members & _OTHER_FILES:
        return False
    is_named = any(isinstance(each, ast.Name) and each.id == "__file__" for each in inner)
    cut = {id(each.value) for each in inner if isinstance(each, ast.Subscript) and not _is_first(each.slice)}
    is_given = any(isinstance(each, ast.Attribute) and each.attr == "argv" and id(each) not in cut for each in inner)
    said = [each.value for each in inner if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    is_python = "executable" in members or any(text.startswith("python") for text in said)
    return is_python and (is_named or is_given) and not any(text.endswith(".py") or text == "-m" for text in said)


def _is_first(index: ast.expr) -> bool:
    """Whether `sys.argv[…]` has the program's own name: `[0]`, `[:]`, `[0:]`."""
    if isinstance(index, ast.Slice):
        start = index.lower
    else:
        start = index
    return start is None or (isinstance(start, ast.Constant) and start.value == 0)


def _goes_on(node: ast.AST) -> bool:
    match node:
        case ast.While():
            is_forking = any(_is_call(each, _FORKS) for each in ast.walk(node.test))
            return (is_forking or _is_true(node.test)) and _multiplies([*node.body, ast.Expr(node.test)])
        case ast.For():
            if _is_endless_iterator(node.iter):
                return _multiplies(node.body)
            return _counted(node.iter) >= _MANY_FORKS and _multiplies(node.body, _FORKS) and not _has_branch(node.body)
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
            is_endless = any(_is_endless_iterator(part.iter) for part in node.generators)
            is_often = any(_counted(part.iter) >= _MANY_FORKS for part in node.generators)
            body: list[ast.stmt] = [ast.Expr(node.elt)]
            return (is_endless and _multiplies(body)) or (is_often and _multiplies(body, _FORKS))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            # Only what surely runs in it: a call of itself that is in a condition comes to an end.
            sure = [part for part in node.body if isinstance(part, (ast.Expr, ast.Assign))]
            calls = [each for part in sure for each in ast.walk(part) if isinstance(each, ast.Call)]
            is_again = any(_called(each) == node.name or _is_target(each, node.name) for each in calls)
            return is_again and _multiplies(node.body)
    return False


def _is_target(call: ast.Call, name: str) -> bool:
    """`Process(target=f)`."""
    targets = (each.value for each in call.keywords if each.arg == "target")
    return _called(call) in _STARTS and any(isinstance(each, ast.Name) and each.id == name for each in targets)


def _multiplies(body: list[ast.stmt], starters: frozenset[str] = _STARTS) -> bool:
    is_started = False
    for node in _inside(body):
        if isinstance(node, (ast.Break, ast.Return, ast.Raise, ast.Await)) or _is_call(node, _WAITS):
            return False
        is_started = is_started or _is_call(node, starters) or _is_behind(node)
    return is_started


def _inside(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for part in body:
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from ast.walk(part)


def _has_branch(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, (ast.If, ast.IfExp)) for node in _inside(body))


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return getattr(node.func, "id", "")


def _is_call(node: ast.AST, known: frozenset[str]) -> bool:
    return isinstance(node, ast.Call) and _called(node) in known


def _is_behind(node: ast.AST) -> bool:
    """`os.system("x &")`."""
    if not (isinstance(node, ast.Call) and _called(node) == "system" and node.args):
        return False
    said = node.args[0]
    return isinstance(said, ast.Constant) and isinstance(said.value, str) and said.value.rstrip().endswith("&")


def _is_true(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.Constant) and not test.operand.value
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(map(_is_true, test.values))
    return isinstance(test, ast.Constant) and bool(test.value)


def _is_endless_iterator(found: ast.expr) -> bool:
    if not isinstance(found, ast.Call):
        return False
    return (_called(found) in _ENDLESS_ITERATORS and len(found.args) < 2) or (
        _called(found) == "iter" and len(found.args) == 2
    )


def _counted(found: ast.expr) -> int:
    """How often `range(N)` goes round; 0 where that is unknown."""
    if isinstance(found, ast.Call) and _called(found) == "range" and found.args:
        last = found.args[-1 if len(found.args) < 3 else 1]
        if isinstance(last, ast.Constant) and isinstance(last.value, int):
            return last.value
    return 0


# Other languages -----------------------------------------------------------------------------------------------------

_LOOP = pattern_of(
    r"\b(?:while|until)\s{0,9}\(?\s{0,9}(?:1|true|!0|!false|0|false|\$true|fork(?:\(\))?(?:\s{0,9}\|\|[^){]{0,20})?)\s{0,9}\)?(?=[\s{;:]|do\b|$)"
    r"|\bfor\s{0,9}\(\s{0,9};\s{0,9};[^)]{0,40}\)|\bloop\s{0,9}(?:do\b|\{)|\bsetInterval\s{0,9}\(|\brepeat\b",
)
_AFTER = pattern_of(r"\bfork(?:\(\))?\s{0,9}(?:while|until)\s{0,9}\(?\s{0,9}(?:1|true|0|false|fork)\b|\bredo\b")
"""A condition that stands behind what it repeats: `fork while 1`."""
_STARTER = pattern_of(
    r"\b(?:fork|pcntl_fork|spawn|Process\.spawn|execFile|popen|Worker|Thread\.new|Start-Process|Start-Job)\b"
    r"|\bexec\s{0,9}\(|\b(?:system|os\.execute)\s{0,9}\(?\s{0,9}[\"'][^\"'\n]{0,200}&\s{0,9}[\"']"
)
_WAITING = pattern_of(
    r"\b(?:wait|waitpid|wait2|waitall|sleep|usleep|nanosleep|accept|recv|gets|readline|read|select|await|break|last|return|exit"
    r"|die|join|pcntl_wait\w{0,9}|detach|Start-Sleep|Wait-Process|clearInterval)\b"
)
_FUNCTION = pattern_of(
    r"(?:\b(?:sub|def|function)\s{1,9}(?P<a>\w{1,40})|\b(?:const|let|var|my)\s{1,9}\$?(?P<b>\w{1,40})\s{0,9}=)"
    r"(?P<body>[^;{\n]{0,80}[;{\n].{0,600})",
    re.DOTALL,
)
_DEFINED = pattern_of(
    r"\bfunction\s{1,9}(?P<a>\w{1,40})\s{0,9}\("
    r"|\b(?:const|let|var)\s{1,9}(?P<b>\w{1,40})\s{0,9}=\s{0,9}(?:async\s{0,9})?(?:function\b|\(|\w{1,40}\s{0,9}=>)"
)
_MOST_HEAD = 120
_ITSELF = pattern_of(
    r"\b(?:fork|spawn|exec|execFile|popen|system)\b[^;\n]{0,120}"
    r"(?:__filename|__FILE__|process\.argv(?:\[1\]|\.slice\([01]?\))|process\.mainModule|\$0\b|\$PROGRAM_NAME|\$argv\[0\]|import\.meta\.(?:url|filename|main)|arg\[0\])"
)
_ENDS = pattern_of(r"\bprocess\.(?:exit|kill|abort)\b|\bDeno\.exit\b|\bexit\b|\bdie\b")
_LATER = pattern_of(
    r"=>|\bfunction\b|\blambda\b|\.(?:on|once|then|finally|catch|addListener|addEventListener|subscribe)\s{0,9}\("
)
"""What stands behind it happens some time later, when something else has happened."""
_BRANCH = pattern_of(r"\b(?:if|unless|switch|case|return|exit|when)\b|\?|&&|\|\|")


def _by_words(text: str) -> bool:
    if _AFTER.search(text) is not None and "fork" in text:
        return True
    for found in islice(_LOOP.finditer(text), _MOST_LOOPS):
        if found[0].startswith("until") and not re.search(r"0|false", found[0]):
            continue
        body = _block(text, found.end())
        if (_STARTER.search(body) or "fork" in found[0]) and _WAITING.search(body) is None:
            return True
    if _ITSELF.search(text) is not None and _BRANCH.search(text) is None and _ENDS.search(text) is None:
        return True
    if _comes_back_at_once(text):
        return True
    return any(_comes_back(found["a"] or found["b"], found["body"]) for found in _FUNCTION.finditer(text))


def _comes_back(name: str, body: str) -> bool:
    """Whether a function forks and calls itself, with nothing to end it."""
    start = body.find("fork")
    again = None
    if start >= 0:
        again = re.search(rf"\b{re.escape(name)}\b\s{{0,9}}(?:\(|;|$|\n|\}})", body[start:])
    if again is None:
        return False
    return _BRANCH.search(body[: start + again.end()]) is None and _WAITING.search(body[: start + again.end()]) is None


def _comes_back_at_once(text: str) -> bool:
    """Whether a function starts a process and calls itself: inside of its own braces, one statement after another."""
    for found in islice(_DEFINED.finditer(text), _MOST_LOOPS):
        name, opened = re.escape(found["a"] or found["b"]), text.find("{", found.end())
        if not 0 <= opened < found.end() + _MOST_HEAD:
            continue
        inner = _block(text, opened)[1:]
        if _STARTER.search(inner) is None or _BRANCH.search(inner) is not None or _WAITING.search(inner) is not None:
            continue
        again = re.search(rf"(?:^|[;{{}}\n,(])\s{{0,9}}(?:{name}\s{{0,9}}\(|setImmediate\(\s{{0,9}}{name}\b)", inner)
        if again is not None and _LATER.search(inner[: again.start()]) is None:
            return True
    return False


def _block(text: str, at: int) -> str:
    """What a loop repeats: to the brace that closes it, or as much as is looked at."""
    opened = text.find("{", max(0, at - 1), at + 40)
    if opened < 0:
        return text[at : at + _MOST_BODY]
    depth = 0
    for n in range(opened, min(len(text), opened + _MOST_BODY)):
        depth += (text[n] == "{") - (text[n] == "}")
        if depth == 0:
            return text[opened:n]
    return text[opened : opened + _MOST_BODY]


RISKS = {
    "fork-bomb": "It starts itself or other programs again and again, without end and without waiting.",
    "may-fork-bomb": "It starts itself again and nothing shows that this comes to an end, or very many processes at once.",
    "fills-disk": "Endless data goes into a file.",
    "fills-memory": "A program keeps endless data in memory, or does nothing but use the machine up.",
}
_QUICK = programs_with("not-awaited")
"""Commands that a loop does not wait for."""
_FAST = programs_with("done-at-once")
"""Commands that are done at once."""
_MANY_BEHIND, _TOO_MANY_BEHIND = 5_000, 100_000
"""Processes that a loop with an end leaves running: more than a load test starts, more than a machine has."""
_MOST_ENDLESS = 16
_ENDLESS = names("/dev/zero /dev/urandom /dev/random /dev/full")
_UNENDING = _ENDLESS - {"/dev/full"}
_PASSING = programs_with("passes-endless")
"""Programs that put out endlessly what they read endlessly."""
_BOUNDING = programs_with("bounds")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What multiplies or fills, of RISKS."""
    for script in reading.scripts:
        for cycle in script.cycles:
            if cycle.is_sure or not cycle.is_given:
                yield Risk("fork-bomb" if cycle.is_sure else "may-fork-bomb", cycle.name)
        for loop in script.loops:
            yield from _of_loop(loop)
        yield from _filling(script)
        yield from _keeping(script)
        if any(map(_fans_out, script.commands)) and any(map(_is_endless, script.commands)):
            yield Risk("fork-bomb", "xargs: as many processes at once as endless data gives")
    for snippet in reading.snippets:
        if multiplies(snippet.language, snippet.text):
            yield Risk("fork-bomb", f"{snippet.language}: {snippet.text[:150]}")
        elif fills(snippet.language, snippet.text):
            yield Risk("fills-disk", f"{snippet.language}: {snippet.text[:150]}")


def _of_loop(loop: Loop) -> Iterator[Risk]:
    rounds = loop.rounds or 0
    if loop.behind and _QUICK.issuperset(loop.waits) and (loop.is_endless or rounds >= _MANY_BEHIND):
        is_sure = loop.is_endless or rounds >= _TOO_MANY_BEHIND
        said = f"a loop that leaves running: {', '.join(loop.behind)}"[:200]
        yield Risk("fork-bomb" if is_sure else "may-fork-bomb", said)
    elif loop.is_endless and loop.appends and _FAST.issuperset(loop.waits):
        yield Risk("fills-disk", "a loop that writes without end")


_KEEPS = programs_with("keeps-input")
_USES_UP = programs_with("uses-machine-up")


def _keeping(script: Script) -> Iterator[Risk]:
    """`tail /dev/zero`: it waits for an end that never comes."""
    for command in script.commands:
        if command.role is not Role.PROGRAM or not command.words:
            continue
        name = _name(command)
        if name in _USES_UP and not any(word.plain in ("--help", "--version", "-V") for word in command.arguments):
            yield Risk("fills-memory", name)
        elif name in _KEEPS:
            given = {word.plain for word in command.arguments}
            given |= {redirect.target.plain for redirect in command.redirects if not redirect.writes}
            is_cut = any(word.plain[:2] in ("-c", "-n", "-m") for word in command.arguments)
            if given & _UNENDING and not (is_cut and name != "tail"):
                yield Risk("fills-memory", f"{name} {' '.join(sorted(given & _UNENDING))}")


# Endless data --------------------------------------------------------------------------------------------------------


def _filling(script: Script) -> Iterator[Risk]:
    """Where the output of an endless command ends in a file, with nothing on the way that bounds it."""
    endless = [n for n, command in enumerate(script.commands) if _is_endless(command)][:_MOST_ENDLESS]
    if not endless:
        return
    wrapped = {n for command in script.commands if _is_bounding(command) for n in command.inputs}
    readers: dict[int, list[int]] = {}
    for n, command in enumerate(script.commands):
        if not _is_bounding(command):
            for source in command.inputs:
                readers.setdefault(source, []).append(n)
    for n in endless:
        target = ""
        if n not in wrapped:
            target = _end_of(script.commands, readers, n)
        if target:
            yield Risk("fills-disk", target[:200])


def _is_endless(command: Command) -> bool:
    if command.role is not Role.PROGRAM or not command.words:
        return False
    name = _name(command)
    if name == "yes":
        return True
    given = [word.plain for word in command.arguments]
    reads = {redirect.target.plain for redirect in command.redirects if not redirect.writes}
    reads.update(word.removeprefix("if=") for word in given)
    if name not in _PASSING or not reads & _ENDLESS:
        return False
    return not any(
        word.startswith(("count=", "iflag=count_bytes", "-l", "-N", "--length", "--read-bytes")) for word in given
    )


def _fans_out(command: Command) -> bool:
    """`xargs -P 0`: no limit to how many run at once."""
    if command.role is not Role.WRAPPER or _name(command) not in ("xargs", "parallel"):
        return False
    words = [word.plain for word in command.spelled[1:]]
    return any(word in ("-P0", "--max-procs=0", "-j0") for word in words) or any(
        pair in (("-P", "0"), ("-j", "0"), ("--max-procs", "0")) for pair in pairwise(words)
    )


def _end_of(commands: tuple[Command, ...], readers: dict[int, list[int]], at: int) -> str:
    """The file that a command's output ends in; empty if in none."""
    seen: set[int] = set()
    left = [at]
    while left:
        n = left.pop()
        if n in seen:
            continue
        seen.add(n)
        command = commands[n]
        written = [each.target.plain for each in command.redirects if each.writes and each.descriptor in ("", "1")]
        written += _own_files(command)
        for path in written:
            if not path.startswith("/dev/") or path.startswith("/dev/shm/"):
                return path
        if not written:
            left += readers.get(n, [])
    return ""


def _own_files(command: Command) -> list[str]:
    name = _name(command)
    given = [word.plain for word in command.arguments]
    if name == "dd":
        return [word[3:] for word in given if word.startswith("of=")]
    if name in ("tee", "cp"):
        return [word for word in given if word[:1] != "-" and word not in _ENDLESS]
    return []


def _is_bounding(command: Command) -> bool:
    name = _name(command)
    if name == "dd":
        return any(word.plain.startswith("count=") for word in command.arguments)
    return name in _BOUNDING or (
        name in ("sed", "awk") and any("q" in word.plain or "exit" in word.plain for word in command.arguments)
    )


def _name(command: Command) -> str:
    words = command.words or command.spelled
    if words:
        return canonical(words[0].plain.rpartition("/")[2])
    return ""
