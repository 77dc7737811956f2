"""What the content of a file makes happen unasked: tags.

Owns what the tools of a project run by themselves (at an install, a commit, a test, in a pipeline): the files in which
that is said, which of their text is run, and what in it is no one's everyday work: code from a host, a secret sent
away, code that is hidden. The same in a file that someone must start is not looked at here. Owns also the settings in
which an editor lets agents and tasks act unasked. Must not know who writes a file. Sources: npm's "scripts" (life
cycle), githooks(5), pre-commit, direnv, pytest's conftest, GitHub Actions; the settings references of Visual Studio
Code and of the editors made from it (chat, tasks, workspace trust).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tallystick.catalog.agents import AGENTS
from tallystick.catalog.loads import UNASKED
from tallystick.model.pattern import pattern_of
from tallystick.policy.content.prompt_injection import tags_of

_AGENT_FOLDERS = frozenset(name for facts in AGENTS.values() for name in facts.folder_names)
"""The settings in them name commands that an agent runs: helpers, status lines, hooks, servers."""
RUNS_UNSEEN = "runs-unseen"
"""What a text is tagged with that makes a project run such a thing by itself."""
_MOST = 64 << 10
_PIPELINES = pattern_of(
    r"(?:/\.github/workflows/[^/]+\.ya?ml|/\.gitlab-ci\.yml|/\.circleci/config\.yml|/azure-pipelines\.yml)\Z"
)
_STAGE = r"(?:(?:pre|post)?(?:install|uninstall|prepare|pack)|prepublish(?:only)?)"
_LIFE_CYCLE = pattern_of(
    rf"""[\"'.]{_STAGE}[\"'\]]{{0,3}}\s{{0,9}}[:=]\s{{0,9}}(?:\"((?:[^\"\\]|\\.){{0,4000}})|'([^']{{0,4000}}))"""
)
_LIFE_CYCLE_WORD = pattern_of(rf"scripts\.{_STAGE}=(.*)", re.DOTALL | re.IGNORECASE)
_HIDDEN = pattern_of(
    r"/dev/(?:tcp|udp)/|\bbase64\s{1,9}(?:-d|-D|--decode)\b[^\n]{0,200}\|\s{0,9}(?:ba|z|da)?sh\b|\bnc\b[^\n|]{0,80}\s-e\b|"
    r"\b(?:printenv|env|set)\s{0,9}\|[^\n]{0,100}\b(?:curl|wget|nc)\b|\btojson\(\s{0,9}secrets\b|"
    r"(?:\.env\b|id_rsa|\.ssh/|\.aws/|\.npmrc|\.netrc)[^\n]{0,200}\|[^\n]{0,100}\b(?:curl|wget|nc)\b|"
    r"\b(?:curl|wget|nc)\b[^\n]{0,200}(?:@|<|\$\()[^\n]{0,100}(?:\.env\b|id_rsa|\.ssh/|\.aws/|\.npmrc|\.netrc)"
)
_IN_LIFE_CYCLE = pattern_of(
    r"\b(?:curl|wget|iwr|irm|invoke-webrequest)\b|\bnode\s{1,9}(?:-e|--eval|-p)\b|\b(?:python3?|perl|ruby|php)\s{1,9}-[ecr]\b|\bbase64\b|"
    r"/dev/tcp/|\beval\b|\bnc\s|\bpowershell\b"
)


def may_run(path: str) -> bool:
    """Whether a project's tools run by themselves what is in a file, by its name and place."""
    folder, _, name = path.rpartition("/")
    inside = folder.rpartition("/")[2]
    return (
        name in UNASKED["files"]
        or inside in UNASKED["folders"]
        or (inside in _AGENT_FOLDERS and name.endswith((".json", ".toml")))
        or _PIPELINES.search(path) is not None
    )


def runs_of(path: str, text: str) -> frozenset[str]:
    """RUNS_UNSEEN, if a file of such a name makes a project run what no one would see."""
    return _tagged(path.rpartition("/")[2] == "package.json", _PIPELINES.search(path) is not None, text[:_MOST])


@lru_cache(maxsize=64)
def _tagged(is_package: bool, is_pipeline: bool, text: str) -> frozenset[str]:
    if is_package:
        said = list(_life_cycle(text))
    else:
        said = [text.lower()]
    is_found = any(
        _HIDDEN.search(one) is not None
        or (is_package and _IN_LIFE_CYCLE.search(one) is not None)
        or (not is_pipeline and not tags_of(one).isdisjoint(("remote-code", "leaks")))
        for one in said
    )
    if is_found:
        return frozenset((RUNS_UNSEEN,))
    return frozenset()


def _life_cycle(text: str) -> Iterator[str]:
    """What a package runs when it is installed or packed."""
    for found in _LIFE_CYCLE.finditer(text.lower()):
        yield (found[1] or found[2] or "").replace('\\"', '"')


def sets_life_cycle(word: str) -> bool:
    """Whether a word of `npm pkg set` makes a package run such a thing when it is installed."""
    found = _LIFE_CYCLE_WORD.match(word)
    return found is not None and _IN_LIFE_CYCLE.search(found[1].lower()) is not None


ACTS_UNASKED = "acts-unasked"
"""What a text is tagged with that switches asking off."""
_SETTING_NAME = (
    r"chat\.(?:[\w.]{1,60}\.)?autoapprove|chat\.autopilot[\w.]{0,40}|"
    r"[\w-]{1,60}\.(?:[\w.]{1,60}\.)?(?:autoapprove|yolo(?:mode)?|autorun|autoexecution\w{0,20}|alwaysallow\w{0,20})|"
    r"task\.allowautomatictasks|security\.workspace\.trust\.enabled"
)
_SETTING_VALUE = r"true|false|\{[^}]{0,400}|[\"'](?:on|always|turbo|all)[\"']"
_SETTING = pattern_of(rf"[\"'](?:{_SETTING_NAME})[\"']\s{{0,20}}:\s{{0,20}}({_SETTING_VALUE})")
_ON_OPENING = pattern_of(r"[\"']runon[\"']\s{0,20}:\s{0,20}[\"']folderopen")
_MOST_SETTINGS = 256 << 10


def switches_of(text: str) -> frozenset[str]:
    """ACTS_UNASKED, if settings let agents or tasks act unasked."""
    small = text[:_MOST_SETTINGS].lower()
    if _ON_OPENING.search(small) is not None:
        return frozenset((ACTS_UNASKED,))
    for found in _SETTING.finditer(small):
        is_trust = "workspace.trust" in found[0]
        if (found[1] == "false") is is_trust:
            return frozenset((ACTS_UNASKED,))
    return frozenset()
