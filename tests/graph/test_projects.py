"""Which folders the name of a project means."""

import pytest

from tallystick.errors import NotFoundError
from tallystick.graph.projects import folders_of
from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index


@pytest.mark.parametrize("name", ["project", "PROJECT", "/home/dev/project", "/home/dev"])
def test_a_name_or_a_path_means_the_folders(indexed_samples: Home, name: str) -> None:
    with open_index(indexed_samples) as index:
        assert "/home/dev/project" in folders_of(index.graph, (name,))


def test_no_name_means_any_folder(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        assert folders_of(index.graph, ()) == ()


def test_an_unknown_name_lists_those_that_there_are(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index, pytest.raises(NotFoundError) as raised:
        folders_of(index.graph, ("projct",))
    assert "did you mean project?" in str(raised.value.hint)
