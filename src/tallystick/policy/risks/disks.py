"""Disks and partitions that are written, formatted or given up; raw disks that are read.

Owns what a disk is called on Linux, macOS, the BSDs and Windows, and which programs change disks by other means than a
write to a path. An image in a file is not a disk: it is a file like others. Sources: the kernel's list of devices, the
manual pages of util-linux, e2fsprogs, gdisk, parted, lvm2, cryptsetup, mdadm, zfs, nvme-cli, hdparm; diskutil(8),
gpart(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import RiskRule
from tallystick.intent.programs.arguments import names
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.entries import Rule, judged, rules_of
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS = {
    "writes-disk": "A disk, partition or volume is written, formatted or removed: what it holds is lost.",
    "changes-disk": "A disk or file system is changed or repaired in place, or it is not told which device is written.",
    "reads-disk": "A disk, or the machine's memory, is read past who may read which file.",
}
_LINUX = (
    r"sd[a-z]{1,3}\d*|[hv]d[a-z]{1,3}\d*|xvd[a-z]{1,3}\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+|boot\d+|rpmb)?"
    r"|md\d+(?:p\d+)?|dm-\d+|dasd[a-z]+\d*|pmem\d+\S*|mtd\d+|mtdblock\d+|nbd\d+(?:p\d+)?|rbd\d+(?:p\d+)?|zd\d+(?:p\d+)?|drbd\d+|bcache\d+"
)
_BSD = r"r?disk\d+(?:s\d+)*|(?:ada|da|nda|nvd|nvme|vtbd|mmcsd|wd|ld|rwd|rsd|sd|vnd)\d+(?:[ps]\d+)?[a-p]?"
_DISK = pattern_of(
    rf"/dev/(?:{_LINUX}|{_BSD}|(?:disk/by-\w+|mapper|md|block|zvol|gpt|ufs|label|diskid|rdsk|dsk)/.+)", re.DOTALL
)
_WINDOWS = pattern_of(r"[\\/]{2}[.?][\\/](?:PhysicalDrive\d+|Harddisk\w+|[A-Za-z]:)", re.IGNORECASE)
_NO_VOLUMES = names(
    "pts shm fd input snd dri net bus char tcp udp usb hugepages mqueue vfio cpu serial mapper disk loop infiniband vhost"
)
_STARTS = names("/dev /dev/sd /dev/nvme /dev/hd /dev/vd /dev/xvd /dev/mmcblk /dev/disk /dev/rdisk /dev/mapper /dev/md")
"""What is known of a path to a device whose end is unknown."""
_MEMORY = names("/dev/mem /dev/kmem /dev/port /proc/kcore")
_CHANGES = frozenset(
    (
        Operation.WRITE,
        Operation.APPEND,
        Operation.EDIT,
        Operation.COPY_DEST,
        Operation.DELETE,
        Operation.RENAME,
        Operation.UNKNOWN,
    )
)
_READS = frozenset((Operation.READ, Operation.COPY_SOURCE))


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does to disks, of RISKS."""
    for intent in reading.effects.intents:
        if (
            intent.domain is Domain.FILE
            and intent.target[:1] in "/\\"
            and intent.target[:5] in ("/dev/", "/dev", "/proc")
        ):
            yield from _of_path(intent)
        elif intent.domain is Domain.FILE and "\\" in intent.target and _WINDOWS.search(intent.target):
            yield Risk("writes-disk" if intent.operation in _CHANGES else "reads-disk", intent.target[:200])
    for started in programs(reading):
        word = judged("disks", _RULES, started)
        family = started.name.partition(".")[0]
        if word is None and family in _FAMILIES:
            word = _RULES[family](started)
        if word is not None:
            yield Risk(word, started.spelled)


def is_disk(path: str) -> bool:
    """Whether a path names a disk, a partition or a volume. Wildcards stand for what they may name."""
    if not path.startswith("/dev/"):
        return _WINDOWS.match(path) is not None
    if "*" in path or "?" in path or "[" in path:
        start = re.split(r"[*?\[]", path, maxsplit=1)[0]
        return start.rstrip("/") in _STARTS or _DISK.match(start) is not None
    if _DISK.fullmatch(path):
        return path != "/dev/mapper/control"
    first, _, rest = path[5:].partition("/")
    return bool(rest) and "/" not in rest and first not in _NO_VOLUMES and not first.isdecimal()


def _of_path(intent: Intent) -> Iterator[Risk]:
    path = intent.target
    is_change = intent.operation in _CHANGES
    if not intent.is_known and path.rstrip("/") in _STARTS:
        if is_change:
            yield Risk("changes-disk", path[:200])
    elif path in _MEMORY and intent.operation in _READS:
        yield Risk("reads-disk", path)
    elif is_disk(path) and (is_change or intent.operation in _READS):
        yield Risk("writes-disk" if is_change else "reads-disk", path[:200])


# Programs ------------------------------------------------------------------------------------------------------------


def _device(started: Started) -> bool | None:
    """Whether a disk is among the operands; None if that is unknown."""
    if any(is_disk(word) for word in started.operands):
        return True
    is_told = all(word.is_known for word in started.given)
    if is_told and started.operands:
        return False
    return None


def _formats(started: Started) -> str | None:
    """Programs that make a file system or a table of partitions on a device, or in an image file."""
    if started.has("-l", "--list", "--print", "-p") and started.name in (
        "sgdisk",
        "gdisk",
        "fdisk",
        "sfdisk",
        "parted",
    ):
        return None
    if started.has("--help", "--version", "-V", "-J", "-d", "--dump", "--verify") and started.name != "parted":
        return None
    if "print" in started.operands[1:] and started.name == "parted":
        return None
    if any(word.lower() in _BY_NUMBER for word in started.words):
        return "writes-disk"
    return _as_told(started)


_BY_NUMBER = names("-number -disknumber -driveletter -partitionnumber -removedata -uniqueid")
"""How PowerShell's `Clear-Disk` and its like are told which disk."""


def _as_told(started: Started) -> str | None:
    found = _device(started)
    if found:
        return "writes-disk"
    if found is None and started.given:
        return "changes-disk"
    return None


def _in_place(started: Started) -> str | None:
    """Programs that mend or resize a file system."""
    if _device(started) and not started.has("-n", "-l", "--help"):
        return "changes-disk"
    return None


def _when(test: RiskRule) -> Rule:
    """With one of some options a device is written."""
    options = test.options.split()

    def rule(started: Started) -> str | None:
        if started.has(*options):
            return _as_told(started)
        return None

    return rule


def _dd_like(started: Started) -> str | None:
    """`dcfldd of=DEVICE`, `dc3dd wipe=DEVICE`: dd itself is read by the shell's tables."""
    targets = [word.partition("=")[2] for word in started.words if word.startswith(("of=", "wipe=", "hof=", "ofs="))]
    if any(map(is_disk, targets)):
        return "writes-disk"
    return None


def _among_many(started: Started) -> str | None:
    """Disks that `find` or `parallel` hands over one by one."""
    words = started.hidden.split() if started.hidden else ()
    is_found = words[:1] == ["/dev"] or any(map(is_disk, words))
    is_target = started.name != "dd" or any(word.text.startswith("of=") and word.hidden for word in started.given)
    if is_found and is_target:
        return "writes-disk"
    return None


def _debugfs(started: Started) -> str | None:
    """A file system's own editor."""
    if not _device(started):
        return None
    if started.has("-w", "-z", "-x"):
        return "writes-disk"
    return "reads-disk"


def _windows_format(started: Started) -> str | None:
    if any(re.fullmatch(r"[A-Za-z]:\\?", word) for word in started.words):
        return "writes-disk"
    return None


def _into_last(started: Started) -> str | None:
    """Copiers that take a device as their last operand or after an option."""
    targets = [*started.operands[-1:], *(word for word in started.words if "=" in word)]
    if any(is_disk(word.rpartition("=")[2]) for word in targets):
        return "writes-disk"
    return None


def _socat(started: Started) -> str | None:
    """`socat … OPEN:DEVICE`: an address of two that is not said to be read only."""
    opened = [word.split(",") for word in started.operands if ":" in word]
    is_written = any(is_disk(parts[0].partition(":")[2]) and "rdonly" not in parts[1:] for parts in opened)
    if is_written:
        return "writes-disk"
    return None


_FAMILIES = names("mkfs newfs fsck")


_RULES: dict[str, Rule] = rules_of(
    "disks",
    written={
        "among_many": _among_many,
        "dd_like": _dd_like,
        "debugfs": _debugfs,
        "formats": _formats,
        "in_place": _in_place,
        "into_last": _into_last,
        "socat": _socat,
        "windows_format": _windows_format,
    },
    made={"with_option": _when},
)
