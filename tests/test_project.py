"""The project keeps its own rules: layout, limits, locks, and nothing in it that belongs to one machine.

What ruff, mypy and import-linter can check is theirs; this file has the rest.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import tallystick

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tallystick"
TESTS = ROOT / "tests"

# What .gitignore names, and git's own folder.
NOT_OURS = {".agents", ".git", ".venv", "__pycache__", "build", "dist", "man", "mutants", "site", ".hypothesis"} | {
    f".{tool}_cache" for tool in ("import_linter", "mypy", "pytest", "ruff")
}

# Tests of no single source file, and what they test instead.
TESTS_WITHOUT_SOURCE = {
    "independent/test_agreement.py": "tests/independent: a second reader of transcripts, and what the record says of them",
    "cli/test_printed.py": "what all commands print",
    "policy/test_corpora.py": "all cases of the corpora, held against the figures of the pages",
    "policy/test_real_work.py": "bench/histories.py and bench/real_work.py: real histories replayed, their stops labelled",
    "policy/shipped/test_wrong_stops.py": "the policies as a whole, on work that was stopped wrongly, and what looks like it",
    "policy/test_other_systems.py": "the policies as a whole, on sessions of Windows, macOS and WSL",
    "catalog/test_schemas.py": "the code outside the catalogue, which asks for each of its members",
    "scrubbing/test_detectors.py": "the search for secrets as a whole, on the worst text for each detector",
    "scrubbing/test_hard_set.py": "the search for secrets as a whole, over a set of kinds",
    "catalog/test_spellings.py": "the tests themselves, which spell the names of the catalogue",
    "catalog/test_literals.py": "the code outside the catalogue, which has few lists of programs' names, and no agent's",
    "policy/test_other_spellings.py": "all policies, asked about commands that are written in another way",
    "policy/test_odd_characters.py": "all policies, asked through each agent's hook about calls with odd characters in them",
    "service/test_grants_live.py": "an installed hook, the recorder and the command line together: what a person allows",
    "service/test_instruction_files.py": "the recorder, hooks and repositories together: what sessions load",
    "service/test_homes.py": "the recorder and hooks of users with other home folders, as processes",
    "service/test_values_that_leave.py": "the recorder, hooks and store together: what one call showed and another sends",
    "service/test_known_secrets.py": "the recorder, hooks, imports and scans as processes, and what they know of secrets",
    "service/test_odd_payloads.py": "the hook and the recorder as processes, with text that no encoding holds",
    "journal/test_crash.py": "the journal, the ledger and erasure together, under faults from outside",
    "seal/test_vectors.py": "the golden vectors, which both verifiers must agree on",
    "seal/test_worked_example.py": "docs/format.md 18, which takes the whole package",
    "intent/shell/test_corpus.py": "the commands of tests/intent/shell/corpus, which take the whole package",
    "intent/shell/test_fuzz.py": "the fuzzing target, which takes the whole package",
    "policy/risks/test_near_misses.py": "all risks, held against commands that look like one",
    "trust/test_signer_epochs_set_up.py": "a signer with epochs, from its setting up on",
    "review/test_session_over_time.py": "a session over time: recorder, index, tree, provenance, checkpoints, replay",
    "ask/test_last_changes.py": "why, held against a reader of transcripts that shares no code with it",
    "ask/test_published_queries.py": "the graph, asked as the reference's pages ask it",
    "service/test_memory.py": "the tables of all that a recorder holds together",
    "service/test_signing.py": "the recorder against signers that are down, hang, refuse or talk nonsense",
    "service/test_soak.py": "the recorder over a day of use",
    "service/test_survival.py": "the recorder, the hook and the journals together, under faults from outside",
    "service/test_under_load.py": "the processes of the recorder together, under faults at random moments while agents work",
    "tools/live/test_harness.py": "the harness of the real agents",
    "tools/live/test_agents.py": "the whole program, with the real agents that it records",
    "test_pages.py": "the pages of agents and exports, against the code",
    "workspace/test_golden_projection.py": "all rows that the projection makes of the recordings, against a committed digest",
    "policy/test_every_agent.py": "what policies say of one agent, held against all agents of the catalogue",
    "test_api_contract.py": "tools/api_contract.py, a contract of import-linter",
    "test_distribution.py": "man pages and packages, made by tools/",
    "test_project.py": "the project itself",
    "test_names.py": "the words of all public names, in the glossary or in tests/names.toml",
    "test_voice.py": "the words that people read, and the list that tools/voice holds them to",
    "test_website.py": "the pages as people walk them, and the site that tools/ builds of them",
}

# Source files of the packages in MIRRORED that need no test file of their own, and why.
MIRRORED = ("journal", "model", "seal")
SOURCE_WITHOUT_TESTS: dict[str, str] = {}

LINES = 500
LONGER: dict[str, str] = {
    "src/tallystick/seal/standalone.py": "one file by design: an auditor gets it alone",
    "tests/seal/test_standalone.py": "it brings a writer of its own, so that it shares nothing with what it checks",
}

CORE = (
    *(
        "agents",
        "catalog",
        "display",
        "errors.py",
        "exports",
        "intent",
        "lineage",
        "model",
        "policy",
        "scrubbing",
        "seal",
        "sessions",
    ),
)

# The verifier in one file, and the catalogue's reader of the package's own data.
OPENING = ("standalone.py", "compiling.py")

PUBLIC = {
    "HermesStore",
    "Hook",
    "LangoInputs",
    "Recorder",
    "RunsUnder",
    "Session",
    "context_hash",
    "current_session",
    "fingerprint",
    "follow",
    "input_hash",
    "model_call",
    "output_hash",
    "record_anthropic",
    "record_openai",
    "request",
    "build_session_provenance",
    "session_provenance_meta",
    "subagent",
    "tool_call",
    "verify",
    "verify_session",
    "walk_dag",
}


def project_files() -> Iterator[Path]:
    """Every file that is, or could be, committed."""
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if (
                path.name in NOT_OURS
                or path.suffix == ".egg-info"
                or "compiled.json" in path.name
                or path.name.startswith(".coverage")
            ):
                continue
            if path.is_dir() and not path.is_symlink():
                folders.append(path)
            elif path.is_file():
                yield path


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def our_python() -> list[Path]:
    """Our Python files. Below tests/recordings, save its own scripts, recorded agents wrote them."""
    recorded = TESTS / "recordings"
    return [
        path
        for path in project_files()
        if path.suffix == ".py" and (recorded not in path.parents or path.parent == recorded)
    ]


def files_of_tests() -> list[Path]:
    return [path for path in our_python() if path.name.startswith("test_") and TESTS in path.parents]


def sources_of(test: Path) -> list[Path]:
    """Where the source of a test file may be: a module, one named after a keyword, a package, or policies.

    Tests of the programs in tools/ and bench/ are in tests/tools and tests/bench.
    """
    parent = test.relative_to(TESTS).parent
    folder = ROOT / parent if parent.parts[:1] in (("tools",), ("bench",)) else SOURCE / parent
    name = test.stem.removeprefix("test_")
    policies = folder / f"{name.replace('_', '-')}.cedar"
    return [folder / f"{name}.py", folder / f"{name}_.py", folder / name / "__init__.py", policies]


def test_every_test_file_mirrors_a_source_file() -> None:
    strays = {
        test.relative_to(TESTS).as_posix()
        for test in files_of_tests()
        if not any(source.is_file() for source in sources_of(test))
    }
    assert strays == set(TESTS_WITHOUT_SOURCE)


def test_every_module_that_must_be_believed_has_its_tests() -> None:
    tested = {source for test in files_of_tests() for source in sources_of(test)}
    untested = {
        source.relative_to(SOURCE).as_posix()
        for package in MIRRORED
        for source in (SOURCE / package).rglob("*.py")
        if source.name != "__init__.py" and source not in tested
    }
    assert untested == set(SOURCE_WITHOUT_TESTS)


def test_a_long_file_has_a_reason() -> None:
    long = {shown(path) for path in our_python() if len(path.read_text("utf-8").splitlines()) > LINES}
    assert long == set(LONGER)


# Spelled so that this file does not match its own patterns.
LEAKS = {
    "the home folder of the administrator": rb"/root\b/(?<![\w.-]/root\b/)",
    "somebody's home folder": rb"/(?:home/(?<![\w.-]/home/)|Users/(?<![\w.-]/Users/))(?!dev\b)[A-Za-z0-9_][\w.-]*",
    "a package registry": rb"py[p]i\.org|python[h]osted\.org|registry\.npm[j]s\.org|crates\.[i]o/api",
    "an index of packages": rb"--(?:extra-)?index[-]url[ =]|--find[-]links[ =]",
}

# What looks like a leak and is none: a part of a file's path, and why.
HARMLESS = {
    # Codex names its agents as paths; policies are tried with the administrator's home folder too.
    "the home folder of the administrator": ("codex", "tests/policy/", "tui.svg", "tests/tui/"),
    # Which registries are public is what policies and their tests are about, and so is what names another one.
    "a package registry": ("src/tallystick/catalog/", "src/tallystick/policy/", "tests/policy/", "docs/guards.json"),
    "an index of packages": (
        "src/tallystick/catalog/",
        "intent/programs/packages.py",
        "src/tallystick/policy/",
        "tests/policy/",
        "docs/guards.json",
    ),
}


@pytest.mark.parametrize("what", LEAKS)
def test_no_file_names_what_belongs_to_one_machine(what: str) -> None:
    pattern = re.compile(LEAKS[what])
    found = [
        f"{shown(path)}: {match[0].decode(errors='replace')}"
        for path in project_files()
        if not any(part in shown(path) for part in HARMLESS.get(what, ()))
        for match in [pattern.search(path.read_bytes())]
        if match
    ]
    assert found == []


def test_no_file_names_the_folder_of_this_checkout() -> None:
    here = str(ROOT).encode() + b"/"
    assert [shown(path) for path in project_files() if here in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"at /ro@ot/project", "the home folder of the administrator"),
        (b'"/ho@me/ann/x"', "somebody's home folder"),
        (b"cd /Us@ers/ann", "somebody's home folder"),
        (b"https://py@pi.org/simple", "a package registry"),
        (b"--in@dex-url https://example.org", "an index of packages"),
    ],
)
def test_the_leak_patterns_find_leaks(text: bytes, what: str) -> None:
    assert re.search(LEAKS[what], text.replace(b"@", b""))  # a leak is cut in two here, or this file had one
    assert not re.search(LEAKS[what], b"/home/dev/project a/root/b merkle root")


def locked(name: str) -> set[tuple[str, str]]:
    """Package and version of each line of a lock; a package may have one version more for an old platform."""
    text = (ROOT / "requirements" / name).read_text("utf-8")
    return set(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", ["run.lock", "dev.lock", "lock.lock", "site.lock"])
def test_a_lock_holds_versions_and_hashes_and_nothing_else(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert lines
    requirement = re.compile(r"[a-z0-9-]+==[^\s;]+( ;[^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+")
    assert [line[:80] for line in lines if not requirement.fullmatch(line)] == []
    assert "://" not in text


def test_both_locks_hold_the_same_versions_of_the_program() -> None:
    assert locked("run.lock") <= locked("dev.lock")


def test_each_dependency_is_locked() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    wanted = {
        "run.lock": project["project"]["dependencies"],
        "dev.lock": project["dependency-groups"]["dev"] + project["build-system"]["requires"],
        "lock.lock": project["dependency-groups"]["lock"],
        "site.lock": project["dependency-groups"]["site"],
    }
    for lock, requirements in wanted.items():
        names = {re.split(r"[<>=!~\[; ]", requirement)[0] for requirement in requirements}
        assert names <= {name for name, _ in locked(lock)}


# No file without one of these, and most are, has to be parsed.
OPENS = re.compile(r"\b(?:open|input|__import__|eval|exec)\b[\s)]*\(|\.\s*(?:now|utcnow|today)\b")


def opening_calls(path: Path) -> Iterator[str]:
    """Calls that reach outside without an import that import-linter could see."""
    if not OPENS.search(path.read_text("utf-8")):
        return
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Call(func=ast.Name(id="open" | "input" | "__import__" | "eval" | "exec" as name)):
                yield f"{shown(path)}:{node.lineno}: {name}"
            case ast.Attribute(attr="now" | "utcnow" | "today" as name):
                yield f"{shown(path)}:{node.lineno}: .{name}"
            case _:
                pass


def test_the_core_opens_nothing_by_itself() -> None:
    files = [
        path
        for path in our_python()
        if path.is_relative_to(SOURCE) and path.relative_to(SOURCE).parts[0] in CORE and path.name not in OPENING
    ]
    assert files
    assert [call for path in files for call in opening_calls(path)] == []


def test_the_public_face_is_what_is_documented() -> None:
    assert set(tallystick.__all__) == PUBLIC
    assert [name for name in tallystick.__all__ if not getattr(tallystick, name).__doc__] == []


def test_each_link_in_the_pages_leads_somewhere() -> None:
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    broken = [
        f"{shown(page)}: {target}"
        for page in [*pages, *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def commands(group: click.Group, name: str) -> Iterator[str]:
    """The full names of all commands below `group`, those of hidden ones apart."""
    context = click.Context(group, info_name=name)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None, word
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}")
        elif not command.hidden:
            yield f"{name} {word}"


def pages() -> str:
    """What a user reads about the commands: the README and docs/, less the decisions, which are history."""
    files = [
        ROOT / "README.md",
        *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "decisions"),
    ]
    return "\n".join(page.read_text("utf-8") for page in files)


def test_each_command_stands_in_the_pages_and_no_other() -> None:
    from tallystick.cli import main

    assert isinstance(main, click.Group)
    there = set(commands(main, "tally"))
    text = pages()
    assert [name for name in sorted(there) if not re.search(rf"(?<![\w-]){name}(?![\w-])", text)] == []
    named = set(re.findall(r"(?:^|`|\$ )(?:\.venv/bin/)?(tally [a-z][a-z-]*)", text, re.MULTILINE))
    assert named - {" ".join(name.split()[:2]) for name in there} == set()


def test_contributing_lists_each_target_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    declared = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert declared
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert set(re.findall(r"^\| `make ([\w-]+)` \|", page, re.MULTILINE)) == set(declared[1].split()) - {"all"}


def test_ci_runs_what_contributors_run() -> None:
    commands = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert commands[-2:] == ["make check", "make test"]
    assert "make test" in (ROOT / "README.md").read_text("utf-8")
