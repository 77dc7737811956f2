"""Programs that test, check and format source code.

Owns which of them read the files that they name, which edit them (formatters, `--fix`) and which run them (test
runners). What the tests of a project do is not told by these words. Sources: pytest --help, the manuals of ruff,
black, mypy, eslint, prettier, jest.
"""

from __future__ import annotations

import re

from tallystick.intent.programs.arguments import Grammar, below, grammar, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, each
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_CONFIG = "-c --config --config-file --configuration --rcfile --settings-path --tsconfig -p --project --ignore-path"


def _is_deep(word: Word) -> bool:
    """A path without a suffix may be a folder."""
    return "." not in word.text.rstrip("/").rpartition("/")[2].lstrip(".")


def _tool(
    *,
    takes: str = "",
    fixes: str = "",
    always: bool = False,
    unless: str = "--check --diff --dry-run -n",
    skips: tuple[str, ...] = (),
    default: str = ".",
) -> Rule:
    """A checker: it reads what it names, and edits it with one of `fixes`, or `always` but for `unless`."""
    rules = grammar(
        f"{takes} {_CONFIG} -o --output --output-file --format --select --ignore --exclude --extend-exclude"
    )
    kept, options = tuple(unless.split()), tuple(fixes.split())

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        operands = line.operands[1:] if line.operand(0) in skips else line.operands
        is_format = always or (bool(skips) and line.operand(0) in ("format", "fmt"))
        edits = (is_format and not line.has(*kept)) or line.has(*options)
        if line.has("--version", "--help", "-h", "-V"):
            return built.build()
        paths = operands or ([Word(default)] if default else [])
        own = command.words[:1] if not operands else ()
        sources = []
        for word in paths:
            if word.text == "-":
                built.reads_input = True
            else:
                sources.append(
                    built.add(Operation.EDIT if edits else Operation.READ, word, words=own, deep=_is_deep(word))
                )
        written = [built.write(word) for word in line.values("-o", "--output", "--output-file")]
        built.flow(sources, written)
        if not edits and not written:
            built.show(*sources)
        return built.build()

    return rule


_PYTEST = grammar(
    "-k -m -c -n -p -o -W -r --rootdir --junitxml --junit-xml --maxfail --tb --durations --cov? --cov-report "
    "--cov-config --ignore --deselect --timeout --basetemp --confcutdir --color --log-level --log-file --html "
    "--json-report-file --dist --import-mode --numprocesses --capture"
)
_JEST = grammar(
    "-c -t -w --config --testNamePattern --maxWorkers --outputFile --reporters --coverageDirectory --testTimeout "
    "--rootDir -g --grep --reporter --project --timeout --browser"
)


def _runner(rules: Grammar, *, verbs: tuple[str, ...] = ()) -> Rule:
    """A test runner: it runs the files that it names, or those below the folder."""

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        if line.has("--version", "--help", "-h", "-V"):
            return built.build()
        operands = line.operands[1:] if line.operand(0) in verbs else line.operands
        for word in operands or [Word(".")]:
            path = Word(word.text.partition("::")[0], word.hidden, word.commands)
            built.add(Operation.EXECUTE, path, words=(word,) if operands else command.words[:1], deep=_is_deep(path))
        for word in line.values(
            "--junitxml", "--junit-xml", "--log-file", "--html", "--json-report-file", "--outputFile"
        ):
            built.write(word)
        return built.build()

    return rule


_TSC = grammar(
    "-p -t -m -b --project --target --module --outDir --outFile --lib --jsx --rootDir --declarationDir --moduleResolution"
)


def _tsc(command: Command) -> Actions:
    """`tsc FILE…`: a script beside each file, or below the folder of `--outDir`; without files the project says which."""
    line = taken(command.arguments, _TSC)
    built = Builder()
    if line.has("--version", "-v", "--help", "-h", "--init"):
        return built.build()
    folder, whole = line.value("--outDir"), line.value("--outFile")
    sources = [built.read(word) for word in line.operands]
    is_silent = line.has("--noEmit")
    if not line.operands:
        project = line.value("-p", "--project", "-b") or Word("tsconfig.json")
        is_file = project.text.endswith(".json")
        path = project if is_file else below(project, Word("tsconfig.json"))
        sources = [built.add(Operation.READ, path, words=(project,) if project in command.words else command.words[:1])]
        built.is_unknown = not (is_silent or folder or whole)
    made: list[int | None] = []
    if not is_silent:
        made = [built.write(word, deep=word is folder) for word in (folder, whole) if word is not None]
        built.flow(sources, made)
    for at, word in zip(sources, line.operands if not (is_silent or made) else [], strict=False):
        built.flow([at], [built.write(renamed(word, re.sub(r"\.([cm]?)tsx?$", r".\1js", word.text)), words=(word,))])
    return built.build()


TABLE: dict[str, Rule] = {
    **each("pytest py.test nosetests stestr", _runner(_PYTEST)),
    **each(
        "jest vitest mocha ava playwright cypress karma rspec phpunit bats busted tap",
        _runner(_JEST, verbs=("run", "test", "watch", "related")),
    ),
    "ruff": _tool(
        fixes="--fix --fix-only",
        skips=("check", "format"),
        takes="--target-version --line-length --config --stdin-filename --cache-dir --output-format --extend-select",
    ),
    "black": _tool(
        always=True, takes="-l -t --line-length --target-version --include", unless="--check --diff -c --code"
    ),
    "isort": _tool(always=True, takes="--profile --sp --line-length", unless="--check --check-only -c --diff"),
    **each(
        "autopep8 yapf docformatter pyupgrade autoflake",
        _tool(fixes="-i --in-place --py3-plus --py38-plus --py310-plus --py311-plus", default=""),
    ),
    **each(
        "mypy pyright basedpyright pytype pyre",
        _tool(takes="--python-version -m --module --package --cache-dir --junit-xml --platform", default=""),
    ),
    **each(
        "flake8 pylint pycodestyle pydocstyle bandit vulture radon pyflakes",
        _tool(takes="-j --max-line-length --jobs --disable --enable -r", default=""),
    ),
    "eslint": _tool(
        fixes="--fix", takes="--ext --rule --parser --plugin --max-warnings --cache-location -f --rulesdir"
    ),
    "prettier": _tool(
        fixes="--write -w", takes="--parser --print-width --tab-width --plugin --stdin-filepath --log-level", default=""
    ),
    **each(
        "biome dprint oxlint standard xo",
        _tool(fixes="--write --fix --apply", skips=("check", "format", "lint", "fmt")),
    ),
    **each("tsc vue-tsc", _tsc),
    **each(
        "shellcheck hadolint yamllint markdownlint vale codespell actionlint stylelint htmlhint ansible-lint "
        "cppcheck clang-tidy tflint",
        _tool(fixes="--fix -w --write-changes", takes="-s -e -S -f -x? -L", default=""),
    ),
    **each("gofmt goimports", _tool(fixes="-w", takes="-r -local", default="")),
    "shfmt": _tool(fixes="-w --write", takes="-i -ln", default=""),
    **each(
        "rubocop standardrb",
        _tool(fixes="-a -A --autocorrect --auto-correct --fix -x", takes="--only --except --format"),
    ),
    **each("php-cs-fixer phpcbf", _tool(always=True, skips=("fix",), takes="--rules --standard")),
    **each(
        "phpstan psalm phpcs golangci-lint staticcheck govulncheck semgrep trivy snyk gitleaks trufflehog "
        "detect-secrets",
        _tool(skips=("run", "analyse", "scan", "fs", "detect", "test"), takes="--level -l --rules --standard"),
    ),
    **each("gcov lcov genhtml", _tool(default="")),
}
