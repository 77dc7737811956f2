"""What an agent is: names, programs, files, variables, tools, hooks, and what it is known not to report.

Owns the schema of `agents/*.toml` and `agent_conventions.toml`, and the values read from them. Every table about agents
elsewhere is derived from these. Must not know who asks: policies, hooks, audits and imports each derive what they need.
"""

import enum
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from tallystick.catalog.loading import Entry, load, load_folder
from tallystick.model.step import Source

Way: TypeAlias = tuple[str, ...]
"""Names of members, from the outermost in; `*` is any one."""


class Base(enum.StrEnum):
    """Whose a file is, and so what its path begins below."""

    USER = "user"
    PROJECT = "project"
    MANAGED = "managed"
    """An administrator's: the path is below the root of the file system."""


class Kind(enum.StrEnum):
    """What a file holds."""

    SETTINGS = "settings"
    """JSON, with comments where the agent reads them, or TOML by the name's end."""
    INSTRUCTIONS = "instructions"
    """Text that the agent's model reads in every session: instructions, rules, memory."""
    SKILL = "skill"
    """Text with front matter that the model reads when it is asked for: skills, commands, sub-agents."""
    PROGRAM = "program"
    """Code that the agent runs: hook files, plugins, the scripts of skills."""


class Asking(enum.StrEnum):
    """What happens to a call on which a human's consent is wanted."""

    PROMPT = "prompt"
    """The agent asks its user, and refuses where no one can answer."""
    REFUSE = "refuse"
    """The agent cannot be made to ask: it would run the call, or wait without end. The hook refuses it and says why."""


class Place(Entry, frozen=True, kw_only=True):
    """A file, or with `endings` a folder, in which an agent looks."""

    path: str
    base: Base
    kind: Kind = Kind.SETTINGS
    variable: str | None = None
    """An environment variable that, if set, names the folder that stands for the first part of `path`."""
    endings: tuple[str, ...] = ()
    """It is a folder: the files below it whose names end so. The empty ending means every file."""
    switches_hooks: bool = False
    """Settings in it can switch hooks off, ours too: no agent may change it."""


class HookFile(Entry, frozen=True, kw_only=True):
    """A file that makes the agent call our hook."""

    path: str
    """Below the home folder, or below the project. `{event}`: one file an event."""
    ours: bool = False
    """The whole file is ours: it is removed with the hook."""
    executable: bool = False
    variable: str | None = None
    """An environment variable that, if set, names the folder that stands for the first part of `path`."""
    name: str = ""
    """Which of the agent's files it is, for its adapter."""


class Switch(Entry, frozen=True, kw_only=True):
    """A setting that switches all hooks of the agent off."""

    path: Way
    value: bool


class Hooks(Entry, frozen=True, kw_only=True):
    """How the agent reports to a hook while it works."""

    events: tuple[str, ...]
    """The events that we subscribe to, as the agent calls them."""
    before_call: str
    """The one of them that waits for our answer."""
    asking: Asking
    """What the agent does with `ask`."""
    allows: bool = False
    """An *allow* keeps its own question away."""
    rests: tuple[str, ...] = ()
    """The events after which the agent has done what it was asked, and waits."""
    because: str = ""
    """Why, as observed when it was run, or as documented."""
    files: tuple[HookFile, ...]
    """The user's."""
    project_files: tuple[HookFile, ...] = ()
    """A project's; none: it cannot be done there."""
    http: bool = False
    """Handlers can call the recorder's port instead of a command."""
    plugin: bool = False
    """A plugin of ours inside of the agent puts the answer into the agent's own terms."""
    plugin_module: str = ""
    """Where such a plugin is a module of ours: its path below `plugins/`."""
    switch: Switch | None = None
    untrusted: str = ""
    """What to say while our handlers are not trusted, of an agent that runs none until its user trusts them and that says
    whether that was done. Empty: it runs what its settings name."""
    names_its_history: bool = False
    """Whether each session that has hooks names the file of its history (`AgentFacts.own_history`): one that grows while no
    hook speaks of it is of a session that runs without them."""
    notice: str = ""
    """The event at the start of a session whose answer may have a `systemMessage`, which the agent shows its user."""
    afterwards: str = ""
    """What the user must do after an installation."""
    not_run: str = ""
    """What of this was never observed here, because the agent was never run."""


class Starts(Entry, frozen=True, kw_only=True):
    """How a command line starts the agent so that fewer protections hold."""

    unguarded: tuple[str, ...] = ()
    """Options with which it asks no one, or runs without its sandbox or hooks. They count for every agent."""
    short: Mapping[str, tuple[str, ...]] = {}
    """By program: options that mean it for this program, and something else for others."""
    values: Mapping[str, tuple[str, ...]] = {}
    """By option: values that mean it, in lower case."""
    overrides: tuple[str, ...] = ()
    """Regular expressions of what `-c NAME=VALUE` must not set, in lower case."""


class Variables(Entry, frozen=True, kw_only=True):
    """Variables of the environment."""

    folders: tuple[str, ...] = ()
    """They name its folders of settings; `files` refers to them."""
    moving: tuple[str, ...] = ()
    """With these it reads other settings than its usual ones. A `*` at the end stands for any rest."""
    project: tuple[str, ...] = ()
    """They name the project's folder in commands that its settings hold."""
    prefixes: tuple[str, ...] = ()
    """Names that begin so change what it does: a session's configuration names those that are set."""
    endpoints: tuple[str, ...] = ()
    """They say at which address its model is called."""
    quiet: Mapping[str, str] = {}
    """With these it starts no update of itself."""


class Settings(Entry, frozen=True, kw_only=True):
    """What its settings files say, by their keys."""

    servers: tuple[Way, ...] = ()
    """Where objects of MCP servers are."""
    permissions: tuple[str, ...] = ()
    """Members that say what it may do without asking, dotted."""
    members: Mapping[str, tuple[Way, ...]] = {}
    """By path: the members that count, of a file that it also writes notes for itself to."""
    unseen: tuple[str, ...] = ()
    """What its files do not show, in words."""


class Memory(Entry, frozen=True, kw_only=True):
    """What it keeps for later sessions."""

    user_file: str | None = None
    """The file to which its tool for memories adds a line, as `~/…`."""
    project_file: str | None = None
    """The same for what is kept with the project."""
    notes: str | None = None
    """A folder with notes on every project, below the home folder."""
    notes_of_project: str | None = None
    """The folder of notes on one project, `{slug}` for the project's path."""
    skills: str | None = None
    """The folder in which its tool for skills keeps them, as `~/…`."""


class Histories(Entry, frozen=True, kw_only=True):
    """The files that its sessions leave."""

    patterns: tuple[str, ...]
    """Globs below the home folder that match them."""
    subagents: tuple[str, ...] = ()
    """Where sub-agents' files are, relative to the folder of their session's; `{stem}` and `{session}` are filled in."""
    of_session: str = ""
    """Of an agent whose hooks do not name it: where a session's file is below the home folder; `{session}` is filled in."""


class BlindSpot(Entry, frozen=True, kw_only=True):
    """Events that one source does not report, and when."""

    source: Source
    types: frozenset[str]
    """Of which step types."""
    when: str
    """A sentence for a person, without a full stop."""
    tools: frozenset[str] = frozenset()
    """Only for these tools; empty: for all."""
    always: bool = False
    """Whether that is always so: nothing is missing then."""


class Editor(Entry, frozen=True, kw_only=True):
    """What it has as an editor: code editors with an agent in them."""

    programs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """How the paths of the editor's settings end."""
    extensions: tuple[str, ...] = ()
    """Folders of extensions, below the home folder."""


class Table(Entry, frozen=True, kw_only=True):
    """A table of its database. Columns that one does not have are passed over: schemas differ from version to version."""

    name: str
    """`sqlite_master` gives one row (`type`, `name`) for each thing in the schema: a reader can name what it leaves."""
    order_by: tuple[str, ...] = ()
    """Empty, or none of them there: the order in which the rows were inserted."""
    columns: tuple[str, ...] = ()
    """The only columns to read; empty: all of them. Where secrets lie, they are listed."""
    key: str = "id"
    """The column by which the tables below name a row of this one."""
    link: str = ""
    """In a table below another: the column that holds the key of the row it belongs to. It should have an index."""
    below: "tuple[Table, ...]" = ()
    """Tables of which each row belongs to a row of this one. They are read right after that row, one after the other;
    rows whose owner is missing come after all that have one."""


class Spelling(Entry, frozen=True, kw_only=True):
    """What its histories and telemetry call things, by the word with which its readers ask."""

    words: Mapping[str, tuple[str, ...]] = {}
    """Types of lines and events, members, beginnings of texts: those that a reader treats alike."""
    names: Mapping[str, Mapping[str, str]] = {}
    """One name for another: of counts, of what ended, of who refused."""


class AgentFacts(Entry, frozen=True, kw_only=True):
    """One agent. Paths have the spelling of the agent; code that compares them folds case."""

    name: str
    """Its name everywhere in Tallystick, and the name of its file."""
    title: str
    """Its name for people."""
    rank: int
    """Its place in lists."""
    readers: tuple[str, ...] = ()
    """The modules in its folder that read histories; the first reads what it writes today."""
    adapters: tuple[str, ...] = ()
    """The other modules in its folder: `acp`, `hooks`, `settings`, `telemetry`."""
    programs: tuple[str, ...] = ()
    """Its programs, by which it is found on a machine."""
    other_programs: tuple[str, ...] = ()
    """Other programs that are it, or start it for an editor."""
    packages: tuple[str, ...] = ()
    """Names under which npm or PyPI have it."""
    folders: tuple[str, ...] = ()
    """Folders below the home folder that it makes."""
    folder_names: tuple[str, ...] = ()
    """Names of its folders wherever they are, in home folders and in projects."""
    calls_itself: tuple[str, ...] = ()
    """Its names in protocols (ACP), in lower case."""
    services: tuple[str, ...] = ()
    """Its `service.name` in telemetry."""
    replays: bool = False
    """It replays its own sessions, and counts what is in them: they are shown in its words, and as tersely."""
    marks_roles: bool = False
    """Each of its steps names the role that made it, those of the main agent too."""
    addressed: tuple[str, ...] = ()
    """What texts call it that address it: `Claude, run this`."""
    files: tuple[Place, ...] = ()
    """What its sessions are configured by, in the order in which it is looked at."""
    other_files: tuple[Place, ...] = ()
    """Settings besides, of which sessions' configurations say nothing."""
    settings_names: tuple[str, ...] = ()
    """Names that mean its settings wherever such a file is: an editor keeps them in folders of its own."""
    orders_names: tuple[str, ...] = ()
    """Names that mean instructions to it wherever such a file is, besides those among `files`."""
    secrets: tuple[str, ...] = ()
    """Files and folders with its credentials, below the home folder, on all platforms."""
    may_hold_secrets: tuple[str, ...] = ()
    """The same, of files that are read for other reasons more often."""
    imports: int = 0
    """How many files deep it follows `@path` in its instructions; 0: it takes in no other file."""
    settings: Settings = Settings()
    memory: Memory = Memory()
    variables: Variables = Variables()
    starts: Starts = Starts()
    hooks: Hooks | None = None
    histories: Mapping[str, Histories] = {}
    """By reader."""
    tools: Mapping[str, tuple[str, ...]] = {}
    """Its tools, by what they do: the words of `tools/known.py`."""
    blind_spots: tuple[BlindSpot, ...] = ()
    editor: Editor = Editor()
    spelling: Spelling = Spelling()
    tables: tuple[Table, ...] = ()
    """The tables of its database that its reader wants, in the order in which they are read."""

    @property
    def own_history(self) -> tuple[str, ...]:
        """The first pattern of the histories that it writes today; nothing where it leaves none."""
        return self.histories[self.readers[0]].patterns[:1] if self.readers else ()


class Conventions(Entry, frozen=True, kw_only=True):
    """What several agents have in common, and no single one owns."""

    session_files: tuple[str, ...]
    """Files in a project that agents read as instructions at the start of a session, and no single one owns."""
    note_folders: tuple[str, ...]
    """Regular expressions of folders in an agent's folder in which it keeps notes for itself."""
    prefixes: tuple[str, ...]
    """What names of variables begin with that change what agents do."""
    folder_variables: tuple[str, ...]
    """Variables that name folders of several agents."""
    unguarded: tuple[str, ...]
    """Options of no agent in particular with which one asks no one, or runs without its sandbox or hooks."""
    changing: Mapping[str, tuple[str, ...]]
    """By word: the words after it with which an agent's command changes what it loads or may do."""
    assumed: str
    """The agent that a call is judged as where its record or its question names none."""
    powershell_on_windows: frozenset[str]
    """Agents whose tool for shell commands runs PowerShell there. Others bring bash along, or have a tool for each."""


AGENTS: Mapping[str, AgentFacts] = MappingProxyType(
    {facts.name: facts for facts in sorted(load_folder("agents", AgentFacts).values(), key=lambda facts: facts.rank)}
)
"""Every agent by its name, in the order of lists."""
CONVENTIONS = load("agent_conventions", Conventions)
SHARED_TOOLS: Mapping[str, tuple[str, ...]] = load("tools", dict[str, tuple[str, ...]])
"""Tools of MCP servers, and of agents that have no entry, by what they do."""


def read_as(agent: str) -> AgentFacts | None:
    """The agent of a session: its readers but the first give their sessions names of their own (`NAME-READER`)."""
    found = AGENTS.get(agent)
    if found is not None:
        return found
    return next(
        (facts for facts in AGENTS.values() for reader in facts.readers if f"{facts.name}-{reader}" == agent), None
    )


def programs() -> frozenset[str]:
    """The programs of all agents."""
    return frozenset(name for facts in AGENTS.values() for name in (*facts.programs, *facts.other_programs))


def folder_names() -> frozenset[str]:
    """The names of all agents' folders, wherever they are."""
    return frozenset(name for facts in AGENTS.values() for name in facts.folder_names)


def dotfiles() -> tuple[str, ...]:
    """Hidden files of agents that are in no folder of theirs, but in a home folder or a project itself, in lower case."""
    paths = (place.path.lower() for facts in AGENTS.values() for place in (*facts.files, *facts.other_files))
    return tuple(dict.fromkeys(path for path in paths if path[:1] == "." and "/" not in path))


def agents_folders() -> tuple[str, ...]:
    """Folders of agents below a home folder, in lower case, the deeper ones first."""
    found = {folder.lower() for facts in AGENTS.values() for folder in (*facts.folders, *facts.folder_names)}
    return tuple(sorted(found, key=lambda folder: (-folder.count("/"), folder)))


def addressed() -> tuple[str, ...]:
    """What texts call agents that address them."""
    return tuple(name for facts in AGENTS.values() for name in facts.addressed)


def secrets() -> tuple[str, ...]:
    """Files and folders with agents' credentials, below a home folder, in lower case."""
    return tuple(path.lower() for facts in AGENTS.values() for path in facts.secrets)


def holds_hook(place: Place) -> bool:
    """Whether our hook is installed in a file of settings."""
    files = (
        file.path
        for facts in AGENTS.values()
        if facts.hooks is not None
        for file in (facts.hooks.project_files if place.base is Base.PROJECT else facts.hooks.files)
    )
    return place.path in files


def places(*, kind: Kind, base: Base) -> Iterator[Place]:
    """The files and folders of all agents of a kind and a base, those besides included."""
    for facts in AGENTS.values():
        for place in (*facts.files, *facts.other_files):
            if place.kind is kind and place.base is base:
                yield place


def session_instructions() -> tuple[str, ...]:
    """The files of a project that agents read as instructions by themselves, below its folder."""
    found = (place.path for place in places(kind=Kind.INSTRUCTIONS, base=Base.PROJECT) if not place.endings)
    return tuple(dict.fromkeys((*found, *CONVENTIONS.session_files)))


def user_instructions() -> tuple[str, ...]:
    """The files in a home folder that agents read as instructions by themselves, below it."""
    found = (place.path for place in places(kind=Kind.INSTRUCTIONS, base=Base.USER) if not place.endings)
    return tuple(dict.fromkeys(found))


def hook_switches(base: Base) -> tuple[Place, ...]:
    """Settings that can switch hooks off, whether or not they are where a hook is installed."""
    return tuple(place for place in places(kind=Kind.SETTINGS, base=base) if place.switches_hooks)


def folder_variables() -> tuple[str, ...]:
    """The variables that name folders of agents."""
    own = (name for facts in AGENTS.values() for name in facts.variables.folders)
    return tuple(dict.fromkeys((*own, *CONVENTIONS.folder_variables)))
