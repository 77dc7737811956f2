"""Finding steps by the words in them, with the text that shows why.

Owns reading that text back from the journals: the index keeps none. Words and order are store's.
"""

from __future__ import annotations

from tallystick.graph.search import SearchFilter, SearchResult
from tallystick.graph.search import search as search_index
from tallystick.graph.steps import StepEntry
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.recorded import Recorded, legible_step
from tallystick.workspace.index import LARGEST_SEARCHED, Index


def search(home: Home, index: Index, text: str, wanted: SearchFilter) -> SearchResult:
    """The steps in which all the words of `text` stand, best first or newest first.

    Raises:
        UsageError: the text is too long, or the filter names something that there is not.
    """

    def read(entry: StepEntry) -> Recorded | None:
        path = home.journal(entry.session)
        if path is None:
            return None
        step = read_at(home, path, entry.offset, load_blobs=True, largest=LARGEST_SEARCHED)
        return None if step is None else legible_step(step)

    return search_index(index.graph, text, wanted, read)
