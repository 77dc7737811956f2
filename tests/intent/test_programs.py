from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.programs import actions_of, known_programs
from tallystick.model.intent import Operation
from tallystick.model.script import HOLE, Command, Redirect, Word
from tests.intent.programs.acting import acted, does, lines
from tests.support.cases import each_case

COMMON = """
    cat tac less more head tail bat nl od xxd hexdump strings wc sort uniq cut paste join comm tr sed awk grep
    egrep fgrep rg ag ack jq yq diff cmp patch base64 base32 md5sum sha1sum sha256sum iconv fold fmt column cp
    mv rm rmdir unlink shred touch mkdir mktemp ln link install rsync scp sftp dd truncate split csplit tee
    sponge chmod chown chgrp chattr setfacl stat file ls tree find fd locate du df tar zip unzip gzip gunzip
    zcat bzip2 xz zstd 7z cpio ar jar curl wget http nc ncat netcat socat telnet ssh ftp dig nslookup host ping
    openssl gpg ssh-keygen git gh svn hg python python3 node deno bun perl ruby php lua Rscript java go cargo
    rustc gcc clang cc make cmake ninja npm npx yarn pnpm pip pipx uv poetry gem bundle composer brew apt
    apt-get dnf yum apk pacman dpkg rpm docker podman docker-compose kubectl helm terraform ansible aws gcloud
    gsutil az s3cmd rclone doctl heroku vercel psql mysql sqlite3 mongosh redis-cli kill pkill killall ps top
    systemctl service crontab at launchctl mount umount mkfs fdisk parted iptables nft ufw sysctl modprobe
    useradd usermod passwd visudo id whoami env printenv export set history vim vi nano emacs ed ex tmux screen
    open xdg-open pbcopy echo printf test [ true false sleep date pytest ruff mypy eslint prettier black isort
    tsc jest vitest ffmpeg convert magick pandoc wkhtmltopdf soffice
"""

_WORDS = (
    "- -- -x -f -o -C -i -e -c -m -t -T -d -s -O -P --file --output=x --file= -ofile -rf a b/ .. . / "
    "/dev/null \x00 x\x00y \ue000.py http://a/b h:80 u@h:p @f x=@f k=v s3://b/c file://x create install run "
    "apply checkout push clone cp get -X POST = -= \xe9 \ud800 +x %1 : :: pkg@1 a.py a.js a.tar.gz {} ; -exec "
    "-delete -name ( ) ! 1 -9 api auth s3 s3api sync mod build test compose exec storage repo release "
    "upload config set bundle worktree stash add czf xzf rcs x:y:z =x a= $(x)"
)
PARTS = _WORDS.split(" ")


def test_the_common_programs_are_known() -> None:
    assert set(COMMON.split()) - known_programs() == set()
    assert len(known_programs()) >= 600


def test_a_program_that_no_table_has_is_unknown() -> None:
    assert acted("frobnicate a b").is_unknown
    assert acted("frobnicate a b").actions == ()


def test_no_program_is_no_action() -> None:
    assert actions_of(Command(words=())).actions == ()
    assert actions_of(Command(words=(Word(HOLE),))).is_unknown
    assert actions_of(Command(words=(Word(""),))).is_unknown


@each_case("text, expected")
def test_a_program_is_known_under_its_other_names(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_program_in_a_folder_of_its_own_is_a_script_that_is_run() -> None:
    done = acted("./tools/cat a")
    assert (lines(done), done.is_unknown) == (["execute ./tools/cat"], False)
    assert done.scripts == (Word("./tools/cat"),)


def test_a_name_that_is_not_the_systems_is_not_the_program() -> None:
    done = actions_of(Command(words=(Word("cat"), Word("a")), trusted=False))
    assert [action.operation for action in done.actions] == [Operation.EXECUTE]


def test_the_home_folder_stands_in_its_place() -> None:
    command = Command(words=tuple(map(Word, ("git", "config", "--global", "a.b", "c"))))
    assert lines(actions_of(command, home="/home/dev")) == ["edit /home/dev/.gitconfig"]
    assert lines(actions_of(command)) == ["edit ~/.gitconfig"]


def test_of_too_many_words_the_rest_is_unknown() -> None:
    done = actions_of(Command(words=(Word("rm"), *[Word("a")] * 5000)))
    assert done.is_unknown
    assert 0 < len(done.actions) <= 2000


@given(
    st.sampled_from(sorted(known_programs())),
    st.lists(st.sampled_from(PARTS) | st.text(max_size=6), max_size=8),
    st.sampled_from(PARTS) | st.none(),
    st.booleans(),
)
def test_no_words_break_a_rule(name: str, parts: list[str], fed: str | None, is_file: bool) -> None:
    redirects = (Redirect(Word(fed), False, "<"),) if fed is not None and is_file else ()
    given_input = Word(fed) if fed is not None and not is_file else None
    words = (Word(name), *map(Word, parts))
    done = actions_of(Command(words=words, redirects=redirects, input=given_input, fed=fed or ""))
    count = len(done.actions)
    assert all(0 <= a < count and 0 <= b < count and a != b for a, b in done.flows)
    assert all(0 <= at < count for at in done.prints)
    executed = [action.target for action in done.actions if action.operation is Operation.EXECUTE]
    assert all(script in executed for script in done.scripts)


@given(st.sampled_from(sorted(known_programs())), st.sampled_from("a-=/:.@\n\0\ue000[?,"), st.booleans())
def test_a_word_of_any_length_is_taken(name: str, letter: str, is_option: bool) -> None:
    word = Word(("-" if is_option else "") + letter * 50_000)
    done = actions_of(Command(words=(Word(name), word), input=word))
    assert len(done.actions) < 200
