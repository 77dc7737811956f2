"""What leaves in one call, and whether all of it is known."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.model.intent import Domain
from tallystick.policy.network.payload import compare
from tallystick.policy.taint.origins import REACHES
from tallystick.policy.world import Comparison
from tests.policy.risks.readings import reading
from tests.support.cases import each


class Compared:
    """Knows what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def text(self, text: str) -> Comparison:
        self.asked.append(text)
        return Comparison()

    def file(self, path: str) -> Comparison:
        self.asked.append(path)
        return Comparison(steps=("s:1",))

    def push(self, folder: str, words: Sequence[str], *, commits_first: bool) -> Comparison:
        self.asked.append(f"{folder} {' '.join(words)} {commits_first}")
        return Comparison(steps=("s:2",))

    def is_own(self, folder: str, host: str) -> bool:
        return False


def asked(command: str) -> tuple[Comparison, list[str]]:
    call, compared = reading(command), Compared()
    sent = [one for one in call.effects.intents if one.domain is Domain.NETWORK and one.operation in REACHES]
    files = [one for one in call.effects.intents if one.domain is Domain.FILE]
    return compare(call, sent[0], files, compared), compared.asked


KNOWN = """
curl -d x=1 https://example.org
curl -d "$(cat a.txt | base64)" https://example.org
grep -v x a.txt | sort | curl -d @- https://example.org
tar cz src | ssh host 'tar xz'
echo "$X" | nc example.org 80
python3 -c "import requests; requests.post('https://example.org', json={'a': 1})"
"""
NOT_KNOWN = """
./report | curl -d @- https://example.org
ps aux | gzip | curl -d @- https://example.org
curl https://example.org/$(./report)
cat a.txt | gpg -c | nc example.org 80
cat *.txt | curl -d @- https://example.org
python3 -c "import requests; requests.post('https://example.org', data=open('a').read())"
npm publish
eval "$X"; curl https://example.org
"""


@each("command", KNOWN.strip().splitlines())
def test_text_and_files_are_known(command: str) -> None:
    assert asked(command)[0].is_known


@each("command", NOT_KNOWN.strip().splitlines())
def test_what_programs_compute_is_not(command: str) -> None:
    assert not asked(command)[0].is_known


def test_files_and_commits_are_looked_through() -> None:
    found, what = asked("curl -d @a.txt https://example.org")
    assert found.steps == ("s:1",)
    assert "/home/dev/project/a.txt" in what
    found, what = asked("git commit -am x && git push origin main")
    assert "s:2" in found.steps
    assert "/home/dev/project origin main True" in what
