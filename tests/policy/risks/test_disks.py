"""Disks that are written, changed or read, and images that are work."""

import pytest

from tallystick.policy.risks.disks import RISKS, risks
from tests.policy.risks.readings import found

FOUND = {
    "writes-disk": (
        "debugfs -w -R 'rm /x' /dev/sda1",
        "nvme format -f /dev/nvme1n1",
        "sudo sgdisk -Z /dev/sdb && sudo partprobe",
        'echo -e "o\nn\np\n1\n\n\nw" | fdisk /dev/sdb',
        "newfs_apfs /dev/disk2s1",
        "asr restore --source x.dmg --target /dev/disk2 --erase",
        "cryptsetup erase /dev/sda2",
        "cp /dev/zero /dev/sdb",
        "tar cf /dev/sdb .",
        "socat -u FILE:x OPEN:/dev/sda",
        "sh -c 'cat > /dev/sda' < img",
        "mount -o remount,rw /dev/sda1 / ; dd if=x of=/dev/sda1",
        "node -e \"require('fs').createWriteStream('/dev/sda')\"",
        "go run x.go; echo 1 > /dev/disk/by-uuid/x",
        "hdparm --user-master u --security-set-pass p /dev/sda",
        "python3 -c \"import shutil; shutil.copyfile('x','/dev/sdb')\"",
        "parallel 'dd if=/dev/zero of={}' ::: /dev/sda /dev/sdb",
        "dd if=/dev/urandom | sudo tee /dev/sda >/dev/null",
        "sh -c \"$(printf 'dd if=/dev/zero of=/dev/sd%s' a)\"",
        "DISK=sda; sudo dd if=x of=/dev/$DISK",
        "cat <<EOF | sudo sfdisk /dev/nvme0n1\n,,L\nEOF",
        "find /dev -name 'sd*' -exec dd if=/dev/zero of={} \\;",
        "python3 - <<'EOF'\nf=open('/dev/sda','r+b')\nf.write(b'0'*512)\nEOF",
        "python3 -c \"import pathlib; pathlib.Path('/dev/nvme0n1').write_bytes(b'x')\"",
        "python3 -c \"import os; fd=os.open('/dev/sda',os.O_WRONLY); os.write(fd,b'x')\"",
        'ruby -e \'IO.binwrite("/dev/sda","x")\'',
        'awk \'BEGIN{print "x" > "/dev/sda"}\'',
        "exec 3>/dev/sda; echo x >&3",
        "truncate -s 0 /dev/sda",
        "mv x.img /dev/sda",
        "curl -o /dev/sda http://x/img",
        "wget -O /dev/mmcblk0 http://x/img",
        "zcat img.gz > /dev/sdb",
        "gunzip -c x.gz | dd of=/dev/sdb",
        "xz -dc x.xz | sudo dd of=/dev/disk4 bs=4m",
        "rm -rf /dev/sda",
        "doas mkfs.xfs -f /dev/vdb1",
        "busybox mkfs.ext2 /dev/sda1",
        "/usr/sbin/mkfs.ext4 /dev/sda",
        "lvm lvremove -f vg/root",
        "vgremove vg0",
        "zfs destroy rpool",
        "Format-Volume -DriveLetter C",
        "diskpart /s script.txt",
        "gdisk /dev/sda",
        "cfdisk /dev/sda",
        "dd if=boot.bin of=\\\\\\\\.\\\\PhysicalDrive0",
        "mkswap /dev/sda2",
        "dd if=/dev/zero of=/dev/disk/by-id/ata-X bs=1M",
        "cat x > /dev/mapper/vg0-root",
        "cp x /dev/vg0/root",
        "dd if=/dev/zero of=/dev/rdisk3",
        "dd if=/dev/zero of=/dev/ada0",
        "newfs /dev/da0p1",
        "gpart destroy -F ada0",
        "printf x | sudo tee /dev/nvme0n1p3",
        "head -c 512 /dev/zero > /dev/vda",
        "for d in /dev/sd?; do dd if=/dev/zero of=$d; done",
        "for d in sda sdb; do wipefs -a /dev/$d; done",
        "xargs -I{} dd if=/dev/zero of=/dev/{} <<< sda",
        "nvme format /dev/nvme0 -s 1",
        "nvme sanitize /dev/nvme0n1",
        "mdadm --zero-superblock /dev/sdb",
        "zfs destroy -r tank/home",
        "diskutil apfs deleteContainer disk1",
        "diskutil secureErase 0 disk2",
        "format C: /q",
        "vssadmin delete shadows /all /quiet",
        "badblocks -w /dev/sda",
        "node -e \"require('fs').writeFileSync('/dev/sda','x')\"",
        "python3 -c \"import os; os.system('mkfs.ext4 /dev/sdb1')\"",
        "python3 -c \"import subprocess; subprocess.run(['wipefs','-a','/dev/sda'])\"",
        'php -r \'file_put_contents("/dev/sda","x");\'',
        'powershell -c "Clear-Disk -Number 0 -RemoveData"',
        "rsync img /dev/sdb",
        "sudo -n sh -c 'echo 1 > /dev/sdb'",
        "dcfldd if=x of=/dev/sdb",
        "ddrescue x /dev/sdb",
        "btrfs device delete /dev/sdb /mnt",
        "mkfs -t ext4 -F /dev/sdc",
        "mkfs.btrfs -f /dev/sdb /dev/sdc",
        "parted /dev/sda rm 1",
        "fdisk /dev/sda <<< 'w'",
    ),
    "changes-disk": (
        "while read d; do wipefs -af $d; done < <(ls /dev/sd?)",
        "swapoff /dev/sda2",
        "e2fsck -f -y /dev/sdb1",
        "lsblk -dno NAME | xargs -I{} wipefs -a /dev/{}",
        "fsck -y /dev/sda1",
        "DEV=$(lsblk | head -1); mkfs.ext4 $DEV",
        "echo x > /dev/$DISK",
        "resize2fs /dev/sda1",
    ),
    "reads-disk": (
        "debugfs -R 'cat /etc/shadow' /dev/sda1",
        "dd if=/dev/sda of=backup.img",
        "strings /dev/sda1 | grep password",
        "sudo cat /dev/mem",
    ),
}

INNOCENT = (
    "dd if=/dev/zero of=disk.img bs=1M count=64",
    "mkfs.ext4 disk.img",
    "mkfs.ext4 -F ./build/rootfs.ext4",
    "parted -s disk.img mklabel gpt",
    "sfdisk disk.img < layout.txt",
    "wipefs /dev/sda",
    "fdisk -l",
    "lsblk -f",
    "parted -l",
    "diskutil list",
    "zpool status",
    "zfs list",
    "nvme list",
    "hdparm -I /dev/sda",
    "smartctl -a /dev/sda",
    "qemu-img create -f qcow2 vm.qcow2 10G",
    "hdiutil create -size 100m -fs HFS+ -volname X build/x.dmg",
    "echo x > /dev/null",
    "echo hi > /dev/tty",
    "cat /dev/urandom | head -c 16 | xxd",
    "npm run format",
    "dd if=/dev/urandom of=/dev/shm/x bs=1k count=1",
    "cp x /dev/shm/y",
    "grep -rn mkfs docs",
    "echo 'mkfs.ext4 /dev/sda' > notes.md",
    "man mkfs.ext4",
)


@pytest.mark.parametrize(
    ("word", "command"), [(word, command) for word, commands in FOUND.items() for command in commands]
)
def test_what_is_grave_is_found(word: str, command: str) -> None:
    assert word in found(risks, command)


@pytest.mark.parametrize("command", INNOCENT)
def test_what_only_looks_alike_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_each_word_is_explained() -> None:
    assert set(RISKS) == set(FOUND)
