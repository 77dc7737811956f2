"""Version control that loses something, and settings of git that name a program which git runs or a place that it trusts."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.git import of_version_control, risks
from tests.policy.risks.readings import found, reading
from tests.support.cases import each, each_case


def lost_by(command: str) -> set[str]:
    return {risk.name for risk in of_version_control(reading(command))}


REWRITES = """
git push --force
git push -f
git push --force origin main
git push -f origin HEAD:main
git push origin +main
git push origin +HEAD:refs/heads/release/1.2
git push --force-with-lease origin main
git push --force --all
git push --mirror
git push origin --delete main
git push origin -d develop
git push origin :main
git push origin :refs/tags/v1
git push --force origin "$(git branch --show-current)"
git -C sub push -f
git -c user.name=x push --force
sudo git push -f
git branch -D main
git branch -D $(git branch)
git branch --delete --force master
git branch -f main HEAD~3
git filter-branch --all
git filter-repo --path x
git-filter-repo --path x
bfg --strip-blobs-bigger-than 1M
git reflog expire --expire=now --all
git reflog delete HEAD@{1}
git gc --prune=now
git gc --aggressive --prune=all
git prune
git prune --expire=now
git update-ref -d refs/heads/main
git symbolic-ref -d HEAD
hg strip tip
svn rm https://example.org/trunk -m x
jj abandon x
jj op abandon x
"""
DISCARDS = """
git reset --hard
git reset --hard HEAD~3
git reset --hard origin/main
git clean -f
git clean -fdx
git clean -xdf .
git clean -fd src
git checkout -f main
git checkout --force main
git switch --discard-changes main
git switch -f main
git stash drop
git stash clear
git read-tree --reset -u HEAD
git checkout-index -f -a
git submodule deinit -f --all
hg update -C
hg update --clean tip
hg revert --all
hg purge
svn revert -R .
svn cleanup --remove-unversioned
fossil clean
"""
NEITHER = """
git push
git push -u origin feature/x
git push --force-with-lease
git push --force-with-lease origin feature/x
git push --force origin fix/rounding
git push origin --delete feature/x
git push origin :feature/x
git push --dry-run --force origin main
git push --tags
git branch
git branch -d feature/x
git branch -D feature/x
git branch -M main
git branch -f feature/x HEAD
git reset
git reset --soft HEAD~1
git reset HEAD x
git clean -n
git clean -ndx
git clean -fd build
git clean -fdx node_modules dist/
git checkout main
git checkout -b x
git checkout -- src/main.py
git restore src
git restore --staged .
git switch -c x
git stash
git stash pop
git stash list
git reflog
git gc
git gc --auto
git prune -n
git remote prune origin
git fetch --prune
git worktree remove ../wt
git worktree remove --force ../wt
git worktree prune
git tag -d v1
git rebase main
git commit --amend --no-edit
git merge --abort
git rm -r --cached node_modules
git filter-repo --analyze
hg update
hg purge --print
svn revert x.c
svn rm x.c
echo git push -f
git log --grep 'push --force'
"""


@each("command", REWRITES.strip().splitlines())
def test_history_that_others_need_is_not_rewritten_unseen(command: str) -> None:
    assert lost_by(command) == {"rewrites-history"}


@each("command", DISCARDS.strip().splitlines())
def test_work_that_no_commit_has_is_not_thrown_away_unseen(command: str) -> None:
    assert lost_by(command) == {"discards-work"}


@each("command", NEITHER.strip().splitlines())
def test_ordinary_work_has_no_word(command: str) -> None:
    assert lost_by(command) == set()


@given(
    st.lists(
        st.sampled_from(
            ["git", "push", "-f", "branch", "-D", "clean", "--", "+", ":", "", "$x", "'a b'", "--force=", "*"]
        ),
        max_size=8,
    )
)
def test_no_words_make_it_fail(words: list[str]) -> None:
    assert lost_by(" ".join(["git", *words])) <= {"rewrites-history", "discards-work"}


@each_case("command")
def test_a_setting_that_runs_something_or_holds_everywhere_is_found(command: str) -> None:
    assert found(risks, command) == {"changes-git"}


@each_case("command")
def test_a_setting_of_the_project_that_runs_nothing_is_not(command: str) -> None:
    assert found(risks, command) == set()
