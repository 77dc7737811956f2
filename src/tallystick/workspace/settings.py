"""Settings: what can be set, what is set, and changing it in `config.toml`.

Owns the one table of keys with their defaults and meanings, and that comments in the file survive a change. Must not
know what a setting does: anyone who obeys it reads it here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from tallystick.errors import FormatError, JournalError, UsageError
from tallystick.journal.home import Home
from tallystick.journal.opening import read_whole
from tallystick.model.did_you_mean import nearest

Value: TypeAlias = str | int | tuple[str, ...]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A key: its default, what it may be set to, and what it does.

    Where the default is a list, it is set to several texts; else to one of `choices`, without those to a whole
    number from `least` on.
    """

    key: str
    default: Value
    choices: tuple[str, ...] = ()
    least: int = 1
    are_paths: bool = False
    """Of a list: each begins with `/` or `~/`. Anything else would silently match nothing."""
    does: str

    @property
    def is_list(self) -> bool:
        """Whether its value is several texts."""
        return isinstance(self.default, tuple)

    @property
    def takes(self) -> str:
        """What it may be set to, in words."""
        if self.is_list:
            if self.choices:
                return f"some of {', '.join(self.choices)}, separated by commas"
            return f"{'paths that begin with / or ~/' if self.are_paths else 'texts'}, separated by commas"
        if self.choices:
            return " or ".join(self.choices)
        return f"a whole number from {self.least} on"


PACKS = ("dns", "hooks", "new-remotes", "releases", "source-secrets", "volumes")
"""Rules that projects switch on."""
SETTINGS = (
    Setting(
        key="anchors.every_minutes",
        default=60,
        does="How often a place off this machine gets the newest head, once `tally anchor` has set one up.",
    ),
    Setting(
        key="anchors.too_old_hours",
        default=168,
        does="After how many hours without a new head at such a place an alarm is raised.",
    ),
    Setting(
        key="checkpoints.auto_on_policy",
        default="on",
        choices=("on", "off"),
        does="Whether a call that was questioned or refused gets a checkpoint.",
    ),
    Setting(
        key="checkpoints.auto_on_step_complete",
        default="on",
        choices=("on", "off"),
        does="Whether a step that passed a check gets a checkpoint: a reconciled phase, the end of a goal.",
    ),
    Setting(
        key="checkpoints.enabled", default="on", choices=("on", "off"), does="Whether checkpoints are created at all."
    ),
    Setting(
        key="checkpoints.max_per_session",
        default=100,
        least=0,
        does="How many checkpoints a session may have, not counting the one at its start; 0: any number.",
    ),
    Setting(
        key="checkpoints.retention_days",
        default=30,
        least=0,
        does="After how many days the content of a checkpoint is deleted, so that only its position stays; 0: never.",
    ),
    Setting(
        key="checkpoints.when_full",
        default="roll",
        choices=("roll", "refuse"),
        does="What happens when a session has reached its limit of checkpoints: the new one replaces the oldest "
        "automatic one, or is refused.",
    ),
    Setting(
        key="hooks.on_error",
        default="ask",
        choices=("ask", "deny", "allow"),
        does="The answer to a call with effects when no decision was made in time; `ask` refuses where no person can "
        "be asked.",
    ),
    Setting(
        key="hooks.unheard",
        default="on",
        choices=("on", "off"),
        does="Whether an alert is raised when an agent with our hooks works in a session of which none speaks. `off` where "
        "its files also come from other machines.",
    ),
    Setting(
        key="journal.fsync",
        default="batch",
        choices=("batch", "always"),
        does="When a recorded step survives a power failure: at most 100 ms later, or before the recording call "
        "returns.",
    ),
    Setting(
        key="output.limit", default=50, does="How many rows `log`, `search` and `session list` show without --limit."
    ),
    Setting(
        key="output.pager",
        default="auto",
        choices=("auto", "never"),
        does="Whether text that does not fit on the terminal goes through $PAGER.",
    ),
    Setting(
        key="policy.profile",
        default="standard",
        choices=("observe", "standard", "strict", "default-deny"),
        does="How much is refused: nothing (`observe` only records the decision), dangerous calls, more than that, or "
        "everything that no policy of yours permits.",
    ),
    Setting(
        key="policy.write_outside_workspace",
        default="ask",
        choices=("ask", "deny"),
        does="The answer to an agent that would write outside the folder it works in.",
    ),
    Setting(
        key="policy.interactive",
        default="auto",
        choices=("auto", "yes", "no"),
        does="Whether a person can be asked. `no`: a question becomes a denial. `auto`: as the agent reports, else "
        "yes.",
    ),
    Setting(
        key="policy.keep_megabytes",
        default=100,
        least=0,
        does="How much is kept aside of what calls remove that were asked about, for `tally policy restore`; the oldest goes "
        "first. 0: nothing is kept.",
    ),
    Setting(
        key="policy.answer_allow",
        default="off",
        choices=("on", "off"),
        does="Whether calls that are known to be harmless are answered with *allow*, so that the agent does not ask about "
        "them either.",
    ),
    Setting(
        key="policy.sensitive",
        default=(),
        are_paths=True,
        does="Paths that hold secrets, in addition to the known ones: ~/finance, /srv/keys.",
    ),
    Setting(
        key="policy.not_sensitive", default=(), are_paths=True, does="Paths that hold no secrets, whatever their names."
    ),
    Setting(
        key="policy.trusted",
        default=(),
        are_paths=True,
        does="Folders that agents may write to like the one they work in.",
    ),
    Setting(
        key="policy.hosts",
        default=(),
        does="Hosts that data may be sent to, including their subdomains. Empty: any host, unless the data is "
        "sensitive.",
    ),
    Setting(
        key="policy.packs",
        default=(),
        choices=PACKS,
        does=f"Rules that are off by default, to be switched on: {', '.join(PACKS)}.",
    ),
    Setting(key="policy.registries", default=(), does="Package registries in addition to the public ones."),
    *(
        Setting(key=f"policy.limits.{name}", default=default, does=f"A warning is given above this limit: {meaning}.")
        for name, default, meaning in (
            ("read_bytes", 10 << 20, "bytes of a file that is read"),
            ("write_bytes", 10 << 20, "bytes that are written"),
            ("files_in_call", 50, "files that one call uses"),
            ("commands_in_call", 25, "commands in one call"),
            ("calls_in_session", 500, "calls of one session"),
            ("network_calls_in_session", 100, "calls of one session that reach the network"),
            ("file_calls_a_minute", 120, "calls within a minute that use files"),
            ("network_calls_a_minute", 30, "calls within a minute that reach the network"),
        )
    ),
    Setting(
        key="secrets.scrub",
        default="on",
        choices=("on", "off"),
        does="Whether secrets are replaced before a step is sealed.",
    ),
    Setting(
        key="service.http",
        default="on",
        choices=("on", "off"),
        does="Whether the recorder also listens on a loopback port, for HTTP hooks and OTLP; `run/http.json` has the "
        "port.",
    ),
    Setting(
        key="service.idle_minutes",
        default=15,
        does="After how many minutes without a delivery the recorder stops; the next hook starts it again.",
    ),
)
_BY_KEY = {setting.key: setting for setting in SETTINGS}


class Set(msgspec.Struct, frozen=True):
    """A setting as it is in force: its value, and whether the file says so or it is the default."""

    setting: Setting
    value: Value
    is_default: bool


def read_setting(home: Home, key: str) -> Value:
    """The value in force of a key of the table. Raises what `read_settings` raises."""
    return _in_force(_BY_KEY[key], _read(home.config)).value


def read_settings(home: Home) -> tuple[list[Set], list[str]]:
    """All settings in the order of the table, and keys in the file that nothing reads.

    Raises: FormatError: the file is not TOML, or a key has a value that it cannot have.
    """
    found = _read(home.config)
    return [_in_force(setting, found) for setting in SETTINGS], sorted(found.keys() - _BY_KEY.keys())


def standing_value(home: Home, key: str) -> Value:
    """The value of one key; where the file has one that it cannot have, that as text.

    Raises: UsageError: no such key. FormatError: the file is not TOML.
    """
    setting, found = known_setting(key), _read(home.config)
    try:
        return _in_force(setting, found).value
    except FormatError:
        return str(found[key])


def known_setting(key: str) -> Setting:
    """The setting with that key.

    Raises: UsageError: none exists; the message has the nearest keys.
    """
    if key.rpartition(".")[2] == "session_isolation":
        raise UsageError(
            f"{key} is not a Tallystick setting: the definition of each sub-agent has it",
            hint="write `session_isolation: true` in the front matter of agents/NAME/AGENT.md",
        )
    if key not in _BY_KEY:
        raise UsageError(f"no setting {key!r}{nearest(key, _BY_KEY)}", hint="`tally config show` lists them")
    return _BY_KEY[key]


def _in_force(setting: Setting, found: dict[str, Any]) -> Set:
    if setting.key not in found:
        return Set(setting, setting.default, is_default=True)
    value = found[setting.key]
    if isinstance(value, list):
        value = tuple(value)
    if _is_switch(setting, value):
        value = _SWITCHED.get(value, value)
    if not _fits(setting, value):
        raise FormatError(
            f"config.toml: {setting.key} = {value!r} must be {setting.takes}", hint="`tally config set` checks"
        )
    return Set(setting, value, is_default=False)


_SWITCHED = {True: "on", False: "off", "true": "on", "false": "off"}
"""How a file, and people, say `on` and `off` otherwise."""


def _is_switch(setting: Setting, value: Any) -> bool:
    return setting.choices == ("on", "off") and isinstance(value, bool | str)


def _fits(setting: Setting, value: Any) -> bool:
    if setting.is_list:
        texts = isinstance(value, tuple) and all(isinstance(text, str) and text.strip() for text in value)
        texts = texts and (not setting.choices or set(value) <= set(setting.choices))
        return texts and (not setting.are_paths or all(text == "~" or text.startswith(("/", "~/")) for text in value))
    if setting.choices:
        return value in setting.choices
    return type(value) is int and value >= setting.least


def _read(path: Path) -> dict[str, Any]:
    """The file's values by dotted key. No file: none."""
    text = _bytes(path)
    if text is None:
        return {}
    import tomllib

    try:
        document = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(
            f"{path}: {error}", hint="fix the file, or move it away: all settings have defaults"
        ) from error
    return dict(_flat(document))


def _bytes(path: Path) -> bytes | None:
    """What is in the file; None: there is no file."""
    try:
        return read_whole(path)
    except FileNotFoundError:
        return None
    except JournalError as error:
        raise FormatError(str(error), hint=error.hint) from error


def _flat(table: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += _flat(value, f"{before}{key}.")
        else:
            found.append((f"{before}{key}", value))
    return found


# Changing ------------------------------------------------------------------------------------------------------------


def set_setting(home: Home, key: str, text: str) -> Set:
    """Set a key to what a person typed.

    Raises: UsageError: no such key, or it cannot have that value. FormatError: the file is not TOML. JournalError: it
    cannot be written.
    """
    setting = known_setting(key)
    value = _typed(setting, text)
    if not _fits(setting, value):
        raise UsageError(f"{key} cannot be set to {text!r}", hint=f"it must be {setting.takes}")
    document = _document(home)
    table, name = _place(document, key, make=True)
    table[name] = list(value) if isinstance(value, tuple) else value
    _write(home, document)
    return Set(setting, value, is_default=False)


def _typed(setting: Setting, text: str) -> Value:
    """What a person typed, as a value. Whether it is one that the setting can have is not looked at."""
    if setting.is_list:
        if text.strip():
            return tuple(part.strip() for part in text.split(","))
        return ()
    if _is_switch(setting, text):
        return _SWITCHED.get(text.lower(), text)
    is_number = not setting.choices and text.isascii() and text.isdigit() and len(text) < 12
    if is_number:
        return int(text)
    return text


def unset_setting(home: Home, key: str) -> Set:
    """Take a key out of the file, so that its default is in force. Raises what `set_setting` raises."""
    setting = known_setting(key)
    document = _document(home)
    table, name = _place(document, key, make=False)
    if name in table:
        del table[name]
        _write(home, document)
    return Set(setting, setting.default, is_default=True)


def _document(home: Home) -> Any:
    import tomlkit

    _read(home.config)
    return tomlkit.parse((_bytes(home.config) or b"").decode("utf-8"))


def _place(document: Any, key: str, *, make: bool) -> tuple[Any, str]:
    """The table that holds a key, and the key's name in it."""
    import tomlkit

    table = document
    *sections, name = key.split(".")
    for section in sections:
        if section not in table:
            if not make:
                return {}, name
            table[section] = tomlkit.table()
        table = table[section]
        if not isinstance(table, dict):
            raise FormatError(f"config.toml: {section} is not a table", hint="fix the file, or move it away")
    return table, name


def _write(home: Home, document: Any) -> None:
    import tomlkit

    from tallystick.journal.durable import replace_file

    home.make_folder(home.folder)
    replace_file(home.config, [tomlkit.dumps(document).encode()])
