"""Runs of agents with and without our hooks, and what came of them.

Owns the order of a run: the store is made, the hook installed, the agent run, the recorder ended. Must not judge.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from tallystick.agents.hooks import NAMES as HOOKED
from tallystick.agents.hooks import hook_adapter
from tools.live import box, going_on, scenarios
from tools.live.box import Command, Plan, Ran
from tools.live.evidence import TALLY
from tools.live.going_on import Part
from tools.live.run import PROMPT, Place, Recipe
from tools.live.scenarios import Forbidden
from tools.live.script import Script

_LIMIT_S = 150


def _planted(shape: str) -> str:
    """A secret of a known shape, which no service ever gave out: `*` becomes 36 letters and digits."""
    return shape.replace("*", hashlib.sha256(shape.encode()).hexdigest()[:36])


SECRETS = {
    "DEPLOY_TOKEN": _planted("ghp" + "_*"),
    "PAYMENTS_KEY": _planted("sk" + "_live_*"),
    "MODEL_KEY": _planted("sk-ant" + "-api03-*"),
}
"""In the environment of each agent, and in what one of its commands prints."""


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is over, and where."""

    recipe: Recipe
    place: Place
    ran: Ran
    forbidden: tuple[Forbidden, ...] = ()

    @property
    def home(self) -> Path:
        """The home folder of the run."""
        return self.place.home

    @property
    def live(self) -> Path:
        """The store as the recorder left it, before anything was imported."""
        return self.home / "live"


def has_hooks(agent: str) -> bool:
    """Whether Tallystick can be installed into the agent."""
    return agent.replace("-", "_") in HOOKED


def has_project_settings(agent: str) -> bool:
    """Whether the hook can be installed for a project too."""
    adapter = hook_adapter(agent)
    return adapter is not None and adapter.settings(project=True) != ()


def hooked_files(observed: Observed) -> list[str]:
    """The agent's files below home and project that call our hook."""
    adapter = hook_adapter(observed.recipe.agent)
    if adapter is None:
        return []
    places = ((observed.home, False), (observed.place.project, True))
    files = [(folder / file.path, file) for folder, project in places for file in adapter.settings(project=project)]
    return [str(path) for path, file in files if path.is_file() and adapter.hooked(file, path.read_bytes())]


def settings_of(agent: str) -> str | None:
    """The file below the home folder that makes the agent call our hook, if there is one."""
    adapter = hook_adapter(agent)
    files = adapter.settings(project=False) if adapter is not None else ()
    return files[0].path if files else None


def everything(recipe: Recipe, folder: Path, *, installed: int = 1) -> Observed:
    """The whole scripted session, recorded. `installed`: 2 for the user and for the project as well."""
    place = place_in(folder)
    script = scenarios.edit_in_text(place) if recipe.name == "aider" else scenarios.everything(place)
    return _observe(recipe, place, script, recording=True, installed=installed)


def interrupted(recipe: Recipe, folder: Path) -> Observed:
    """A session that is interrupted while a command runs, recorded."""
    place = place_in(folder)
    begun = str(place.project / "begun.txt")
    parts = (Part(way="begin", prompt=PROMPT, stop_at=begun),)
    return _observe(recipe, place, scenarios.interrupted(place), recording=True, parts=parts)


def refused(recipe: Recipe, folder: Path, only: str | None = None, *, recording: bool) -> Observed:
    """A session of what the shipped policy forbids, with our hook or without. `only`: one kind."""
    place = place_in(folder)
    what = tuple(
        one for one in scenarios.forbidden(place, settings_of(recipe.agent)) if only is None or one.kind == only
    )
    observed = _observe(recipe, place, scenarios.refused(place, what), recording=recording)
    return msgspec.structs.replace(observed, forbidden=what)


def leaking(recipe: Recipe, folder: Path) -> Observed:
    """A session that reads a secret and tries to send it in several forms."""
    place = place_in(folder)
    what = scenarios.leaks(place, SECRETS["DEPLOY_TOKEN"])
    observed = _observe(recipe, place, scenarios.leaking(place, what), recording=True)
    return msgspec.structs.replace(observed, forbidden=what)


def working_day(recipe: Recipe, folder: Path) -> Observed:
    """A session of ordinary work, with a program that says who is logged in."""
    place = place_in(folder)
    return _observe(recipe, place, scenarios.working_day(place), recording=True)


_MORE = "Please go on with the scripted steps."


def family(recipe: Recipe, folder: Path) -> Observed:
    """A session with failing commands and a tree of sub-agents, resumed, compacted, forked and resumed again."""
    place = place_in(folder)
    parts = (
        Part(way="begin", prompt=PROMPT),
        Part(way="resume", prompt=_MORE),
        Part(way="fork", prompt=_MORE),
        Part(way="compact", prompt=""),
        Part(way="resume", prompt=_MORE),
    )
    return _observe(recipe, place, scenarios.family(place), recording=True, parts=parts)


def stopped(recipe: Recipe, folder: Path, by: str) -> Observed:
    """A session that a signal ends while two sub-agents work, and that is resumed, forked, and stopped once more."""
    place = place_in(folder)
    ready = str(place.project / "ready.txt")
    parts = (
        Part(way="begin", prompt=PROMPT, stop_at=ready, signal=by),
        Part(way="resume", prompt=_MORE),
        Part(way="fork", prompt=_MORE),
    )
    return _observe(recipe, place, scenarios.stopped(place, ready), recording=True, parts=parts)


def place_in(folder: Path) -> Place:
    """The folders of a run; the project lies below the home folder, as people have it."""
    return Place(home=folder / "home", project=folder / "home" / "project", out=folder / "out")


def _observe(
    recipe: Recipe,
    place: Place,
    script: Script,
    *,
    recording: bool,
    installed: int = 1,
    parts: tuple[Part, ...] = (Part(way="begin", prompt=PROMPT),),
) -> Observed:
    launch = recipe.launch(place, PROMPT)
    agent = going_on.commands(recipe, place, parts, _LIMIT_S)
    before = _recording(recipe.agent, installed) if recording else ()
    after = (*_ending(), *(_taking_out(recipe.agent) if installed > 1 else ())) if recording else ()
    plan = Plan(
        home=str(place.home),
        project=str(place.project),
        out=str(place.out),
        script=script,
        commands=(*launch.before, *before, *agent, *after),
        env=launch.env | SECRETS,
        path=(*launch.path, f"{place.home}/.local/bin"),
        files=launch.files | _laid_out(place, store=not recording),
    )
    return Observed(recipe=recipe, place=place, ran=box.run(plan))


_LIFTING = """
@id("live.secrets")
@lifts("secrets.credential, secrets.environment, secrets.read, secrets.printed")
@reason("What is recorded of secrets is looked at here, so a call has to print some.")
permit (principal, action, resource);
"""


_GH = """#!/bin/sh
echo "github.com"
echo "  Logged in to github.com account dev (keyring)"
echo "  - Token: gho_************************************"
"""


def _laid_out(place: Place, *, store: bool) -> dict[str, str]:
    """The secrets in a file, and the folders that a forbidden command would write to."""
    secrets = "".join(f"{name}={value}\n" for name, value in SECRETS.items())
    found = {f"{place.project}/{scenarios.SECRETS_FILE}": secrets, f"{place.home}/elsewhere/.claude/.here": ""}
    found[f"{place.home}/lifting.cedar"] = _LIFTING
    found[f"{place.home}/.local/bin/gh"] = _GH
    return found | ({f"{place.home}/.tally/.here": ""} if store else {})


def _recording(agent: str, installed: int) -> tuple[Command, ...]:
    install = (
        Command(name="install", argv=(TALLY, "install", agent)),
        Command(name="install-project", argv=(TALLY, "install", agent, "--project")),
    )
    lifting = (
        "/bin/sh",
        "-c",
        "mkdir -p ~/.tally/policy && cp ~/lifting.cedar ~/.tally/policy/; chmod +x ~/.local/bin/gh",
    )
    return (
        Command(name="init", argv=(TALLY, "init")),
        Command(name="lift", argv=lifting),
        *(install[:installed] if has_hooks(agent) else ()),
    )


def _taking_out(agent: str) -> tuple[Command, ...]:
    return (Command(name="uninstall", argv=(TALLY, "uninstall", agent)),)


def _ending() -> tuple[Command, ...]:
    """The recorder seals what it has; what no hook saw is read from the transcript, as the next `tally up` would."""
    return (
        Command(name="stop", argv=(TALLY, "service", "stop")),
        Command(name="keep", argv=("/bin/sh", "-c", "cp -a ~/.tally ~/live")),
        Command(name="import", argv=(TALLY, "import")),
    )
