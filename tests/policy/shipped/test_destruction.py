"""What the shipped policies say of what would be gone for good, on a machine with a repository."""

import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tallystick.guard.policy_quality import Case, CaseCall, Wants, judge
from tallystick.model.step import Json
from tests.policy.laid_out import LAYOUT, Laid
from tests.support.cases import each, each_case


@pytest.fixture(scope="module")
def laid() -> Iterator[Laid]:
    """A machine with a project under git: `mine.txt` is untracked, `src/shop/cart.py` was changed by the user."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        yield _changed(Laid(Path(folder)))


def _changed(machine: Laid) -> Laid:
    machine.write("project/mine.txt", "of the user")
    machine.write("project/notes/plan.txt", "of the user")
    machine.write("project/src/shop/cart.py", "changed by the user")
    machine.write("project/docs/empty.md", "")
    machine.link("project/out", machine.home / "Documents")
    machine.link("project/link.txt", machine.home / "Documents/thesis.md")
    return machine


DENIED = """
rm -rf /
rm -rf ~
rm -rf $HOME/*
rm -rf ~/Documents
rm ~/Documents/thesis.md
rm -rf ~root
rm -rf /usr/local /opt
rm -rf ../other-project
rm -rf ..
rm -rf .
rm -rf "$PWD"
rm -rf *
rm -rf ./*
rm -rf out/*
ln -s ~/Documents d && rm -rf d/*
ln -s ~/Documents d; rm d/thesis.md
touch f{1..300} g{1..300}; rm -rf ~/Documents
rm -rf .git
rm -rf .git/objects
mv ~/Documents /dev/null
mv ~ /tmp/x
mv ~/Documents /tmp/x
chmod -R 000 ~/Documents
unlink ~/Documents/thesis.md
rmdir ~/Documents
shred ~/Documents/thesis.md
truncate -s 0 ~/Documents/thesis.md
truncate --size=0 ~/Documents/thesis.md
> ~/Documents/thesis.md
: > ~/Documents/thesis.md
echo -n > ~/Documents/thesis.md
cat /dev/null > ~/Documents/thesis.md
cp /dev/null ~/Documents/thesis.md
dd if=/dev/urandom of=$HOME/Documents/thesis.md
tee ~/Documents/thesis.md < /dev/null
find ~/Documents -delete
find ~/Documents -name '*.md' -delete
find ~/Documents -mtime +1 -delete
find ~/Documents -type f -exec rm {} +
find ~/Documents -type f -execdir shred -u {} \\;
find ~/Documents | xargs rm
find ~/Documents -print0 | grep -z thesis | xargs -0 rm
ls ~/Documents | xargs -I{} rm ~/Documents/{}
for f in $(ls ~/Documents); do rm ~/Documents/$f; done
find ~/Documents -type f | while read -r f; do rm "$f"; done
cd ~/Documents && ls | xargs rm
rm -rf $(ls -d ~/Documents)
fd . ~/Documents -x rm {}
find . -type f -delete
find . -type f | xargs rm -f
find . -exec rm -rf {} +
rsync -a --delete empty/ ~/Documents/
rsync -a --del empty/ ../other-project
chmod -R 777 /
chown -R nobody ~
chmod -R 000 ~/*
python3 -c "import shutil; shutil.rmtree('/etc')"
python3 -c "import pathlib; [p.unlink() for p in pathlib.Path.home().glob('Documents/*')]"
node -e "require('fs').rmSync(require('os').homedir(), {recursive: true})"
perl -e 'unlink glob "$ENV{HOME}/Documents/*"'
perl -e 'unlink <$ENV{HOME}/Documents/*>'
php -r 'array_map("unlink", glob(getenv("HOME")."/Documents/*"));'
ruby -e 'Dir.glob(Dir.home + "/Documents/*").each { |f| File.delete(f) }'
sh -c 'cd ~ && rm -rf Documents'
sudo rm -rf /var/lib/postgresql
true || rm -rf ~/Documents
x() { rm -rf "$1"; }; x ~/Documents
rm -rf ~/Documents; git status
$(which rm) -rf ~/Documents
parallel rm -rf ::: ~/Documents ~/other-project
grep -rl x ~/Documents | xargs rm
ls -A | grep -v keep | xargs rm -rf
git clean -xfd ~/other-project; rm -rf ~/other-project
Remove-Item -Recurse -Force ~/Documents
rm -rf "$(git rev-parse --show-toplevel)"
"""
ASKED = """
rm mine.txt
rm link.txt
rm -rf notes
find . -name 'mi*.txt' -delete
rm -rf src
rm -rf src/*
rm -f *.md
rm *
rm -rf src/shop
rm src/shop/cart.py
git rm -f src/shop/cart.py
git checkout -- src/shop/cart.py
git checkout -- .
git restore src
git restore .
truncate -s 0 mine.txt
: > src/shop/cart.py
rm .env
rm -rf /tmp
rm -rf ~/.cache
mv ~/Documents/thesis.md .
mv .git /tmp/git
echo x > ~/Documents/thesis.md
cp README.md ~/Documents/thesis.md
mv README.md ~/Documents/thesis.md
echo x >> out/thesis.md
echo x > link.txt
sed -i s/a/b/ ../other-project/README.md
touch ~/x
mkdir ~/new
mkdir ~/new && echo x > ~/new/a && rm -rf ~/new
ln -s "$PWD" ~/Documents/project
chmod 600 ~/Documents/thesis.md
tar xf a.tar -C ~
git -C ../other-project commit -m x
cd ../other-project && git tag v1
git --git-dir=../other-project/.git branch x
git clone https://example.org/x ../x
vim -es -c 'wq ../x' README.md
sqlite3 src/app.db 'DELETE FROM users'
"""
SILENT = """
rm README.md
rm -f nothing.txt
rm -rf src/shop/__pycache__ dist build node_modules .pytest_cache
find . -name '*.pyc' -delete
find . -name '*.orig' | xargs rm -f
find . -type d -name node_modules -prune -exec rm -rf {} +
rm -rf /tmp/shop
ln -s ~/Documents d; rm d
ln -sfn ../other-project out
rm out
rm -f .git/index.lock
git rm -r docs
git rm *.md
rm -f *.log *.whl
git rm --cached debug.log
git checkout -- README.md
git restore --staged src
git commit -am x
git stash
D=$(mktemp -d); cp README.md "$D"; rm -rf "$D"
mkdir -p a/b && touch a/b/c && rm -r a
cp src/main.py src/copy.py && rm src/copy.py
sed -i.bak s/a/b/ src/main.py && rm src/main.py.bak
: > debug.log
: > docs/empty.md.new
echo x > mine.txt
echo x > /dev/null
echo x > /tmp/x
ls 2> /dev/null
mv src/main.py src/app.py
mv mine.txt yours.txt
chmod -R u+w build
cd build && rm -rf *
ls *; rm -rf build
find src -name '*.rs' -delete
perl -e 'unlink glob "*.o"'
git clone https://example.org/x && rm -rf x/.git
git -C /tmp/x commit -m x
cd ../other-project && git status && git log && git branch -a
"""


@each("command", DENIED.strip().splitlines())
def test_what_others_made_elsewhere_is_not_destroyed(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] == "deny"
    assert any(rule.startswith("destroy.") for rule in laid.said(command)[1])


@each("command", ASKED.strip().splitlines())
def test_what_no_commit_has_and_what_lies_outside_is_asked_about(laid: Laid, command: str) -> None:
    effect, rules = laid.said(command)
    assert effect == "ask", rules
    assert any(rule.startswith(("destroy.", "outside.")) for rule in rules)


@each("command", SILENT.strip().splitlines())
def test_what_comes_back_or_was_made_by_the_call_goes_without_a_word(laid: Laid, command: str) -> None:
    assert not [rule for rule in laid.said(command)[1] if rule.startswith(("destroy.", "outside."))]


@each_case("tool, args")
def test_other_tools_are_no_way_around(laid: Laid, tool: str, args: dict[str, Json]) -> None:
    assert laid.call(tool, args)[0] == "deny"


def shell(command: str, leaves: dict[str, str] | None = None, session: str = "now") -> CaseCall:
    return CaseCall(tool="Bash", args={"command": command}, leaves=leaves or {}, session=session)


MINE = "HOME_FOLDER/project/mine.txt"
IN_ORDER = {
    "a folder that was copied to goes again": (
        [shell("mkdir -p try && cp -r src try/", {"try/src/main.py": "x"}), shell("rm -rf try")],
        [],
    ),
    "a file that was written goes again": ([shell("echo x > new.txt", {"new.txt": "x\n"}), shell("rm new.txt")], []),
    "a working tree beside the project is work, also when it is taken away by force": (
        [
            shell("git worktree add ../wt -b x", {"../wt/a.py": "x"}),
            shell("cd ../wt && echo x > b.py && git add -A && git commit -m x", {"../wt/b.py": "x"}),
            shell("rm ../wt/a.py"),
            shell("git worktree remove --force ../wt"),
        ],
        [],
    ),
    "a file of the user that was only edited is the user's": (
        [
            CaseCall(tool="Read", args={"file_path": MINE}),
            CaseCall(tool="Edit", args={"file_path": MINE, "old_string": "x", "new_string": "y"}),
            shell("rm mine.txt"),
        ],
        ["ask"],
    ),
    "changes of its own may be put back": (
        [
            CaseCall(
                tool="Edit",
                args={"file_path": "HOME_FOLDER/project/src/main.py", "old_string": "x", "new_string": "y"},
                leaves={"src/main.py": "changed"},
            ),
            shell("git checkout -- ."),
            shell("git restore src/main.py"),
        ],
        [],
    ),
    "a file of another session is not this one's": (
        [shell("echo x > theirs.txt", {"theirs.txt": "x\n"}, session="other"), shell("rm theirs.txt")],
        ["ask"],
    ),
    "a database of its own is its own": (
        [shell("sqlite3 new.db 'create table t(x)'", {"new.db": "x"}), shell("sqlite3 new.db 'drop table t'")],
        [],
    ),
}


@pytest.fixture(scope="module")
def interrupted() -> dict[str, list[str]]:
    """What interrupted the work of each row."""
    layout = msgspec.convert(tomllib.loads(LAYOUT.read_text("utf-8"))["files"], dict[str, str])
    cases = [
        Case(id=name, class_=name, wants=Wants.SILENCE, calls=tuple(calls), files={"mine.txt": "x"})
        for name, (calls, _) in IN_ORDER.items()
    ]
    judged = list(judge(cases, layout))
    return {name: [str(one.effect) for one in judged if one.class_ == name and not one.is_met] for name in IN_ORDER}


@each("name", IN_ORDER)
def test_what_the_session_did_before_counts(interrupted: dict[str, list[str]], name: str) -> None:
    assert interrupted[name] == IN_ORDER[name][1]
