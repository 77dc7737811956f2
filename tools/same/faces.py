"""What is called inside a tree, where its command line would be too slow: each thing with the places where it may be.

Owns all names of modules and classes that this comparison knows. A tree that has moved something gets a second place here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

_PLACES: Mapping[str, tuple[str, ...]] = {
    "main": ("tallystick.cli",),
    "read_cases": ("bench.policy",),
    "judge": ("bench.policy",),
    "cases_of": ("bench.policy",),
    "places": ("bench.policy",),
}
_CLASSES: Mapping[str, tuple[str, ...]] = {"Decider": ("Decider",)}


def face(name: str) -> Any:
    """One of `_PLACES`, wherever this tree keeps it.

    Raises:
        LookupError: it is in none of the places that are known.
    """
    for place in _PLACES[name]:
        try:
            return getattr(import_module(place), name)
        except (ImportError, AttributeError):
            continue
    raise LookupError(f"{name} is in none of {', '.join(_PLACES[name])}: add its place to tools/same/faces.py")


def loaded_class(name: str) -> Any:
    """A class of the program by its name, in whatever loaded module it is.

    Raises:
        LookupError: no loaded module defines it.
    """
    for module in list(sys.modules.values()):
        if not getattr(module, "__name__", "").startswith("tallystick"):
            continue
        for known in _CLASSES[name]:
            found = getattr(module, known, None)
            if isinstance(found, type) and found.__module__ == module.__name__:
                return found
    raise LookupError(f"no class {name} is loaded: add its new name to tools/same/faces.py")
