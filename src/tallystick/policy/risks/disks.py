"""Disks and partitions that are written, formatted or given up; raw disks that are read.

Owns what a disk is called on Linux, macOS, the BSDs and Windows, and which programs change disks by other means than a
write to a path. An image in a file is not a disk: it is a file like others. Sources: the kernel's list of devices, the
manual pages of util-linux, e2fsprogs, gdisk, parted, lvm2, cryptsetup, mdadm, zfs, nvme-cli, hdparm; diskutil(8),
gpart(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from tallystick.intent.programs.arguments import names
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
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
        family = started.name.partition(".")[0]
        word = _FORMS.of(started)
        if word is None and family in _FAMILIES:
            word = _FORMS.of(replace(started, name=family))
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


def _device(started: Started) -> bool:
    """Whether a disk is among the operands."""
    return any(is_disk(word) for word in started.operands)


def _untold(started: Started) -> bool:
    """Whether it is not told which device is meant."""
    return bool(started.given) and not (started.operands and all(word.is_known for word in started.given))


def _into(started: Started, *settings: str) -> bool:
    """`dcfldd of=DEVICE`, `dc3dd wipe=DEVICE`: dd itself is read by the shell's tables."""
    return any(is_disk(word.partition("=")[2]) for word in started.words if word.startswith(settings))


def _into_last(started: Started) -> bool:
    """Copiers that take a device as their last operand or after an option."""
    targets = [*started.operands[-1:], *(word for word in started.words if "=" in word)]
    return any(is_disk(word.rpartition("=")[2]) for word in targets)


def _handed_over(started: Started) -> bool:
    """Disks that `find` or `parallel` hands over one by one."""
    words = started.hidden.split() if started.hidden else ()
    is_found = words[:1] == ["/dev"] or any(map(is_disk, words))
    is_target = started.name != "dd" or any(word.text.startswith("of=") and word.hidden for word in started.given)
    return is_found and is_target


def _opens(started: Started) -> bool:
    """`socat … OPEN:DEVICE`: an address of two that is not said to be read only."""
    opened = [word.split(",") for word in started.operands if ":" in word]
    return any(is_disk(parts[0].partition(":")[2]) and "rdonly" not in parts[1:] for parts in opened)


_FAMILIES = names("mkfs newfs fsck")
_FORMS = Forms("disks", _device, _handed_over, _into, _into_last, _opens, _untold)
