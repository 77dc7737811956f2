"""Programs that act on processes, services, accounts, devices and the kernel.

Owns which of them stop a process, which make something run later, and which need or give rights over the machine.
Where the effect is no file, the intent is an elevation whose target is the program's name. Sources: the manual pages
of procps, util-linux, systemd, cron, shadow, iptables, e2fsprogs; launchctl(1), networksetup(8) and their like on
macOS.
"""

from __future__ import annotations

import re

from tallystick.intent.programs.arguments import MOST_WORDS, at_home, grammar, is_fed, names, renamed, taken
from tallystick.intent.programs.rules import NOTHING, Builder, Rule, each, program, silent
from tallystick.intent.shell.actions import Actions, Code
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

# Processes --------------------------------------------------------------------------------------------------------------

_KILL = grammar(
    "-s -n -q -g -u -U -P -t -G -F -signal --signal --pidfile --user --group --parent --older-than --younger-than --ns"
)
_SIGNAL = re.compile(r"-(?:\d+|(?:SIG)?[A-Z][A-Z0-9]+)")


def _kill(command: Command) -> Actions:
    """`kill PID`, `pkill PATTERN`, `killall NAME`; `-9` and `-TERM` are signals."""
    given = command.arguments[:MOST_WORDS]
    signals = [word for word in given[:2] if _SIGNAL.fullmatch(word.text)][:1]
    line = taken([word for word in given if word not in signals], _KILL)
    built = Builder()
    asks = any(word.text == "-0" for word in given) or line.has("-l", "-L", "--list", "--table")
    for word in line.operands if not asks else ():
        built.add(Operation.SIGNAL, word)
    return built.build()


_FUSER = grammar("-n -N")


def _fuser(command: Command) -> Actions:
    """`fuser -k`: whoever holds a file or port open is stopped."""
    line = taken(command.arguments, _FUSER)
    built = Builder()
    for word in line.operands if line.has("-k", "--kill") else ():
        built.add(Operation.SIGNAL, word)
    return built.build()


# Services and schedules -------------------------------------------------------------------------------------------------

_SYSTEMCTL = grammar(
    "-H -M -t -n -p -o -s --host --machine --type --property --output --signal --root --state --lines --kill-who"
)
_STOPS = names("stop kill restart try-restart reload reload-or-restart condrestart force-reload")
_SCHEDULES = names("enable disable start mask unmask reenable preset link edit set-default set-property")
_POWER = names("reboot poweroff halt suspend hibernate rescue emergency isolate kexec daemon-reload daemon-reexec")


def _systemctl(command: Command) -> Actions:
    """`systemctl VERB UNIT…`: starting and enabling lets something run, stopping signals it."""
    line = taken(command.arguments, _SYSTEMCTL)
    verb, units = line.operand(0), line.operands[1:]
    built = Builder()
    if verb in _POWER:
        built.add(Operation.ELEVATE, renamed(command.words[0], "systemctl"), words=(command.words[0], line.operands[0]))
    for word in units:
        if verb in _STOPS:
            built.add(Operation.SIGNAL, word)
        if verb in _SCHEDULES or verb in ("restart", "try-restart", "reload-or-restart"):
            built.add(Operation.SCHEDULE, word)
    return built.build()


def _service(command: Command) -> Actions:
    """`service NAME start`, `rc-service`, `initctl`, `brew services`."""
    words = [word for word in command.arguments if word.text[:1] != "-"]
    built = Builder()
    verb = words[1].text if len(words) > 1 else ""
    if verb in ("start", "restart", "reload"):
        built.add(Operation.SCHEDULE, words[0])
    if verb in ("stop", "restart", "reload"):
        built.add(Operation.SIGNAL, words[0])
    return built.build()


_CRONTAB = grammar("-u")


def _crontab(command: Command) -> Actions:
    """`crontab FILE`, `crontab -`: the whole table is replaced; `-e` and `-r` change it."""
    line = taken(command.arguments, _CRONTAB)
    built = Builder()
    table = Word(f"crontab {line.said('-u')}".rstrip())
    if line.has("-l"):
        return NOTHING
    sources = [built.read(word) for word in line.operands]
    is_input = built.reads_input or (not line.operands and is_fed(command) and not line.has("-e", "-r"))
    at = built.add(Operation.SCHEDULE, table, words=command.words[:1])
    built.flow(sources, [at])
    if is_input:
        built.feed(at)
    built.reads_input = is_input
    return built.build()


_AT = grammar("-f -q -t")


def _at(command: Command) -> Actions:
    """`at TIME`, `batch`: the text of `-f` or of the input runs later."""
    line = taken(command.arguments, _AT)
    built = Builder()
    if command.program in ("atq", "atrm") or line.has("-l", "-d", "-r", "-c", "-V"):
        return NOTHING
    for word in line.values("-f"):
        built.run(word)
    if command.input is not None and not line.has("-f"):
        built.codes.append(Code("sh", command.input))
    elif not line.has("-f"):
        built.is_unknown = is_fed(command)
    built.add(
        Operation.SCHEDULE,
        Word(" ".join([command.program, *(word.text for word in line.operands)])),
        words=command.words,
    )
    return built.build()


def _launchctl(command: Command) -> Actions:
    """`launchctl load FILE`, `bootstrap DOMAIN FILE`, `kickstart SERVICE`."""
    line = taken(command.arguments, grammar("-S -D"))
    verb, rest = line.operand(0), line.operands[1:]
    built = Builder()
    operation = None
    if verb in (
        "load",
        "bootstrap",
        "enable",
        "kickstart",
        "start",
        "submit",
        "unload",
        "bootout",
        "disable",
        "remove",
    ):
        operation = Operation.SCHEDULE
    elif verb in ("stop", "kill"):
        operation = Operation.SIGNAL
    for word in rest[-1:] if operation is not None else ():
        if "/" in word.text and word.text.endswith(".plist"):
            built.read(word)
        built.add(operation or Operation.SCHEDULE, word)
    return built.build()


def _systemd_run(command: Command) -> Actions:
    """`systemd-run`, `nohup`-like starters whose program stands in their words."""
    line = taken(
        command.arguments,
        grammar("-u -p -E -M -H --unit --property --on-calendar --on-active --description --uid --gid", stops=True),
    )
    built = Builder()
    for word in line.operands[:1]:
        built.add(Operation.SCHEDULE, word)
    built.is_unknown = bool(line.operands)
    return built.build()


# The machine ------------------------------------------------------------------------------------------------------------


def _privileged(command: Command) -> Actions:
    """Programs that change the machine as a whole: firewall, kernel, accounts."""
    words = command.arguments
    if (not words and command.program not in _ALONE) or (words and words[0].text in _ASKS):
        return NOTHING
    built = Builder()
    built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:8])
    return built.build()


_ALONE = names("passwd visudo vipw vigr reboot shutdown poweroff halt newgrp chsh chfn telinit")
_ASKS = names(
    "-L --list -S --list-rules -h --help -V --version list show status -l --get-default-zone --list-all --state"
)


def _sysctl(command: Command) -> Actions:
    """`sysctl -w NAME=VALUE`, `-p FILE`; a name alone is asked for."""
    line = taken(command.arguments, grammar("-r --pattern"))
    built = Builder()
    if (
        line.has("-p", "--load", "--system")
        or line.has("-w", "--write")
        or any("=" in word.text for word in line.operands)
    ):
        for word in line.operands if line.has("-p", "--load") else ():
            built.read(word)
        built.add(Operation.ELEVATE, Word("sysctl"), words=command.words)
    return built.build()


_MOUNT = grammar("-t -o -L -U -O --types --options --label --uuid --source --target")


def _mount(command: Command) -> Actions:
    """`mount DEVICE FOLDER`, `umount`: what is below the folder becomes something else."""
    line = taken(command.arguments, _MOUNT)
    built = Builder()
    if not line.operands and not line.has("-a", "--all"):
        return NOTHING
    built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:1])
    if command.program == "mount" and len(line.operands) > 1:
        built.add(Operation.READ, line.operands[0], deep=True)
    for word in line.operands[-1:]:
        built.add(Operation.METADATA, word)
    return built.build()


def _formats(command: Command) -> Actions:
    """`mkfs`, `fdisk`, `parted`: a device is written."""
    line = taken(command.arguments, grammar("-t -L -U -b -N -m -O -E -I -F? -s -n -d -a -u"))
    built = Builder()
    is_list = line.has("-l", "--list", "-p", "--print", "--dump") or "print" in [
        word.text for word in line.operands[1:]
    ]
    if command.program == "wipefs":
        is_list = not line.has("-a", "--all", "-o", "--offset")
    devices = [
        word for word in line.operands if word.text.startswith(("/", "\0")) or "/" in word.text or "." in word.text
    ]
    for word in devices[:1]:
        built.add(Operation.LIST if is_list else Operation.WRITE, word)
    if not is_list:
        built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:1])
    return built.build()


_LOGS = program(
    prints=True,
    takes="-u -n -p -t -g -o -S -U --since --until --unit --lines --output --file -b?",
    read="-D --directory --file",
)


def _loginctl(command: Command) -> Actions:
    """`hostnamectl`, `timedatectl`, `loginctl`, `defaults`: verbs that begin with `set` or write change the machine."""
    words = [word.text for word in command.arguments if word.text[:1] != "-"]
    verb = words[0] if words else ""
    if not re.match(r"set|write|delete|hostname\b|terminate|kill|enable|disable|import", verb):
        return NOTHING
    return _privileged(command)


def _defaults(command: Command) -> Actions:
    """`defaults write DOMAIN KEY VALUE`: a list of settings below the home folder, or a file."""
    words = [word for word in command.arguments if word.text[:1] != "-"]
    built = Builder()
    if len(words) > 1 and words[0].text in ("write", "delete", "import", "rename", "read", "export"):
        is_read = words[0].text in ("read", "export")
        path = words[1] if "/" in words[1].text else at_home(f"Library/Preferences/{words[1].text}.plist")
        at = built.add(Operation.READ if is_read else Operation.EDIT, path, words=tuple(words), authored=not is_read)
        built.show(at if is_read else None)
    return built.build()


TABLE: dict[str, Rule] = {
    **each("kill pkill killall skill snice killall5 tskill", _kill),
    "fuser": _fuser,
    "systemctl": _systemctl,
    **each("service rc-service initctl supervisorctl pm2 invoke-rc.d", _service),
    "crontab": _crontab,
    **each("at batch atq atrm", _at),
    "launchctl": _launchctl,
    **each("systemd-run start-stop-daemon daemonize", _systemd_run),
    **each("iptables ip6tables nft ufw firewall-cmd pfctl iptables-restore ipset ebtables tc bpftool", _privileged),
    **each(
        "modprobe insmod rmmod depmod kexec swapon swapoff setenforce losetup cryptsetup lvcreate vgcreate pvcreate "
        "mdadm",
        _privileged,
    ),
    **each(
        "useradd adduser usermod userdel deluser groupadd groupdel groupmod gpasswd passwd chpasswd chage chsh chfn "
        "visudo vipw newgrp dscl dseditgroup spctl csrutil nvram pmset scutil networksetup systemsetup "
        "update-alternatives update-rc.d chkconfig reboot shutdown poweroff halt init telinit tccutil auditctl "
        "setsebool semanage aa-disable apparmor_parser",
        _privileged,
    ),
    "sysctl": _sysctl,
    **each("mount umount fusermount sshfs hdiutil diskutil", _mount),
    **each(
        "mkfs mkfs.ext4 mkfs.ext3 mkfs.xfs mkfs.vfat mkfs.btrfs mke2fs mkswap fdisk sfdisk gdisk sgdisk parted "
        "wipefs blkdiscard fsck e2fsck tune2fs",
        _formats,
    ),
    **each(
        "partclone.restore partclone.dd partclone.ext4 partclone.ntfs partclone.fat partclone.imager",
        program(takes="-L -N", read="-s --source", write="-o -O --output --overwrite"),
    ),
    "installer": program(takes="-target -applyChoiceChangesXML", is_long=True, execute="-pkg -package"),
    **each("journalctl dmesg last lastlog logread", _LOGS),
    **each("hostnamectl timedatectl localectl loginctl", _loginctl),
    "defaults": _defaults,
    "logger": program(takes="-p -t -i? --id", read="-f"),
    "date": program(takes="-d -s -v -r -I? --date --set --reference", read="-f --file", prints=True),
    "wall": program(takes="-t -g", read="first"),
    "env": silent,
    **each(
        "ps top htop btop pgrep pidof pstree vmstat iostat free uptime w who users id whoami groups hostname uname "
        "arch nproc lscpu lsusb lspci lsmod printenv getconf getent locale tty stty cal uptime sw_vers "
        "system_profiler sar dstat glances nvidia-smi rocm-smi lshw dmidecode",
        silent,
    ),
}
