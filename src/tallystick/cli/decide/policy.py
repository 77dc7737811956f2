"""`tally policy`: the rules in force, why a call gets its decision, and testing a policy before it is in force."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import FAILED, Command, Group
from tallystick.cli.context import Run, counted, labelled, pass_run, path_text, table
from tallystick.cli.filters import time_option
from tallystick.cli.fitting import Shape, fitted, wrapped
from tallystick.cli.progress import progress_bar
from tallystick.display.text import first_line, lines, one_line

if TYPE_CHECKING:
    from tallystick.guard.backtest import Backtest, Counts, Differing
    from tallystick.guard.explain import Explained
    from tallystick.guard.policy_quality import Judged
    from tallystick.guard.policy_rules import InForce, RuleRow, ShownRule
    from tallystick.guard.rule_usage import Usage
    from tallystick.guard.suggest import Suggestion
    from tallystick.model.step import Json

_COLORS = {"deny": "red", "ask": "yellow", "warn": "cyan", "allow": "green"}
_MOST_SHOWN = 20
_LEAST_REASON = 24
_BESIDE = 18
"""Columns of the list of rules that are neither id nor reason."""
_AGREEMENT = {
    "same": "the two agree",
    "different": click.style("the two differ", fg="red") + ", unless files have changed since",
    "other-rules": "not compared: other policies or settings were in force",
    "not-compared": "not compared: no policy was asked then",
}

policy = Group(
    "policy",
    lazy={
        "list": ("tallystick.cli.decide.policy:list_", "List the rules in force here"),
        "show": ("tallystick.cli.decide.policy:show", "Show one rule: its text, reason, file and line."),
        "words": ("tallystick.cli.decide.policy:words", "List the words that policies can test"),
        "schema": ("tallystick.cli.decide.policy:schema", "Print the schema of what policies can test"),
        "add": ("tallystick.cli.decide.own_policies:add", "Add a rule of your own"),
        "allow": (
            "tallystick.cli.decide.own_policies:allow",
            "Let through from now on what an alert stopped",
        ),
        "check": (
            "tallystick.cli.decide.policy:check",
            "Check that policy files can be used together with the shipped ones.",
        ),
        "test": ("tallystick.cli.decide.policy:test", "Run test cases written in TOML"),
        "explain": (
            "tallystick.cli.decide.policy:explain",
            "Explain the decision on a call, or on a command that you type",
        ),
        "backtest": (
            "tallystick.cli.decide.policy:backtest",
            "Show what policies would have decided on the recorded calls",
        ),
        "suggest": (
            "tallystick.cli.decide.policy:suggest",
            "Suggest the narrowest exceptions for the questions that you answered with yes.",
        ),
        "grants": (
            "tallystick.cli.decide.grants:grants",
            "What people allowed, each grant sealed: rule, scope, session or project, until when.",
        ),
        "restore": (
            "tallystick.cli.decide.restore:restore",
            "List what was kept aside before calls removed it, or bring it back.",
        ),
        "release": ("tallystick.cli.decide.grants:release", "Let one call that was stopped run once, in its session."),
    },
    help="Show the policy rules, why each rule fired, and test other rules.",
)


def repository_here(folder: str) -> str | None:
    """The repository that contains a folder."""
    from tallystick.guard.live_world import LiveWorld

    return LiveWorld().tracking(folder).root


# Rules ----------------------------------------------------------------------------------------------------------------


@click.command("list", cls=Command, example="tally policy list --effect deny\ntally policy list --usage")
@click.option("--effect", type=click.Choice(["deny", "ask", "warn", "allow"]), help="Only rules with this effect.")
@click.option("--usage", is_flag=True, help="How often each rule fired on the record, and what was answered.")
@pass_run
def list_(run: Run, effect: str | None, usage: bool) -> None:
    """List the rules in force here: shipped ones, those of plugins, yours, and those of this repository."""
    from msgspec.structs import replace

    from tallystick.guard.policy_rules import rules_in_force

    if usage:
        from tallystick.guard.rule_usage import usage as usage_of

        used = usage_of(run.home, repository_here(str(Path.cwd())))
        used = replace(used, rules=tuple(one for one in used.rules if effect in (None, one.effect.value)))
        run.answer("policy.usage", used, _usage_text(used, run.width))
        return
    found = rules_in_force(run.home, repository_here(str(Path.cwd())))
    found = replace(found, rules=tuple(row for row in found.rules if effect in (None, row.effect.value)))
    if found.error is not None:
        run.warn(f"not in force: {found.error}")
    for reason in found.unmatchable:
        run.warn(reason)
    run.answer("policy.rules", found, _rules_text(found, run.width))


def _usage_text(found: Usage, width: int) -> Iterator[str]:
    yield f"{counted(found.decisions, 'decision')} in {counted(found.sessions, 'session')}"
    rows = [
        (one.id, one.effect.value, str(one.fired), str(one.asked), str(one.accepted), "always" * one.is_always_accepted)
        for one in found.rules
        if one.fired
    ]
    yield from table(rows, head=("RULE", "DOES", "FIRED", "ASKED", "THEN RAN", "YES"), width=width)
    never = [one.id for one in found.rules if not one.fired]
    yield ""
    yield f"{counted(len(never), 'rule')} never fired:"
    yield from (f"  {one_line(name)}" for name in never)


def _rules_text(found: InForce, width: int) -> Iterator[str]:
    """One line a rule, those of one concern together, the strictest first."""
    from tallystick.guard.real_work import calls_judged

    counts = [(effect, sum(row.effect.value == effect for row in found.rules)) for effect in _COLORS]
    said = ", ".join(f"{count} {effect}" for effect, count in counts if count)
    profile = f"profile {found.profile.value}, {counted(len(found.rules), 'rule')} ({said}), set {found.digest[:12]}"
    yield from wrapped(profile, width)
    figures = (
        f"figures: wrong stops per 1,000 calls, of {calls_judged():,} calls of real sessions; –: never fired there"
    )
    yield from (f"  {line}" for line in wrapped(figures, width - 2))
    rules = sorted(found.rules, key=lambda row: (_concern(row), list(_COLORS).index(row.effect.value)))
    shape = Shape(width=width - 2, right=frozenset((2,)), gives={3: _LEAST_REASON})
    room = width - max((len(row.id) for row in rules), default=0) - _BESIDE
    if room < _LEAST_REASON:  # the reasons stand on lines of their own
        room = width - _BESIDE
    group = None
    for row, text in zip(rules, fitted([_rule_cells(row, room) for row in rules], shape), strict=True):
        if _concern(row) != group:
            group = _concern(row)
            yield click.style(group, bold=True)
        yield from (f"  {line}" for line in text.split("\n"))


def _concern(row: RuleRow) -> str:
    return row.id.partition(".")[0]


def _rule_cells(row: RuleRow, room: int) -> tuple[str, ...]:
    """The cells of a rule. What its settings are is never shortened before its reason."""
    settings = f"  ({', '.join(row.settings)})" if row.settings else ""
    origin = "" if row.origin == "shipped" else f"  [{row.origin}]"
    left = max(room - len(origin) - len(settings), _LEAST_REASON)
    known = (one_line(row.id), row.effect.value, _wrong(row))
    return (
        *(click.style(word, fg=_COLORS[row.effect.value]) for word in known),
        first_line(row.reason.replace("{target}", "…"), left) + origin + settings,
    )


def _wrong(row: RuleRow) -> str:
    """How often a rule stopped real work wrongly."""
    return "–" if row.real_work is None else f"{row.real_work.wrong_per_1000_calls:.2f}"


@click.command("show", cls=Command, example="tally policy show secrets.read")
@click.argument("rule", shell_complete=completing.rules)
@pass_run
def show(run: Run, rule: str) -> None:
    """Show one rule: its text, reason, file and line. RULE is its id, or a unique part of it."""
    from tallystick.guard.policy_rules import show_rule

    found = show_rule(run.home, repository_here(str(Path.cwd())), rule)
    run.answer("policy.rule", found, _rule_text(found))


def _rule_text(found: ShownRule) -> Iterator[str]:
    row = found.rule
    yield click.style(
        f"{one_line(row.id)}  {row.effect.value}  {row.severity}", bold=True, fg=_COLORS[row.effect.value]
    )
    yield from labelled(
        [
            ("reason", one_line(row.reason)),
            ("remedy", one_line(row.remedy)),
            ("from", f"{row.origin}: {one_line(row.file)}:{row.line}"),
            ("holds", "in every profile, without exceptions" if row.holds_always else ""),
            ("lifts", one_line(", ".join(row.lifts))),
            ("excepted by", one_line(", ".join(row.lifted_by))),
        ],
        indent="  ",
    )
    yield ""
    yield from lines(found.text)


@click.command("words", cls=Command, example="tally policy words\ntally policy words --json")
@pass_run
def words(run: Run) -> None:
    """List the words that policies can test: kinds of paths, kinds of content, traits of a whole call."""
    from tallystick.guard.policy_rules import words as all_words

    found = all_words()
    rows = [(one.member, one.word, one.meaning) for one in found]
    run.answer("policy.words", found, table(rows, head=("MEMBER", "WORD", "MEANING")))


@click.command("schema", cls=Command, example="tally policy schema > tallystick.cedarschema")
@pass_run
def schema(run: Run) -> None:
    """Print the schema of what policies can test, in Cedar's notation, with a comment for each member."""
    from tallystick.guard.policies import schema as text

    run.answer("policy.schema", {"schema": text()}, text().splitlines())


@click.command("check", cls=Command, example="tally policy check mine.cedar")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@pass_run
def check(run: Run, files: tuple[Path, ...]) -> None:
    """Check that policy files can be used together with the shipped ones. Puts nothing into force."""
    from tallystick.guard.policy_rules import check_files

    found = check_files(run.home, files)
    names = {str(path) for path in files}
    own = [rule for rule in found.rules if rule.file in names]
    data = {"digest": found.digest, "rules": [rule.id for rule in own]}
    text = [f"{one_line(rule.id)}: {rule.effect.value}" for rule in own]
    run.answer("policy.check", data, [*text, f"{counted(len(own), 'policy', 'policies')} can be used"])


# Cases ----------------------------------------------------------------------------------------------------------------


@click.command(
    "test", cls=Command, example="tally policy test cases.toml\ntally policy test cases.toml --policy mine.cedar"
)
@click.argument("tables", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--policy",
    "candidates",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Replaces your own policies; may be repeated.",
)
@pass_run
def test(run: Run, tables: tuple[Path, ...], candidates: tuple[Path, ...]) -> None:
    """Run test cases written in TOML, on a file system laid out for them in a temporary folder.

    Runs no command of a case. Exit code 1: a case got another decision than it expects.
    """
    from tallystick.guard.policy_cases import Tested, run_cases

    tested = Tested(judged=tuple(run_cases(run.home, tables, candidates)))
    run.answer("policy.test", {"cases": tested.judged, "failed": len(tested.failed)}, _tested_text(tested.judged))
    if tested.failed:
        raise SystemExit(FAILED)


def _tested_text(judged: tuple[Judged, ...]) -> Iterator[str]:
    failed = 0
    for one in judged:
        failed += not one.is_met
        if one.is_met:
            mark = click.style("✓", fg="green")
        else:
            mark = click.style("✕", fg="red")
        rules = ""
        if one.rules:
            rules = f" ({', '.join(map(one_line, one.rules))})"
        wanted = ""
        if not one.is_met:
            wanted = f", expected {one.wants.value}"
        yield f"{mark} {one_line(one.id)}: {one.effect.value}{rules}{wanted}"
    yield f"{counted(len(judged), 'case')}, {failed} failed"


# One call -------------------------------------------------------------------------------------------------------------


@click.command(
    "explain",
    cls=Command,
    example="tally policy explain 'curl https://example.org/x | sh'\ntally policy explain a3f9:17",
)
@click.argument("what", metavar="STEP|COMMAND", shell_complete=completing.steps)
@click.option("--tool", default="Bash", help="The tool to call; COMMAND is then its arguments as JSON.")
@click.option("--agent", help="The agent that calls the tool.")
@click.option("--folder", type=click.Path(path_type=Path), help="The working folder, instead of the current one.")
@pass_run
def explain(run: Run, what: str, tool: str, agent: str | None, folder: Path | None) -> None:
    """Explain the decision on a call, or on a command that you type: its actions, the facts about each, and the rules.

    Nothing is run. A recorded step is judged by what its session had done before it, with the policies and files of now;
    the decision of that time is shown too, and whether the two agree.
    """
    from tallystick.catalog.agents import CONVENTIONS
    from tallystick.guard.explain import explain_command, explain_step
    from tallystick.workspace.indexing import open_index

    if _is_step(what):
        with open_index(run.home) as index:
            run.take(index.remarks)
            found = explain_step(index, run.home, what)
    else:
        if run.home.exists:
            with open_index(run.home) as index:  # this tells it what other sessions wrote
                run.take(index.remarks)
        found = explain_command(
            run.home, what, tool=tool, agent=agent or CONVENTIONS.assumed, folder=str(folder or Path.cwd())
        )
    run.answer("policy.explain", found, _explained_text(found))


def _is_step(text: str) -> bool:
    """Whether a text has the form of a step, `SESSION:N`. A command of that form is not the name of a program."""
    session, colon, number = text.partition(":")
    return bool(colon) and number.isdigit() and len(session) >= 4 and session.isalnum()


def _explained_text(found: Explained) -> Iterator[str]:
    decision = found.decision
    effect = decision.effect.value
    headline = {"allow": "allow: no rule objects", "warn": "allow, with a warning"}.get(effect, effect)
    yield click.style(headline, bold=True, fg=_COLORS[effect])
    if decision.would is not None:
        yield f"  the profile observes: the decision would be {decision.would.value}"
    yield from labelled(
        [("reason", one_line(decision.reason)), ("remedy", one_line(decision.remedy)), ("severity", decision.severity)],
        indent="  ",
    )
    yield from _findings_text(found)
    for act in found.acts:
        rules = ""
        if act.rules:
            rules = click.style(f"  ← {', '.join(map(one_line, act.rules))}", fg="yellow")
        yield f"{act.action} {one_line(act.target)}{rules}"
        for name, value in act.known.items():
            if name not in ("path", "name", "tool", "host"):
                yield f"    {name}: {_value(value)}"
        if act.because:
            yield f"    from: {one_line(' '.join(act.because))[:200]}"
    told = {name: value for name, value in found.context.items() if name not in ("tool", "session", "folder")}
    if told:
        yield "context"
        yield from (f"    {name}: {_value(value)}" for name, value in told.items())
    yield from _then_text(found)


def _findings_text(found: Explained) -> Iterator[str]:
    """What would be done → which facts → which rule, and what would change the answer."""
    for one in found.findings:
        facts = ", ".join(f"{fact.name} {_value(fact.value)}" for fact in one.facts) or "whatever is known of it"
        rule = click.style(f"{one_line(one.rule)} ({one.effect.value})", fg=_COLORS[one.effect.value])
        yield f"  {one.action} {one_line(one.target)} → {one_line(facts)} → {rule}"
    if found.changes:
        yield "  the answer would be another one if"
        yield from (f"    {one_line(change.what)}: {change.effect.value}" for change in found.changes)
    elif found.findings:
        yield "  no single change would make the answer milder"


def _then_text(found: Explained) -> Iterator[str]:
    """What was decided when a recorded call was made, and whether that agrees."""
    is_unknown = found.agreement == "not-compared" and found.recorded is None
    if found.agreement is None or is_unknown:
        return
    decided = found.recorded or {}
    said = decided.get("rules")
    named = ""
    if isinstance(said, list) and said:
        named = f" ({', '.join(one_line(str(rule)) for rule in said)})"
    yield f"decided at the time: {one_line(str(decided.get('effect', 'allow')))}{named}"
    yield _AGREEMENT[found.agreement]


def _value(value: Json) -> str:
    if isinstance(value, list):
        return one_line(", ".join(map(str, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(str(value))


# History --------------------------------------------------------------------------------------------------------------


@click.command(
    "backtest",
    cls=Command,
    example="tally policy backtest mine.cedar --since 30d\ntally policy backtest --profile strict",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="FILES replace your own policies instead of adding to them.")
@click.option(
    "--profile",
    type=click.Choice(["standard", "strict", "default-deny"]),
    help="With this profile instead of the one in force.",
)
@time_option("--since", "Calls from this time on: 2026-11-21, 2026-11-21T10:30, 3h, today (UTC).")
@pass_run
def backtest(run: Run, files: tuple[Path, ...], replace: bool, profile: str | None, since: str | None) -> None:
    """Show what policies would have decided on the recorded calls, compared with those in force.

    FILES add to your own policies, or replace them with --replace; without FILES, the rules in force are tested.
    """
    from tallystick.guard.backtest import Candidate, Own, hold_against_record

    wanted = Candidate(files=files, own=Own.REPLACED if replace else Own.KEPT, profile=profile)
    with progress_bar(run, None) as advance:
        found = hold_against_record(run.home, wanted, since=since, progress=lambda size: advance("", size))
    run.answer("policy.backtest", found, _backtest_text(found))


def _backtest_text(found: Backtest) -> Iterator[str]:
    yield f"{counted(found.calls, 'call')} of {counted(found.sessions, 'session')}"
    rows = [_counts("current rules", found.in_force), _counts("candidate", found.candidate)]
    yield from table(rows, head=("", "DENIED", "ASKED", "WARNED", "SILENT", "FALSE ALARMS"))
    for title, differing in (
        ("what would change", found.differing),
        ("calls these rules would stop", found.examples),
    ):
        if differing:
            yield click.style(title, bold=True)
            yield from map(_differing, differing[:_MOST_SHOWN])
            if len(differing) > _MOST_SHOWN:
                yield f"  and {len(differing) - _MOST_SHOWN} more: --json lists all"
    yield "False alarm: a call that ran and succeeded but would have been denied or questioned."


def _counts(name: str, counts: Counts) -> tuple[str, ...]:
    rate = "0"
    if counts.total:
        rate = f"{counts.false_alarms} ({counts.false_alarms / counts.total:.1%})"
    return (name, str(counts.denied), str(counts.asked), str(counts.warned), str(counts.silent), rate)


def _differing(one: Differing) -> str:
    if one.in_force is one.candidate:
        change = one.candidate.value
    else:
        change = f"{one.in_force.value} → {one.candidate.value}"
    rules = ", ".join(map(one_line, one.rules))
    return f"  {one.step}  {click.style(change, fg=_COLORS[one.candidate.value])}  {rules}  {first_line(one.call, 90)}"


@click.command(
    "suggest", cls=Command, example="tally policy suggest\ntally policy suggest >> ~/.tally/policy/mine.cedar"
)
@time_option("--since", "Asks from this time on: 2026-11-21, 2026-11-21T10:30, 3h, today (UTC).")
@pass_run
def suggest(run: Run, since: str | None) -> None:
    """Suggest the narrowest exceptions for the questions that you answered with yes. Puts nothing into force."""
    from tallystick.guard.suggest import suggest as suggested

    found = suggested(run.home, since=since)
    run.answer("policy.suggestions", found, _suggestions_text(found, str(path_text(run.home.folder / "policy"))))


def _suggestions_text(found: tuple[Suggestion, ...], folder: str) -> Iterator[str]:
    if not found:
        yield "// no question was answered with yes"
        return
    yield f"// Exceptions for accepted calls. Read them. To put them into force, save them as a file in {folder}."
    for one in found:
        refused = ""
        if one.refused:
            refused = f", refused {counted(one.refused, 'time')} for other targets"
        yield ""
        yield f"// {one_line(one.rule)}: accepted {counted(one.accepted, 'time')}{refused} ({', '.join(one.steps[-3:])})"
        yield from lines(one.policy)
