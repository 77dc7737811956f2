"""Other ways to a cloud's metadata service than an intent for its address: its own programs, and what a tool is given.

Owns recognizing them; which hosts are such a service is known to `policy.network.hosts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.languages import LANGUAGES
from tallystick.catalog.programs import programs_with
from tallystick.intent.programs import known_programs
from tallystick.intent.programs.arguments import split_words
from tallystick.intent.tools.arguments import strings
from tallystick.model.intent import Domain
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.network.hosts import addresses_of, clear, host_of
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "metadata-asked": "A program that asks the cloud's metadata service is run.",
    "metadata-given": "A tool is given the address of the cloud's metadata service, or code asks it.",
}
_FORMS = Forms("metadata")
_HOSTS = pattern_of(
    r"""(?:0[xX][0-9a-fA-F]{8}|\d{10}|\[?[fF][dDeE][0-9a-fA-F:]{6,38}\]?|metadata\.[\w.]{2,60}
    |(?:0[xX]?[0-9a-fA-F]{1,4}|\d{1,4})(?:\.(?:0[xX]?[0-9a-fA-F]{1,8}|\d{1,8})){1,3})""",
    re.VERBOSE,
)
_TALKS = pattern_of(
    r"http|socket|connect|request|fetch|urlopen|dial|client|curl|invoke-|\birm\b|\biwr\b", re.IGNORECASE
)
_MOST_STRINGS = 60
_LONGEST = 300


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for started in programs(reading):
        if (word := _FORMS.of(started)) is not None:
            yield Risk(word, started.spelled)
        elif started.name in _PASSES_ON or started.name not in _KNOWN:
            yield from _told(started, settings)
    for script in reading.scripts:
        for name, value in script.assigned:
            is_proxy = name.lower().endswith("_proxy") and name.lower() != "no_proxy"
            if is_proxy and "metadata" in host_of(value, settings).kinds:
                yield Risk("metadata-given", f"{name}={value}"[:200])
    uses = reading.uses
    is_ours = uses.commands or uses.programs or uses.codes or any(one.domain is Domain.FILE for one in uses.intents)
    if uses.intents and not is_ours:
        yield from _given(reading, settings)
    yield from _in_code(reading, settings)
    yield from _by_variable(reading)


_VARIABLES = pattern_of(
    r"(?:ECS_CONTAINER_METADATA_URI(?:_V4)?|AWS_CONTAINER_CREDENTIALS_(?:FULL|RELATIVE)_URI|IDENTITY_ENDPOINT|MSI_ENDPOINT)(?!\w)"
)
"""What a cloud's machine calls the address in its environment."""


def _by_variable(reading: CallReading) -> Iterator[Risk]:
    """The address is taken from a variable that only the service sets."""
    if any(one.domain is Domain.NETWORK for one in reading.effects.intents):
        for text in reading.texts:
            found = _VARIABLES.search(text[: 64 << 10])
            if found is not None:
                yield Risk("metadata-given", f"${found[0]}")
                return


def _told(started: Started, settings: Settings) -> Iterator[Risk]:
    """A program that runs others elsewhere, or that is not known, and a URL of the service among its words."""
    for word in started.words[:_MOST_STRINGS]:
        for part in split_words(word)[:_MOST_STRINGS] if "://" in word or _ADDRESS in word else ():
            url = part.strip("'\"`,;()")
            if "metadata" in host_of(url, settings).kinds:
                yield Risk("metadata-given", url[:200])
                return


_ADDRESS = "169.254."
_KNOWN = known_programs()
_PASSES_ON = programs_with("passes-words-on")


def _given(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """An argument that is nothing but the host: `{"host": "169.254.169.254", "port": 80}`."""
    if all(one.target.startswith(("websearch:", "message:")) for one in reading.uses.intents):
        return
    for n, (_, text) in enumerate(strings(reading.call.args)):
        if n >= _MOST_STRINGS:
            return
        if 6 < len(text) <= _LONGEST and " " not in text and "metadata" in host_of(text, settings).kinds:
            yield Risk("metadata-given", text[:200])
            return


def _in_code(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """Code that talks to a host which is unknown, and has the address in it."""
    if not reading.snippets:
        return
    is_untold = any(one.domain is Domain.NETWORK and not one.is_known for one in reading.effects.intents)
    for snippet in reading.snippets:
        if not is_untold and snippet.language in LANGUAGES.understood:
            continue
        found = _named(snippet.text, settings)
        if found and _TALKS.search(snippet.text):
            yield Risk("metadata-given", f"{snippet.language} code: {found}")
            return


def _named(text: str, settings: Settings) -> str:
    """A metadata service that a text names, in any spelling of one word."""
    for found in _HOSTS.finditer(text[: 64 << 10]):
        word = found[0]
        if ("metadata" in word.lower() or addresses_of(clear(word.strip("[]")))) and "metadata" in host_of(
            word, settings
        ).kinds:
            return word[:100]
    return ""
