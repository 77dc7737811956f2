"""`tally audit-config`: what the settings of agents allow."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.display.text import one_line

if TYPE_CHECKING:
    from tallystick.setup.audit_config import Audit, Finding

ROOT = Path("/")
"""Below it are administrators' settings."""
REACHED = 2
_SEVERITIES = ("low", "medium", "high", "critical")
_COLORS = {"low": "blue", "medium": "yellow", "high": "red", "critical": "magenta"}


@click.command(
    "audit-config",
    cls=Command,
    example="tally audit-config\ntally audit-config claude-code --project .\ntally audit-config --fail-on medium --json",
)
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Include the settings of this project.",
)
@click.option(
    "--fail-on",
    type=click.Choice(_SEVERITIES),
    default="high",
    show_default=True,
    help="Exit with 2 if a finding has this severity or a higher one.",
)
@pass_run
def audit_config(run: Run, agents: tuple[str, ...], project: Path | None, fail_on: str) -> None:
    """Audit what the settings of the agents on this machine allow, and what to change.

    Reads permissions, hooks, MCP servers, instructions and skills of the user, the administrator and, with --project,
    the project. Starts and changes nothing, and shows no secret.
    """
    from tallystick.agents.settings import Severity
    from tallystick.capture.surroundings import Surroundings
    from tallystick.setup.audit_config import audit_config as do_audit

    folder = None
    if project is not None:
        folder = Path.cwd() / project
    where = Surroundings(user=Path.home(), environment=os.environ, project=folder)
    found = do_audit(agents, where, root=ROOT)
    run.answer("audit-config", found, _audit_text(found))
    if found.reaches(Severity(fail_on)):
        raise SystemExit(REACHED)


def _audit_text(found: Audit) -> Iterator[str]:
    for finding in found.findings:
        yield from _finding_text(finding)
    for source in found.sources:
        if source.problem is not None:
            yield f"not read: {one_line(source.path)}: {one_line(source.problem)}"
    yield _summary(found)
    yield from (f"  {click.style(one_line(limit), dim=True)}" for limit in found.limitations)


def _finding_text(finding: Finding) -> Iterator[str]:
    line = ""
    if finding.line is not None:
        line = f":{finding.line}"
    severity = click.style(f"{finding.severity.value:<8}", fg=_COLORS[finding.severity.value])
    unsure = ""
    if finding.confidence.value == "potential":
        unsure = " (potential)"
    yield f"{severity}  {click.style(finding.rule, bold=True)}{unsure}  {one_line(finding.file)}{line}"
    what = ": ".join(one_line(part) for part in (finding.key or "", finding.found) if part)
    if what:
        yield f"          {what}"
    yield f"          {finding.means}"
    yield f"          {click.style('remedy:', dim=True)} {finding.remedy}"


def _summary(found: Audit) -> str:
    if not found.agents:
        return "no agent with settings that can be audited was found on this machine"
    counts = Counter(finding.severity.value for finding in found.findings)
    said = ", ".join(f"{counts[severity]} {severity}" for severity in reversed(_SEVERITIES) if counts[severity])
    read = sum(source.problem is None for source in found.sources)
    findings = f"{counted(len(found.findings), 'finding')}{f' ({said})' if said else ''}"
    return f"{findings} in {counted(read, 'file')} of {', '.join(found.agents)}. Limits of this audit:"
