"""What was recorded of a home folder while its agents worked, beside an import of the transcripts they left there.

Owns the second store and the comparison. Must not know which agents there are: what one of them is known not to tell is in
the catalogue, from which its page has it.
"""

from __future__ import annotations

from pathlib import Path

from tallystick.agents import adapters
from tallystick.ask.shadow import explained
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.journal.home import Home
from tallystick.sessions.shadow import Difference, differences, recorded
from tests.support.families import journals


def unexplained(agent: str, user: Path, live: Path, imported: Path) -> list[Difference]:
    """In what a live record differs from an import of the same files, but for what the agent's page names.

    Args:
        user: the home folder with the transcripts. live: the store that was recorded. imported: a store that is made here.
    """
    known, home = adapters(), Home(imported)
    import_histories(home, find_histories(user, (), known), known)
    found = differences(recorded(journals(Home(live))), recorded(journals(home)))
    return [one for one in found if not explained(agent, one)]
