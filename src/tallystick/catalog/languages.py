"""What is known of languages of code: which are read, and how far.

Owns the schema of `code/language_sets.toml`. Must not know a reader.
"""

from tallystick.catalog.loading import Entry, load


class Languages(Entry, frozen=True):
    """Sets of languages, by their names in `code/languages.toml`; the file says what each is."""

    understood: frozenset[str]
    read: frozenset[str]
    distinguished: frozenset[str]
    filters: frozenset[str]
    looped: frozenset[str]
    code: frozenset[str]
    fences: dict[str, frozenset[str]]
    """Language → what stands after the fence of such code in Markdown."""


LANGUAGES = load("code/language_sets", Languages)
