"""Other rights than the user gave: another account, set-id bits, containers that hold the machine, roles in clouds.

Owns who gives rights, by which words of a command or by which members of a tool's arguments. Sandboxes that take rights
away are work, and so is asking who one is. Sources: the manual pages of sudo, doas, polkit, util-linux, shadow, libcap;
docker-run(1), kubectl's reference; AWS IAM, Google Cloud and Azure references; the API of Docker Engine (HostConfig),
the MCP servers for Docker and Podman; specs/gensee.md 5.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import Snippet
from tallystick.intent.programs.arguments import names
from tallystick.intent.tools.arguments import plain_name
from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.quoted_text import without_talk
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_TOOL = pattern_of(r"docker|podman|container|nerdctl|kubernetes|k8s|\bpod\b", re.IGNORECASE)
_SHARED = frozenset(
    ("pid", "pidmode", "ipc", "ipcmode", "uts", "utsmode", "userns", "usernsmode", "hostpid", "hostipc")
)
_MOUNTS = frozenset(("volumes", "volume", "binds", "bind", "mounts", "mount", "source", "src", "hostpath"))
_MOST = 200
_MOST_NESTED = 6


def machine_asked_for(call: Call, is_of_machine: Callable[[str], bool]) -> str | None:
    """What a call of such a tool asks for of the machine, as `name: value`; None: nothing."""
    if _TOOL.search(call.tool[:200]) is None:
        return None
    for n, (name, value) in enumerate(_members(call.args, "", 0)):
        if n >= _MOST:
            return None
        said = value
        if isinstance(value, str):
            said = value.lower()
        is_yes = said is True or said == "true"
        is_shared = name in _SHARED and (is_yes or said == "host")
        is_mount = name in _MOUNTS and isinstance(value, str) and is_of_machine(value.partition(":")[0])
        if (name == "privileged" and is_yes) or is_shared or is_mount:
            return f"{name}: {value}"[:200]
    return None


def _members(value: Json, name: str, depth: int) -> Iterator[tuple[str, Json]]:
    """Every plain value with the name that it stands under; the names of what is mounted stand for paths as well."""
    if depth > _MOST_NESTED:
        return
    if isinstance(value, dict):
        for key, item in list(value.items())[:_MOST]:
            if name in _MOUNTS:
                yield name, str(key)
            yield from _members(item, plain_name(str(key)), depth + 1)
    elif isinstance(value, list):
        for item in value[:_MOST]:
            yield from _members(item, name, depth + 1)
    else:
        yield name, value


RISKS = {
    "elevates": "It runs with the rights of another account.",
    "gives-rights": "A program or account is given rights that last: set-id bits, capabilities, groups, roles.",
    "leaves-container": "A container is started that holds the machine around it, or a process enters another's world.",
}
_ELEVATING = programs_with("elevates")
_ASKING = names("--version -V --help -h -l --list -ll -k --remove-timestamp -K --reset-timestamp")
_WITH_RIGHTS = pattern_of(
    r"\bwith administrator privileges\b|\bAuthorizationExecuteWithPrivileges\b|-Verb\s{1,5}[\"']?RunAs", re.I
)
_SET_ID = pattern_of(r"(?:[ugoa]*[-+=][rwxXstugo]*,)*[ugoa]*[+=][rwxXt]*s[rwxXst]*(?:,\S*)?", re.ASCII)
_BECOMES_ROOT = pattern_of(
    r"\bsete?(?:res|re)?uid\s{0,3}\(\s{0,3}0\b|Process::(?:Sys|UID)\.\w{0,20}uid\w{0,9}\s{0,3}\(?\s{0,3}0\b"
)
_CODE_SET_ID = pattern_of(r"\bchmod(?:Sync)?\b[^\n;]{0,120}?\b0?o?[2467]\d{3}\b|\bS_IS[UG]ID\b")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What rights a call takes or gives, of RISKS."""
    for started in programs(reading):
        word = _of_program(started)
        if word is not None:
            yield Risk(word, started.spelled)
    yield from _of_untold(reading)
    if (asked := machine_asked_for(reading.call, _is_of_machine)) is not None:
        yield Risk("leaves-container", asked)
    for snippet in reading.snippets:
        yield from _of_code(snippet)
    for intent in reading.effects.intents:
        if intent.domain is Domain.FILE and intent.target.startswith(("/etc/", "/private/etc/")):
            place = intent.target.removeprefix("/private")
            is_change = intent.operation not in _HARMLESS
            if is_change and (place in _ACCOUNTS or place.startswith(_ACCOUNT_FOLDERS)):
                yield Risk("gives-rights", intent.target[:200])


def _of_untold(reading: CallReading) -> Iterator[Risk]:
    """`$(which sudo) id`: what the program's name was made from."""
    for script in reading.scripts:
        for command in script.commands:
            if command.words and not command.words[0].is_known:
                said = {word.rpartition("/")[2] for word in command.words[0].hidden[:400].replace(")", " ").split()}
                if said & _ELEVATING:
                    yield Risk("elevates", command.words[0].hidden[:200])


def _of_program(started: Started) -> str | None:
    if started.name in _ELEVATING:
        if _ASKING.intersection(started.words[:1]):
            return None
        return "elevates"
    return _FORMS.of(started)


def _of_code(snippet: Snippet) -> Iterator[Risk]:
    if snippet.language == "powershell":
        text = without_talk(snippet.text)
    else:
        text = snippet.text
    asks = ("rivileg" in text or "RunAs" in text) and _WITH_RIGHTS.search(text)
    if asks or ("uid" in text and _BECOMES_ROOT.search(text)):
        yield Risk("elevates", f"{snippet.language}: {text[:150]}")
    elif ("chmod" in text or "S_IS" in text) and _CODE_SET_ID.search(text):
        yield Risk("gives-rights", f"{snippet.language}: {text[:150]}")


_HARMLESS = frozenset((Operation.READ, Operation.LIST, Operation.COPY_SOURCE, Operation.FOLDER, Operation.EXECUTE))
_ACCOUNTS = names(
    "/etc/sudoers /etc/doas.conf /etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/master.passwd /etc/subuid /etc/subgid "
    "/etc/security/access.conf /etc/security/limits.conf /etc/login.defs /etc/ld.so.preload"
)
_ACCOUNT_FOLDERS = ("/etc/sudoers.d", "/etc/pam.d", "/etc/polkit-1", "/etc/security/", "/etc/sudo.conf")

# Files and accounts --------------------------------------------------------------------------------------------------


def _set_id(started: Started, *options: str) -> bool:
    """A mode, among the words or as an option's value, with the bits that make a program run as its owner or group."""
    if options:
        mode = started.value(*options)
        return (len(mode) >= 4 and _has_set_id(mode)) or _SET_ID.fullmatch(mode) is not None
    return any(
        _SET_ID.fullmatch(word) or (word.isdecimal() and len(word) in (4, 5) and _has_set_id(word))
        for word in started.words
    )


def _has_set_id(mode: str) -> bool:
    return len(mode) >= 4 and mode[-4] in "234567"


def _root_here(started: Started) -> bool:
    """A login as root at the machine itself."""
    for word in started.operands[:3]:
        user, _, host = word.rpartition("@")
        is_root = user == "root" or started.value("-l") == "root"
        if is_root and host in ("localhost", "127.0.0.1", "::1", "0.0.0.0"):
            return True
    return False


# Containers ----------------------------------------------------------------------------------------------------------

_STRONG = names(
    "all sys_admin sys_module sys_rawio sys_boot dac_read_search dac_override bpf net_admin mac_admin mac_override syslog"
)
_MACHINE_FOLDERS = names(
    "/ /etc /root /home /Users /proc /sys /dev /boot /var /usr /lib /bin /sbin /var/run /run /var/lib "
    "/var/lib/docker /var/lib/kubelet "
    "/var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock "
    "/var/run/crio/crio.sock /private /private/etc "
    "/mnt /media /opt /run/systemd /sys/fs/cgroup /etc/kubernetes"
)


def _holds_machine(started: Started) -> bool:
    words = started.words
    if not {"run", "create", "exec", "build", "update", "launch", "plugin"}.intersection(started.operands[:3]):
        return False
    if {"--privileged", "--privileged=true", "--grant-all-permissions"}.intersection(words):
        return True
    for n, word in enumerate(words):
        option, equals, value = word.partition("=")
        if equals:
            given = value
        elif n + 1 < len(words):
            given = words[n + 1]
        else:
            given = ""
        holds = _HOLDS.get(option)
        if holds is not None and holds(given):
            return True
    return False


def _is_strong(value: str) -> bool:
    return bool({part.lower().removeprefix("cap_") for part in value.split(",")} & _STRONG)


def _is_unconfined(value: str) -> bool:
    return "unconfined" in value or value.startswith(("label=disable", "label:disable"))


def _is_host(value: str) -> bool:
    return value == "host"


def _is_mount(value: str) -> bool:
    parts = [part.partition("=") for part in value.split(",")[:16]]
    return any(key in ("source", "src") and _is_of_machine(path) for key, _, path in parts)


_HOLDS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(("--pid", "--ipc", "--uts", "--userns", "--cgroupns"), _is_host),
    "--cap-add": _is_strong,
    "--security-opt": _is_unconfined,
    **dict.fromkeys(("-v", "--volume"), lambda value: ":" in value and _is_of_machine(value.partition(":")[0])),
    "--mount": _is_mount,
    "--device": lambda value: re.match(r"/dev/(?:sd|nvme|vd|hd|mem|kmem|port|disk|mapper|dm-)", value) is not None,
}
"""Options of a container, and when what they are given holds the machine."""


def _is_of_machine(path: str) -> bool:
    folder = path.rstrip("/") or path[:1]
    is_home = re.fullmatch(r"(?:/home|/Users)/[^/]+", folder) is not None
    return folder in _MACHINE_FOLDERS or is_home


def _mounts_machine(started: Started) -> bool:
    return any(word.startswith("source=") and _is_of_machine(word[7:]) for word in started.words)


_FORMS = Forms("privilege", _holds_machine, _mounts_machine, _root_here, _set_id)
