"""Other rights than the user gave: another account, set-id bits, containers that hold the machine, roles in clouds.

Owns who gives rights, by which words of a command or by which members of a tool's arguments. Sandboxes that take rights
away are work, and so is asking who one is. Sources: the manual pages of sudo, doas, polkit, util-linux, shadow, libcap;
docker-run(1), kubectl's reference; AWS IAM, Google Cloud and Azure references; the API of Docker Engine (HostConfig),
the MCP servers for Docker and Podman; specs/gensee.md 5.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tallystick.catalog.programs import RiskRule, programs_with
from tallystick.intent.actions import Snippet
from tallystick.intent.programs.arguments import names
from tallystick.intent.tools.arguments import plain_name
from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.entries import Rule, rules_of
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
_ENTERING = programs_with("enters-namespace")
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
    rule = _RULES.get(started.name)
    if rule is None:
        return None
    return rule(started)


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


def _chmod(started: Started) -> str | None:
    """A mode with the bits that make a program run as its owner or group."""
    for word in started.words:
        if _SET_ID.fullmatch(word) or (word.isdecimal() and len(word) in (4, 5) and _has_set_id(word)):
            return "gives-rights"
    return None


def _has_set_id(mode: str) -> bool:
    return len(mode) >= 4 and mode[-4] in "234567"


def _install(started: Started) -> str | None:
    mode = started.value("-m", "--mode")
    if (len(mode) >= 4 and _has_set_id(mode)) or _SET_ID.fullmatch(mode):
        return "gives-rights"
    return None


def _chown(started: Started) -> str | None:
    """Files are given to root; to the user's own id is work."""
    owner = next(iter(started.operands), "")
    if re.fullmatch(r"(?:root|0)(?:[:.]\S*)?", owner):
        return "gives-rights"
    return None


def _ever(test: RiskRule) -> Rule:
    def rule(started: Started) -> str | None:
        is_asking = not {"--help", "--version", "-h", "-V", "-S", "--status", "-l", "--list"}.isdisjoint(
            started.words[:2]
        )
        if is_asking:
            return None
        return test.risk

    return rule


def _chattr(started: Started) -> str | None:
    flags = [word for word in started.words if word[:1] in "+-=" and len(word) < 12]
    if any("i" in flag or "a" in flag for flag in flags if flag not in ("-R", "-V", "-f")):
        return "gives-rights"
    return None


def _when(test: RiskRule) -> Rule:
    """If all of some words are there, in any place."""
    needed = test.words.split()

    def rule(started: Started) -> str | None:
        said = {given.lower() for given in started.words}
        if said.issuperset(needed):
            return test.risk
        return None

    return rule


def _net(started: Started) -> str | None:
    said = [word.lower() for word in started.words]
    if said[:1] in (["user"], ["localgroup"], ["group"]) and {"/add", "/active:yes"}.intersection(said):
        return "gives-rights"
    return None


def _icacls(started: Started) -> str | None:
    """`icacls PATH /grant Everyone:F`: a right for more than the user."""
    said = " ".join(started.words).lower()
    is_grant = "/grant" in said or "/setowner" in said or "/reset" in said
    if is_grant and any(who in said for who in ("everyone", "users:", "*s-1-", "system")):
        return "gives-rights"
    return None


def _mknod(started: Started) -> str | None:
    """A device under another name."""
    if {"b", "c", "u"}.intersection(started.operands[1:2]):
        return "gives-rights"
    return None


def _ssh(started: Started) -> str | None:
    """A login as root at the machine itself."""
    for word in started.operands[:3]:
        user, _, host = word.rpartition("@")
        is_root = user == "root" or started.value("-l") == "root"
        if is_root and host in ("localhost", "127.0.0.1", "::1", "0.0.0.0"):
            return "elevates"
    return None


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


def _container(started: Started) -> str | None:
    words = started.words
    if not {"run", "create", "exec", "build", "update", "launch", "plugin"}.intersection(started.operands[:3]):
        return None
    if {"--privileged", "--privileged=true", "--grant-all-permissions"}.intersection(words):
        return "leaves-container"
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
            return "leaves-container"
    return None


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


def _lxc(started: Started) -> str | None:
    if any("security.privileged=true" in word or word == "security.privileged" for word in started.words) or any(
        word.startswith("source=") and _is_of_machine(word[7:]) for word in started.words
    ):
        return "leaves-container"
    return None


# Clusters and clouds -------------------------------------------------------------------------------------------------


def _kubectl(started: Started) -> str | None:
    words = started.operands
    verb = ""
    if words:
        verb = words[0]
    if (
        verb in ("create", "edit", "patch")
        and len(words) > 1
        and words[1] in ("clusterrolebinding", "rolebinding", "clusterrole", "token")
    ):
        return "gives-rights"
    if verb == "debug" and any(word.startswith("node/") for word in words):
        return "leaves-container"
    if (verb == "certificate" and "approve" in words) or (verb == "set" and "subject" in words):
        return "gives-rights"
    if verb in ("adm", "policy") and any(word.startswith("add-") for word in words):
        return "gives-rights"
    text = " ".join(started.words)
    is_open = any(
        said in text
        for said in ('"privileged":true', '"privileged": true', '"hostPID":true', '"hostPID": true', "--privileged")
    )
    if verb == "run" and is_open:
        return "leaves-container"
    is_impersonating = any(word == "--as" or word.startswith(("--as=", "--as-group=")) for word in started.words)
    if is_impersonating and verb != "auth":
        return "elevates"
    return None


_AWS = pattern_of(
    r"(?:attach|put)-(?:user|role|group)-policy|create-(?:access-key|login-profile|policy-version|user|role|service-linked-role)"
    r"|add-user-to-group|update-(?:assume-role-policy|login-profile)|set-default-policy-version|add-role-to-instance-profile"
    r"|delete-(?:role|user)-permissions-boundary|put-(?:bucket-policy|bucket-acl|key-policy|resource-policy|public-access-block)"
    r"|create-grant|add-permission|deactivate-mfa-device|delete-public-access-block"
)
_GCLOUD = pattern_of(r"(?:add|set)-iam-policy(?:-binding)?")


_WIDE_SCOPES = pattern_of(r"(?:^|,)(?:admin:|delete_repo|write:org|site_admin|manage_)")


def _gh(started: Started) -> str | None:
    """A forge's rights: a token for more, a repository for everybody, someone else for a repository."""
    words = started.operands
    if words[:1] == ("auth",) and _WIDE_SCOPES.search(started.value("-s", "--scopes")):
        return "gives-rights"
    is_public = started.value("--visibility") == "public" or started.has("--public")
    if words[:1] == ("repo",) and is_public and (words[1:2] == ("edit",) or started.has("-s", "--source", "--push")):
        return "gives-rights"
    if words[:3] == ("repo", "deploy-key", "add"):
        return "gives-rights"
    method = started.value("-X", "--method").upper()
    is_change = words[:1] == ("api",) and (method in ("PUT", "POST", "PATCH") or started.has("-f", "-F", "--field"))
    if is_change and any(_MEMBERS.search(word) for word in words):
        return "gives-rights"
    return None


_MEMBERS = pattern_of(r"/(?:collaborators|memberships|keys|invitations|hooks)(?:/|$)")


def _aws(started: Started) -> str | None:
    if any(_AWS.fullmatch(word) for word in started.operands[:6]):
        return "gives-rights"
    is_other = any(word.startswith(("assume-role", "get-federation-token")) for word in started.operands[:4])
    if is_other and "sts" in started.operands[:3]:
        return "elevates"
    return None


def _gcloud(started: Started) -> str | None:
    words = started.operands
    if any(_GCLOUD.fullmatch(word) for word in words) or (
        "roles" in words and {"create", "update"}.intersection(words)
    ):
        return "gives-rights"
    if "service-accounts" in words and "keys" in words and "create" in words:
        return "gives-rights"
    is_other = any(word.startswith("--impersonate-service-account") for word in started.words)
    if is_other:
        return "elevates"
    return None


def _az(started: Started) -> str | None:
    words = set(started.operands[:5])
    is_role = {"role", "create"} <= words or {"sp", "create-for-rbac"} <= words or {"credential", "reset"} <= words
    if is_role or "set-policy" in words:
        return "gives-rights"
    return None


def _vault(started: Started) -> str | None:
    words = set(started.operands[:3])
    if {"policy", "write"} <= words or {"token", "create"} <= words or {"auth", "enable"} <= words:
        return "gives-rights"
    return None


def _machinectl(started: Started) -> str | None:
    if started.operands[:1] in (("shell",), ("login",)):
        return "elevates"
    return None


def _systemd_run(started: Started) -> str | None:
    if started.has("--user"):
        return None
    return "elevates"


def _chflags(started: Started) -> str | None:
    if any("chg" in word or "appnd" in word for word in started.operands[:1]):
        return "gives-rights"
    return None


def _dscl(started: Started) -> str | None:
    is_change = not _CHANGES_OF_ACCOUNTS.isdisjoint(started.words)
    if is_change:
        return "gives-rights"
    return None


_CHANGES_OF_ACCOUNTS = frozenset(
    ("-create", "-append", "-passwd", "-delete", "create", "append", "passwd", "delete", "-merge")
)


def _wsl(started: Started) -> str | None:
    if started.value("-u", "--user") == "root":
        return "elevates"
    return None


def _gsutil(started: Started) -> str | None:
    is_change = started.operands[:1] in (("iam",), ("acl",)) and started.operands[1:2] in (("ch",), ("set",))
    if is_change:
        return "gives-rights"
    return None


_RULES: dict[str, Rule] = rules_of(
    "privilege",
    written={
        "aws": _aws,
        "az": _az,
        "chattr": _chattr,
        "chflags": _chflags,
        "chmod": _chmod,
        "chown": _chown,
        "container": _container,
        "dscl": _dscl,
        "gcloud": _gcloud,
        "gh": _gh,
        "gsutil": _gsutil,
        "icacls": _icacls,
        "install": _install,
        "kubectl": _kubectl,
        "lxc": _lxc,
        "machinectl": _machinectl,
        "mknod": _mknod,
        "net": _net,
        "ssh": _ssh,
        "systemd_run": _systemd_run,
        "vault": _vault,
        "wsl": _wsl,
    },
    made={"all_words": _when, "ever": _ever},
)
