"""What came from what: versions of things, relations between prompts, calls and things, and walks along them.

Owns the rules of the graph as pure functions over values. Must not know how rows are kept (`store`), nor how a command is
read (`shell`, `tools`).
"""

__all__ = [
    "access",
    "assents",
    "correlate",
    "drawing_picture",
    "drawing_svg",
    "drawing_text",
    "drawing_tree",
    "facts",
    "identity",
    "overlap",
    "quoting",
    "registry",
    "relations",
    "taint",
    "taint_tree",
    "things",
    "versions",
    "walk",
]
