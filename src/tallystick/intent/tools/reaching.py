"""Tools that reach out: web pages, searches, and the resources and tools of MCP servers.

Owns what a URL, a search and an MCP server are called as targets. Must not know the tools' names: `known` has the table.
Sources: the agents' tool lists; the MCP specification for `resources/read`.
"""

from __future__ import annotations

import re

from tallystick.intent.tools.arguments import has_blank, members_of, objects_among, strings, text_among, texts_among
from tallystick.intent.tools.draft import Draft
from tallystick.intent.tools.paths import is_url, printable
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of

_URLS = ("url", "urls", "uri", "uris", "endpoint", "href", "link", "imageurl", "links")
_QUERIES = ("query", "q", "searchterm", "search", "searchquery", "queries", "objective", "prompt", "pattern", "text")
_IN_TEXT = pattern_of(r"(?i:https?|file)://[^\s<>\"'`)\]}]{1,2048}", re.ASCII)
_MOST_IN_TEXT = 20
_LONGEST_QUERY = 200
_LONGEST_URI = 2048


def fetches(draft: Draft) -> None:
    """A tool that fetches pages: by URL, or named in a prompt."""
    urls = texts_among(draft.members, *_URLS)
    urls += [url for item in objects_among(draft.members, "requests", "urls") for url in texts_among(item, *_URLS)]
    if draft.text is not None:
        urls.append(draft.text)
    if not urls:
        prompt = text_among(draft.members, "prompt", "query", "input") or ""
        urls = [found.rstrip(".,;:!?") for found in _IN_TEXT.findall(prompt)[:_MOST_IN_TEXT]]
    for url in urls:
        reaches(draft, Operation.FETCH, url)
    if not urls and not _takes_action(draft):
        draft.other(Domain.NETWORK, Operation.FETCH, f"{draft.tool}:")


def _takes_action(draft: Draft) -> bool:
    """Codex's web search tells a search, a page that is opened or looked through."""
    action = members_of(draft.members.get("action"))
    if action:
        for url in texts_among(action, *_URLS):
            reaches(draft, Operation.FETCH, url)
        for query in texts_among(action, *_QUERIES):
            search(draft, query)
    return bool(action)


def reaches(draft: Draft, operation: Operation, url: str) -> None:
    """A URL, as far as it is one of the network: that of a file is a path, and `data:` reaches nothing."""
    if url[:7].lower() == "file://":
        draft.file(Operation.READ if operation is Operation.FETCH else Operation.UNKNOWN, url)
    elif url[:5].lower() != "data:":
        draft.network(operation, url)


def searches_web(draft: Draft) -> None:
    """A tool that asks a search engine."""
    if _takes_action(draft):
        return
    queries = texts_among(draft.members, *_QUERIES)[:_MOST_IN_TEXT] or [draft.text or ""]
    for query in queries:
        search(draft, query)


def search(draft: Draft, query: str) -> None:
    """The words that a search engine is asked for, cut at 200 characters."""
    said = " ".join(query[: 4 * _LONGEST_QUERY].split())[:_LONGEST_QUERY]
    draft.other(Domain.NETWORK, Operation.FETCH, f"websearch:{said}")


def reads_resource(draft: Draft) -> None:
    """A tool that reads a resource of an MCP server: `mcp://SERVER/URI`, or the file that its URI names."""
    uri = text_among(draft.members, "uri", "resource", "resourceuri", "url") or draft.text
    server = text_among(draft.members, "server", "servername") or draft.server or ""
    if uri is not None and uri[:7].lower() == "file://":
        draft.file(Operation.READ, uri)
    elif uri is not None and not server and is_url(uri):
        reaches(draft, Operation.FETCH, uri)
    else:
        said = f"mcp://{server[:200]}/{(uri or '')[:_LONGEST_URI]}"
        draft.other(Domain.NETWORK, Operation.FETCH, printable(said))
    saved = text_among(draft.members, "downloadpath")
    if saved is not None:
        draft.flow(len(draft.intents) - 1, draft.file(Operation.WRITE, saved))


def of_server(server: str) -> str:
    """An MCP server as a target."""
    return f"mcp://{server[:200]}"


def urls_in(draft: Draft) -> list[str]:
    """The URLs among the arguments: in members named so, or whole texts that begin like one. At most 20."""
    found = (
        text
        for name, text in strings(draft.args)
        if (name in _URLS or len(text) <= _LONGEST_URI) and is_url(text) and not has_blank(text.strip())
    )
    return list(dict.fromkeys(url for url, _ in zip(found, range(_MOST_IN_TEXT), strict=False)))


def sends_message(draft: Draft) -> None:
    """A tool of the agent's own that sends a message to people or to other agents."""
    whom = text_among(draft.members, "target", "to", "recipient", "channel", "target_agent", "agent", "user", "name")
    draft.other(Domain.NETWORK, Operation.SEND, f"message:{(whom or draft.tool)[:200]}")
