"""One transcript compared with the record: what both say of each edit, call, prompt and token.

Owns what counts as agreement, the aims, and the report. Must not know how either side reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tallystick.scrubbing.markers import OPEN
from tests.independent.facts import Edit, History, asked
from tools.agreement.recorded import Call, Recorded

_LOOKED_AT = 160
_KINDS_OF_A_PERSON = ("prompt", "queued", "command", "plan", "answer")
MOST_WITHOUT = 0.01
MOST_WRONG = 0.002


class Comparison:
    """Counts of agreement over some transcripts, and each disagreement."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.found: list[tuple[str, str]] = []

    def take(self, name: str, history: History, recorded: Recorded, *, is_whole: bool) -> None:
        """Compare one transcript. `is_whole`: no other file has parts of the same session."""
        self.counts["transcripts"] += 1
        if not any(recorded.call(call) for call in history.outcomes) and history.outcomes:
            self._differ("transcripts not recorded", f"{name}: {len(history.outcomes)} calls")
            return
        for edit in history.edits:
            self._edit(name, edit, recorded)
        for call, outcome in history.outcomes.items():
            if outcome == "open" and not is_whole:
                continue
            self._outcome(name, call, outcome, recorded)
        for path_of in history.edits:
            if history.outcomes.get(path_of.call) == "ok":
                self._files(name, path_of, recorded)
        if is_whole:
            self._prompts(name, history, recorded)
            self._tokens(name, history, recorded)

    def _edit(self, name: str, edit: Edit, recorded: Recorded) -> None:
        request = asked(edit.request)
        call = recorded.call(edit.call)
        self.counts["edits"] += 1
        where = f"{name}:{edit.line} {edit.tool} {edit.call}"
        if call is None:
            self._differ("edits not recorded", where)
            return
        causes = recorded.causes(call)
        ours = next((cause for cause in reversed(causes) if cause.prompt), None)
        theirs = "" if request is None else request.text
        if ours is None and request is None:
            self.counts["edits of which neither has a prompt"] += 1
        elif ours is None:
            self._differ("edits without a prompt", f"{where}: line {request and request.line} {_short(theirs)}")
        elif request is None:
            self._differ("edits with a prompt that only the record has", f"{where}: {_short(ours.prompt or '')}")
        elif not _same(ours.prompt or "", theirs):
            said = (
                f"{_short(ours.prompt or '')} [{ours.kind}], line {request.line} has {_short(theirs)} [{request.kind}]"
            )
            self._differ("edits with a wrong prompt", f"{where}: {said}")
        elif ours.kind != request.kind:
            self._differ("edits with a prompt of another kind", f"{where}: {ours.kind}, not {request.kind}")

    def _outcome(self, name: str, call: str, outcome: str, recorded: Recorded) -> None:
        self.counts["calls"] += 1
        found = recorded.call(call)
        if found is None:
            self._differ("calls not recorded", f"{name} {call}")
        elif found.outcome != outcome:
            self._differ("calls with another outcome", f"{name} {call}: {found.outcome}, not {outcome}")

    def _files(self, name: str, edit: Edit, recorded: Recorded) -> None:
        call = recorded.call(edit.call)
        if call is None:
            return
        self.counts["edits that succeeded"] += 1
        missing = [path for path in edit.paths if path and not _is_among(path, recorded, call)]
        if missing:
            self._differ(
                "edits of which a file is missing", f"{name}:{edit.line} {edit.call}: {', '.join(missing)[:200]}"
            )

    def _prompts(self, name: str, history: History, recorded: Recorded) -> None:
        theirs = Counter(request.kind for request in history.requests)
        ours = recorded.prompts(history.session)
        for kind in _KINDS_OF_A_PERSON:
            self.counts["requests"] += theirs[kind]
            if theirs[kind] != ours.get(kind, 0):
                self._differ(
                    "transcripts with other requests", f"{name} {kind}: {ours.get(kind, 0)}, not {theirs[kind]}"
                )

    def _tokens(self, name: str, history: History, recorded: Recorded) -> None:
        ours = recorded.tokens(history.session)
        for kind, count in history.tokens.items():
            self.counts["token counts"] += 1
            if count != ours[kind]:
                self._differ("token counts that differ", f"{name} {kind}: {ours[kind]:,}, not {count:,}")

    def _differ(self, sort: str, words: str) -> None:
        self.counts[sort] += 1
        self.found.append((sort, words))

    @property
    def is_within_aims(self) -> bool:
        """Whether few enough edits have no prompt, or a wrong one."""
        edits = self.counts["edits"] or 1
        without = self.counts["edits without a prompt"] + self.counts["edits not recorded"]
        return without <= MOST_WITHOUT * edits and self.counts["edits with a wrong prompt"] <= MOST_WRONG * edits

    def report(self, most: int) -> Iterator[str]:
        """Rates, then each disagreement, so many of a sort at most."""
        wholes = {"edits": "edits", "calls": "calls", "token": "token counts", "transcripts": "transcripts"}
        for sort, count in self.counts.items():
            whole = self.counts.get(wholes.get(sort.split()[0], ""), 0)
            share = f"  {count / whole:.3%}" if whole and sort not in wholes.values() else ""
            yield f"{count:9,}  {sort}{share}"
        for sort in dict.fromkeys(sort for sort, _ in self.found):
            words = [words for which, words in self.found if which == sort]
            yield f"\n{sort}: {len(words):,}"
            yield from (f"  {one}" for one in words[:most])


def _same(ours: str, theirs: str) -> bool:
    """Whether two texts say the same, but for white space and what was hidden or cut."""
    shown = " ".join(ours.partition(OPEN)[0].split())[:_LOOKED_AT]
    other = " ".join(theirs.split())[:_LOOKED_AT]
    return shown == other or (OPEN in ours and other.startswith(shown))


def _is_among(path: str, recorded: Recorded, call: Call) -> bool:
    tail = path.replace("\\", "/").rstrip("/")
    tail = tail.removeprefix("./")
    return any(uri.replace("\\", "/").endswith(tail.lstrip("/")) for uri in recorded.changed(call))


def _short(text: str) -> str:
    return repr(" ".join(text.split())[:60])
