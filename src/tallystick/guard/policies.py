"""Which policies are in force: shipped ones, those of plugins, of the user, and of the repository that is worked in.

Owns where their texts are, which profile has which, that a file that cannot be used leaves the last good set in force, and
what `config.toml` says of policy. Must not know what a policy says.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TypeAlias

import msgspec

from tallystick.errors import PolicyError, TallystickError
from tallystick.guard.checked_policies import kept, stamp_of
from tallystick.guard.policy_change import Change
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.model.decision import Effect
from tallystick.policy.cedar.engine import PolicySet, load
from tallystick.policy.cedar.parsing import Checked, checked_in
from tallystick.policy.detector import Detector
from tallystick.policy.settings import Limits, OutsideWrites, Profile, Settings
from tallystick.workspace.entry_points import entry_points
from tallystick.workspace.settings import read_settings

_UNATTENDED = ("CI", "TALLY_NONINTERACTIVE")
"""Variables with which programs are told that no one is there."""


def read_policy_settings(home: Home, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force.

    Args: environment: variables that may say that no one is there to be asked.

    Raises: FormatError: the file is not TOML, or a key has a value that it cannot have.
    """
    found = {item.setting.key.removeprefix("policy."): item.value for item in read_settings(home)[0]}

    def texts(key: str) -> tuple[str, ...]:
        value = found[key]
        if isinstance(value, tuple):
            return value
        return ()

    return Settings(
        profile=Profile(str(found["profile"])),
        write_outside_workspace=OutsideWrites(str(found["write_outside_workspace"])),
        is_interactive=_is_interactive(str(found["interactive"]), environment or {}),
        sensitive=texts("sensitive"),
        not_sensitive=texts("not_sensitive"),
        trusted=texts("trusted"),
        hosts=texts("hosts"),
        packs=texts("packs"),
        registries=texts("registries"),
        keep_megabytes=int(str(found["keep_megabytes"])),
        answers_allow=found["answer_allow"] == "on",
        limits=Limits(**{name: int(str(found[f"limits.{name}"])) for name in Limits.__struct_fields__}),
    )


def _is_interactive(said: str, environment: Mapping[str, str]) -> bool:
    if said != "auto":
        return said == "yes"
    return not any(environment.get(name, "").lower() in ("1", "true", "yes") for name in _UNATTENDED)


_LOG = logging.getLogger(__name__)
_GROUP = "tallystick.policies"
_SCHEMA = "tallystick.cedarschema"
_BASE = "base.cedar"
_STRICT = (Profile.STRICT, Profile.DEFAULT_DENY)
_LOOK_SECONDS = 1.0
_MOST_REPOSITORIES = 64
_MOST_BYTES = 1 << 20
"""Of one file of policies."""
Texts: TypeAlias = tuple[tuple[str, str], ...]
"""Names, which messages use, and texts."""
_State: TypeAlias = tuple[tuple[str, int, int], ...]


# Texts ---------------------------------------------------------------------------------------------------------------


def schema() -> str:
    """The schema that every policy must fit."""
    return _shipped(_SCHEMA)[0][1]


@cache
def shipped_policies(profile: Profile) -> Texts:
    """The policies that a profile has."""
    files = _shipped("*.cedar")
    if profile is Profile.DEFAULT_DENY:
        files = tuple(file for file in files if file[0] != _BASE)
    if profile in _STRICT:
        return (*files, *_shipped("strict/*.cedar"))
    return files


@cache
def _shipped(pattern: str) -> Texts:
    with resources.as_file(resources.files("tallystick.policy") / "shipped") as folder:
        files = sorted(folder.glob(pattern))
        return tuple((file.relative_to(folder).as_posix(), file.read_text("utf-8")) for file in files)


def policies_below(folder: Path) -> Texts:
    """The policies in a folder, by name.

    Raises:
        PolicyError: a file cannot be read, or is larger than 1 MiB.
    """
    return tuple((str(path), read_policy_file(path)) for path in sorted(folder.glob("*.cedar")))


def read_policy_file(path: Path) -> str:
    """The text of one file. Raises PolicyError: it cannot be read, or is larger than 1 MiB."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: it is not UTF-8 text: {error}") from error
    if len(data) > _MOST_BYTES:
        raise PolicyError(f"{path}: it is larger than {_MOST_BYTES:,} bytes")
    return text


@cache
def detectors() -> tuple[Detector, ...]:
    """The detectors that plugins bring. One that cannot be loaded is left out, and said so in the log."""
    found: list[Detector] = []
    for point in entry_points(_GROUP):
        try:
            loaded = point.load()
            made: Detector
            if isinstance(loaded, type):
                made = loaded()
            else:
                made = loaded
            _loaded((*shipped_policies(Profile.STANDARD), *_of_detector(made)), schema())
            found.append(made)
        except Exception:
            _LOG.exception("the plugin %s of %s cannot be used", point.name, _GROUP)
    return tuple(found)


def _of_detector(detector: Detector) -> Texts:
    return tuple((f"{detector.name}: {name}", text) for name, text in detector.policies)


def packs(names: Iterable[str]) -> Texts:
    """The policies of packs. One that there is not is left out: `config set` refuses its name."""
    wanted = {f"packs/{name}.cedar" for name in names}
    return tuple(file for file in _shipped("packs/*.cedar") if file[0] in wanted)


def load_set(profile: Profile, *more: Texts) -> PolicySet:
    """A profile's set with plugins' policies and further texts. Raises PolicyError: one of them cannot be used."""
    plugins = tuple(text for detector in detectors() for text in _of_detector(detector))
    return _loaded((*shipped_policies(profile), *plugins, *(text for texts in more for text in texts)), schema())


@lru_cache(maxsize=64)
def _loaded(files: Texts, schema: str) -> PolicySet:
    """A set, loaded once: it is the same for every store that has the same texts."""
    return load(files, schema, _checked(schema))


@cache
def _checked(schema: str) -> Mapping[str, Checked]:
    """What the engine says of the shipped policies."""
    shipped = tuple(file for folder in ("", "strict/", "packs/") for file in _shipped(f"{folder}*.cedar"))
    stamp = stamp_of((schema, *(part for file in shipped for part in file)))
    return kept(stamp, lambda: checked_in(shipped, schema))


def user_folder(home: Home) -> Path:
    """Where the user's policies are."""
    return home.folder / "policy"


def repository_folder(root: str) -> Path:
    """Where a repository's policies are."""
    return Path(root, ".tally", "policy")


# What is in force ----------------------------------------------------------------------------------------------------


class Policies:
    """The policies in force for one store. Files are looked at again once a second at most. Safe for several threads."""

    def __init__(
        self,
        home: Home,
        *,
        environment: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Load what is in force.

        Args: environment: variables that may say that no one is there to be asked. settings: by default those of the
        store, read again when its file changes.
        """
        self._home = home
        self._environment = environment
        self._fixed = settings
        self._monotonic = monotonic
        self._looked_at = float("-inf")
        self._state: _State | None = None
        self._repositories: OrderedDict[str, tuple[float, _State, PolicySet, str | None]] = OrderedDict()
        self.changed: Callable[[Change], None] | None = None
        """Is told when another set comes into force. What was last told is kept beside the store's other state."""
        self.error: str | None = None
        """Why the user's files cannot be used; None if they can."""
        self.settings = settings or Settings()
        self.own: Texts = ()
        """The user's policies in force."""
        self.current: PolicySet
        """The set in force where no repository adds to it."""
        self.look()

    def in_force(self, root: str | None) -> PolicySet:
        """The set for calls in a repository; None: in none."""
        self.look()
        if root is None or repository_folder(root) == user_folder(self._home):
            return self.current
        now = self._monotonic()
        known = self._repositories.get(root)
        if known is not None and now - known[0] < _LOOK_SECONDS:
            return known[2]
        state = (*(self._state or ()), *_state(repository_folder(root)))
        if known is None or state != known[1]:
            found, error = self._with_repository(root)
        else:
            found, error = known[2:]
        self._repositories[root] = (now, state, found, error)
        self._repositories.move_to_end(root)
        while len(self._repositories) > _MOST_REPOSITORIES:
            self._repositories.popitem(last=False)
        return found

    def error_in(self, root: str | None) -> str | None:
        """Why a repository's files cannot be used, or the user's."""
        known = None
        if root is not None:
            known = self._repositories.get(root)
        return self.error or (known[3] if known is not None else None)

    def look(self) -> None:
        """Load again what has changed; looked for once a second at most."""
        now = self._monotonic()
        if now - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = now
        state = (*_state(self._home.config), *_state(user_folder(self._home)))
        if state != self._state:
            self._state = state
            self._load()

    def _load(self) -> None:
        before = self._kept()
        self.error = None
        try:
            self.settings = self._fixed or read_policy_settings(self._home, self._environment)
        except TallystickError as error:  # the settings in force stay
            self.error = str(error)
        try:
            own = policies_below(user_folder(self._home))
            self.current = load_set(self.settings.profile, packs(self.settings.packs), own)
            self.own = own
        except PolicyError as error:
            self.error = str(error)
            self.own = self._last_good(before)
            self.current = load_set(self.settings.profile, packs(self.settings.packs), self.own)
        self._tell(before)

    def _last_good(self, kept: _Kept | None) -> Texts:
        """The user's texts that were in force before; the newest that can be used."""
        for texts in (self.own, kept.texts if kept is not None else ()):
            try:
                load_set(self.settings.profile, texts)
            except PolicyError:
                continue
            if texts:
                return texts
        return ()

    def _with_repository(self, root: str) -> tuple[PolicySet, str | None]:
        folder = repository_folder(root)
        try:
            texts = policies_below(folder)
            if not texts:
                return self.current, None
            found = load_set(self.settings.profile, packs(self.settings.packs), self.own, texts)
            names = {name for name, _ in texts}
            permit = next((rule for rule in found.rules if rule.file in names and rule.effect is Effect.ALLOW), None)
            if permit is not None:
                raise PolicyError(
                    f"{permit.file}, the policy on line {permit.line}: a repository's policies cannot permit",
                    hint="put it into the store's policy folder, if it is yours",
                )
        except PolicyError as error:
            known = self._repositories.get(root)
            return (known[2] if known is not None else self.current), str(error)
        return found, None

    # What was reported
    # --------------------------------------------------------------------------------------------------

    @property
    def _file(self) -> Path:
        return self._home.folder / "run" / "policies.json"

    def _kept(self) -> _Kept | None:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Kept)
        except (OSError, msgspec.DecodeError):
            return None

    def _tell(self, before: _Kept | None) -> None:
        """Say that another set is in force, if someone listens, and remember it."""
        if self.changed is None or not self._home.folder.exists():
            return
        now = _Kept(digest=self.current.digest, error=self.error, texts=self.own)
        if before == now:
            return
        if before is None and not now.texts and now.error is None:  # as it is shipped: no one has changed anything
            self._keep(now)
            return
        self.changed(
            Change(
                digest=now.digest,
                before=before.digest if before is not None else None,
                profile=self.settings.profile,
                rules=len(self.current.rules),
                files=tuple((name, sha256(text.encode()).hexdigest()) for name, text in self.own),
                error=self.error,
            )
        )
        self._keep(now)

    def _keep(self, now: _Kept) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._file, [msgspec.json.encode(now)])
        except (OSError, TallystickError):
            _LOG.exception("what policies are in force could not be remembered")

    def listen(self, changed: Callable[[Change], None]) -> None:
        """Have changes told from now on; one that came while no one listened is reported at once."""
        self.changed = changed
        self._tell(self._kept())


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What was last in force."""

    digest: str
    error: str | None = None
    texts: Texts = ()


def _state(place: Path) -> _State:
    """A file, or a folder's policies, unchanged: name, time of change and size of each."""
    return tuple(_states([place] if place.suffix == ".toml" else _files(place)))


def _files(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.glob("*.cedar"))
    except OSError:
        return ()


def _states(paths: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            continue
        yield str(path), found.st_mtime_ns, found.st_size
