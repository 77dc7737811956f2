"""A call as it was read → its acts: each thing that it does, with what is known of what it does it to.

Owns how intents become acts, where a path lies, and which questions about a path are asked for which action: those of the
record and of version control are slow, and most calls only read. Must not know what follows from an act.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from tallystick.intent.tools.paths import absolute
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.calls.authors import Authors
from tallystick.policy.calls.irrecoverable import NOTHING, OWN, Loss, beginning, loss, loss_of
from tallystick.policy.calls.legitimate_use import in_use
from tallystick.policy.calls.measured import measured
from tallystick.policy.calls.own_variables import loaded
from tallystick.policy.calls.progress import SoFar
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.calls.repositories import changed_repositories, is_tree_of, trees_beside
from tallystick.policy.calls.staying import kept
from tallystick.policy.calls.unnamed_files import Incidental, UnnamedFiles, is_shallow, wholes
from tallystick.policy.content.credentials import credentials_in, credentials_written
from tallystick.policy.content.inspection import cell_tags, is_notebook, order_tags, run_tags, written_tags
from tallystick.policy.content.order_sources import Version, held, is_taken_in, order_files, versions_of
from tallystick.policy.content.unasked import may_run, runs_of, switches_of
from tallystick.policy.content.written import FETCHED, news, told
from tallystick.policy.facts import Act, Action, FileFacts, Place, ProgramFacts
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.kinds.secrets import is_exempt
from tallystick.policy.kinds.system import is_temporary
from tallystick.policy.network.egress import Egress
from tallystick.policy.settings import Settings
from tallystick.policy.world import Content, FileKind, FileState, Maker, Provenance, Tracking, World

_MOST_ACTS = 2500
_MOST_ASKED = 400
"""Files whose past is looked up; of more, only names and places are judged."""
_MOST_OPENED = 10
_ACTIONS = {
    Operation.READ: Action.READ,
    Operation.COPY_SOURCE: Action.READ,
    Operation.LIST: Action.LIST,
    Operation.CREATE: Action.WRITE,
    Operation.WRITE: Action.WRITE,
    Operation.APPEND: Action.WRITE,
    Operation.EDIT: Action.WRITE,
    Operation.COPY_DEST: Action.WRITE,
    Operation.DELETE: Action.DELETE,
    Operation.RENAME: Action.MOVE,
    Operation.METADATA: Action.METADATA,
    Operation.EXECUTE: Action.EXECUTE,
    Operation.FETCH: Action.FETCH,
    Operation.SEND: Action.SEND,
    Operation.CONNECT: Action.CONNECT,
    Operation.LISTEN: Action.LISTEN,
    Operation.RUN: Action.RUN,
}
_CHANGES = frozenset((Action.WRITE, Action.DELETE, Action.MOVE, Action.METADATA, Action.EXECUTE))
"""Acts that are judged by a file's past."""
_LOSING = frozenset((Action.WRITE, Action.DELETE))
_OF_NAMES = frozenset((Action.DELETE, Action.MOVE))
_NOT_LOOKED_AT = FileState()
_MOST_ABOVE = 6
_MOST_NAMED = 8


def acts_of(reading: CallReading, world: World, settings: Settings, temporary: tuple[str, ...] = ()) -> Iterator[Act]:
    """What a call does, one by one; each thing once.

    Args:
        temporary: folders for temporary files besides the system's, absolute.
    """
    finder = _Finder(reading, world, settings, temporary)
    seen: set[tuple[object, ...]] = set()
    for intent in _intents(reading, world):
        action = _ACTIONS.get(intent.operation) or (Action.USE if intent.domain is Domain.FILE else None)
        finder.begin(intent)
        key = (finder.program, intent.operation, intent.target, intent.is_deep, intent.is_pattern, intent.is_known)
        if action is None or (key in seen and intent.content is None):
            continue
        if len(seen) >= _MOST_ACTS:
            return
        seen.add(key)
        yield finder.act(action, intent)
    for intent in finder.authors.more():
        yield finder.act(Action.EXECUTE, intent)


def _named(intent: Intent) -> str:
    """A program without its folder."""
    return intent.target.rpartition("/")[2] or intent.target


def _intents(reading: CallReading, world: World) -> Iterator[Intent]:
    yield from changed_repositories(reading)
    together = list(wholes(reading, world))
    listings = UnnamedFiles(reading)
    for n, found in enumerate(reading.effects.intents):
        if found.operation is Operation.DELETE and together:  # where its program is at work
            yield from (whole for whole in together if whole.command == found.command)
            together = [whole for whole in together if whole.command != found.command]
        yield from listings.of(_as_meant(found, reading, n in reading.uses.searched))


def _as_meant(intent: Intent, reading: CallReading, is_search: bool) -> Intent:
    """An intent as policies see it: a search reads what it looks through, though it shows a part; a `file:` URL is a path."""
    if is_search:
        return replace(intent, operation=Operation.READ)
    if intent.domain is Domain.NETWORK and intent.target[:5].lower() == "file:":
        path, is_known = absolute(f"file:///{intent.target[5:].lstrip('/')}", None, None)
        return replace(intent, domain=Domain.FILE, operation=Operation.READ, target=path, is_known=is_known)
    if is_shallow(intent, reading):
        return replace(intent, is_deep=False)
    return intent


class _Touch(Struct, frozen=True):
    """One file that a call does something to."""

    action: Action
    intent: Intent
    path: str
    """Where it leads, without links."""
    state: FileState


class _Finder:
    """Finds what is known of what one call works on."""

    def __init__(self, reading: CallReading, world: World, settings: Settings, temporary: tuple[str, ...]) -> None:
        self._reading = reading
        self._world = world
        self._settings = settings
        self._temporary = temporary
        home = reading.home.rstrip("/")
        self._own_temporary = tuple(folder for folder in temporary if folder.startswith(f"{home}/"))
        self._real: dict[str, str] = {}
        self._makers: dict[str, Maker | None] = {}
        self._trees: dict[str | None, bool] = {}
        self._said_in: dict[str, str] = {}
        self._in_use: frozenset[str] | None = None
        self._loaded: frozenset[str] = frozenset()
        self._kept: Mapping[str, tuple[str, ...]] = {}
        self._versions: tuple[Version, ...] | None = None
        self._egress = Egress(reading, world, settings, self._without_links)
        self._incidental = Incidental(reading)
        self._opened = 0
        self._asked = 0
        self.authors = Authors(reading, world)
        self._so_far = SoFar(reading)
        self._beside = frozenset(trees_beside(reading, world))

    def act(self, action: Action, intent: Intent) -> Act:
        """An intent as an act."""
        match intent.domain:
            case Domain.FILE:
                file = self._file(action, intent)
                if action is Action.EXECUTE:
                    file = self.authors.facts(file, intent)
                return Act(action=action, resource=file, because=self._because(intent))
            case Domain.NETWORK:
                return Act(action=action, resource=self._egress.host(intent), because=self._because(intent))
            case _:
                return Act(action=action, resource=ProgramFacts(_named(intent)), because=self._because(intent))

    @property
    def program(self) -> str:
        """The program at work."""
        return self._so_far.program

    def begin(self, intent: Intent) -> None:
        """An intent comes next, whether it is looked at or was before."""
        if intent.operation is Operation.RUN:
            self._so_far.started(_named(intent))

    def _because(self, intent: Intent) -> tuple[str, ...]:
        """The words that an intent comes from, and which content says them if it is not the call itself."""
        if not intent.script.startswith("/"):
            return intent.words
        if intent.script not in self._said_in:
            content = self._world.content(intent.script)
            digest = ""
            if isinstance(content, Content):
                digest = f" ({content.digest})"
            self._said_in[intent.script] = f"in {intent.script}{digest}"
        return (*intent.words, self._said_in[intent.script])

    def _file(self, action: Action, intent: Intent) -> FileFacts:
        path = intent.target
        real = path
        if intent.is_known and path.startswith("/"):
            real = self._without_links(path)
        if real != path and (action in _OF_NAMES or self._so_far.links(intent)):  # a link itself, not what it leads to
            real = posixpath.join(self._without_links(posixpath.dirname(path)), posixpath.basename(path))
        named = Named(
            path=path,
            real=real,
            home=self._reading.home,
            workspace=self._reading.workspace,
            is_known=intent.is_known,
            is_pattern=intent.is_pattern,
            is_deep=intent.is_deep,
        )
        kinds = self._kinds(named)
        brings = self._brought(action, intent)
        if brings or (action is Action.WRITE and is_taken_in(real, self._reading, self._world)):
            kinds |= {"orders"}
        is_one = intent.is_known and not intent.is_pattern and path.startswith("/")
        place = self._place(named)
        is_asked = is_one and action in _CHANGES and self._asked < _MOST_ASKED
        self._asked += is_asked
        state = _NOT_LOOKED_AT
        if is_one:
            state = self._world.state(real)
        touch = _Touch(action, intent, real, state)
        exists = is_one and state.kind is not FileKind.NOTHING
        if is_asked:
            past = self._past(real)
            tracking = self._tracking(touch, place)
        else:
            past = Provenance()
            tracking = Tracking()
        lost = NOTHING
        if exists and action in _LOSING:
            lost = self._loss(action, real, tracking, past)
        if action is Action.DELETE and intent.is_pattern and intent.is_known:
            lost = self._loss_by_pattern(path)
        if action is Action.WRITE and is_one and not exists:
            self._so_far.made(path, real)
        return FileFacts(
            path=path,
            name=posixpath.basename(path),
            place=place,
            kinds=kinds,
            tags=brings | self._tags(touch, kinds),
            is_known=intent.is_known,
            is_pattern=intent.is_pattern,
            is_deep=intent.is_deep,
            is_edit=intent.operation is Operation.EDIT,
            is_in_use=bool(kinds) and (self._is_in_use(path, place) or self._loads_its_own(intent, place, kinds)),
            is_whole=self._so_far.is_whole(intent),
            is_emptied=self._so_far.empties(intent),
            program=self._so_far.program,
            exists=exists,
            maker=past.maker,
            is_new=past.is_new,
            is_tracked=tracking.is_tracked or (action is Action.DELETE and self._names_tracked(intent, kinds)),
            is_ignored=tracking.is_ignored,
            is_committed=tracking.is_committed,
            loses_changes=lost.changes,
            loses_files=lost.files,
            trust=past.trust,
            is_download=past.is_download,
            is_sensitive=past.is_sensitive,
            evidence=past.evidence,
            real=real,
            is_folder=state.kind is FileKind.FOLDER,
        )

    def _kinds(self, named: Named) -> frozenset[str]:
        """What a path is by its name and place, and for what it is named here."""
        kinds = kinds_of(named, self._settings)
        if self._incidental.has(named.path, self._so_far.program):
            kinds -= {"credential"}
        if named.path in self._beside and self._so_far.program == "git":
            kinds |= {"worktree"}
        return kinds

    def _orders(self, action: Action, intent: Intent, path: str) -> frozenset[str]:
        """What text that agents read as orders tells them: what is new of what is written, or what is read."""
        if action is Action.WRITE:
            return news(intent, self._reading, self._world, self._told)
        if action in (Action.READ, Action.EXECUTE):
            return told(self._world, path, self._told)
        return frozenset()

    def _told(self, text: str) -> frozenset[str]:
        return order_tags(text, self._reading.home)

    def _brought(self, action: Action, intent: Intent) -> frozenset[str]:
        """What files tell that agents read as orders and that come with a folder or from a revision."""
        found: set[str] = set()
        if action is not Action.WRITE or not intent.is_known:
            return frozenset()
        if self._versions is None:
            self._versions = versions_of(self._reading)
        for path, text in order_files(intent, self._reading, self._world, self._versions):
            if text is None:
                found.add(FETCHED)
            else:
                found |= self._told(text) - self._told(held(self._world.content(path)))
        return frozenset(found)

    def _tags(self, touch: _Touch, kinds: frozenset[str]) -> frozenset[str]:
        action, intent = touch.action, touch.intent
        found: frozenset[str] = frozenset()
        if "orders" in kinds:
            found = self._orders(action, intent, touch.path)
        if action is Action.WRITE and may_run(intent.target):
            found |= news(intent, self._reading, self._world, partial(runs_of, intent.target))
        if action is Action.WRITE and not kinds.isdisjoint(("editor-settings", "editor-task")):
            found |= news(intent, self._reading, self._world, switches_of)
        if action is Action.READ:
            return found | self._credentials(intent, touch.path, touch.state)
        if action is Action.EXECUTE and touch.state.kind is FileKind.FILE:
            return found | run_tags(touch.path, self._world)
        if action is Action.WRITE and intent.content is not None:
            found |= written_tags(intent, self._reading.home)
        if action is Action.WRITE and "source-secrets" in self._settings.packs:
            found |= credentials_written(intent.content, self._world)
        if action is Action.WRITE and is_notebook(intent.target):
            found |= cell_tags(intent, self._reading)
        if action is Action.WRITE:
            return found | self._so_far.data_tags()
        return found

    def _credentials(self, intent: Intent, path: str, state: FileState) -> frozenset[str]:
        """What the content of a file that is read tells. Of many files only the first are opened."""
        if self._opened >= _MOST_OPENED or self._incidental.has(intent.target, self._so_far.program):
            return frozenset()
        if is_exempt(path, self._reading.home, self._settings):
            return frozenset()
        self._opened += 1
        return credentials_in(path, state, self._world)

    def _past(self, path: str) -> Provenance:
        past = self._world.provenance(path)
        if past.maker is not Maker.UNKNOWN:
            return past
        if self._so_far.is_made(path):
            return replace(past, maker=Maker.REQUEST, is_new=True)
        above = self._maker_above(path)
        if above is None:
            return past
        return replace(past, maker=above, is_new=True)

    def _maker_above(self, path: str) -> Maker | None:
        """Who made a folder that a file of unknown past lies in: no one else was there before."""
        for _ in range(_MOST_ABOVE):
            path = posixpath.dirname(path)
            if path in ("/", self._reading.home, self._reading.workspace):
                return None
            if path not in self._makers:
                past = self._world.provenance(path)
                self._makers[path] = past.maker if past.is_new and past.maker in OWN else None
            if self._makers[path] is not None:
                return self._makers[path]
        return None

    def _tracking(self, touch: _Touch, place: Place) -> Tracking:
        """What version control says. Of a folder that takes long: it is asked only where all below it may be lost."""
        is_removal = touch.action is Action.DELETE
        if is_removal and place not in (Place.WORKSPACE, Place.TRUSTED):
            return Tracking()
        is_discard = self._so_far.program == "git" and self._so_far.is_whole(touch.intent)
        is_folder = touch.intent.is_deep or touch.state.kind is FileKind.FOLDER
        if is_folder and not is_removal and not is_discard:
            return Tracking()
        return self._world.tracking(touch.path)

    def _loss(self, action: Action, path: str, tracking: Tracking, past: Provenance) -> Loss:
        def past_of(one: str) -> Provenance:
            if one == path:
                return past
            return self._past(one)

        return loss(path, tracking, past_of, is_removed=action is Action.DELETE)

    def _names_tracked(self, intent: Intent, kinds: frozenset[str]) -> bool:
        """Whether a pattern for the top of the workspace names files that version control has."""
        is_top = bool(kinds & {"workspace-part", "workspace-root"})
        if not intent.is_pattern or not is_top or "build-output" in kinds:
            return False
        return any(self._world.tracking(path).is_tracked for path in self._world.matches(intent.target)[:_MOST_NAMED])

    def _loss_by_pattern(self, pattern: str) -> Loss:
        """What is lost of the files that a pattern may name."""
        folder, last = beginning(pattern)
        if not last or not is_below(folder, (self._reading.workspace or "",)):
            return NOTHING
        real = self._without_links(folder)
        return loss_of(real, self._world.tracking(real), last, self._past)

    def _loads_its_own(self, intent: Intent, place: Place, kinds: frozenset[str]) -> bool:
        """Whether a script of the project that no agent wrote loads the project's own variables: `make run`."""
        if not intent.script or place is not Place.WORKSPACE or "secret" not in kinds:
            return False
        script = self._without_links(intent.script)
        return self._world.tracking(script).is_committed and self._world.provenance(script).maker is Maker.UNKNOWN

    def _is_in_use(self, path: str, place: Place) -> bool:
        if self._in_use is None:
            self._in_use = in_use(self._reading)
            self._loaded = loaded(self._reading) | measured(self._reading)
            self._kept = kept(self._reading)
        if path in self._in_use:
            return True
        return place is Place.WORKSPACE and (path in self._loaded or self._stays_in_project(self._kept.get(path, ())))

    def _stays_in_project(self, copies: tuple[str, ...]) -> bool:
        real = ((copy, self._without_links(copy)) for copy in copies)
        return bool(copies) and all(self._place_of(one) is Place.WORKSPACE for both in real for one in both)

    def _without_links(self, path: str) -> str:
        if path not in self._real:
            self._real[path] = self._world.real(self._so_far.linked(path))
        return self._real[path]

    def _place(self, named: Named) -> Place:
        """Where a path lies. It counts as inside of a folder only if the file that it leads to does as well."""
        if not named.path.startswith("/"):
            return Place.UNKNOWN
        return max((self._place_of(path) for path in {named.path, named.real}), key=_ORDER.index)

    def _place_of(self, path: str) -> Place:
        workspace, home = self._reading.workspace, self._reading.home
        trusted = tuple(home + text[1:] if text[:1] == "~" else text for text in self._settings.trusted)
        if workspace is not None and is_below(path, (workspace, self._without_links(workspace))):
            return Place.WORKSPACE
        if is_below(path, trusted):
            return Place.TRUSTED
        is_at_home = is_below(path, (home,))
        if is_below(path, self._own_temporary if is_at_home else self._temporary) or is_temporary(path, home):
            return Place.TEMPORARY
        # Where it is not told in which folder the agent works, it is not known what lies outside of that.
        if workspace is None:
            return Place.UNKNOWN
        if self._is_in_tree(path, workspace):
            return Place.WORKSPACE
        return Place.HOME if is_at_home else Place.OUTSIDE

    def _is_in_tree(self, path: str, workspace: str) -> bool:
        """Whether a path lies in another working tree of the repository that the agent works in."""
        top = self._world.repository(path)
        if top not in self._trees:
            self._trees[top] = top is not None and is_tree_of(top, self._without_links(workspace), self._world)
        return self._trees[top]


_ORDER = tuple(Place)


def is_below(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a path is one of some folders, or lies in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
