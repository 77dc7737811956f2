"""gptme's input log digests, kept true in a scrubbed conversation.

Owns the formula by which gptme (0.35) digests the messages that a reply was made from: SHA-256 over each of
the first N messages, as JSON of the members below with sorted keys, followed by a zero byte. A recording
whose digests no longer matched would look like one that someone changed. Must not know what was scrubbed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

DIGESTED = ("role", "content", "files", "file_hashes", "ui_only", "ephemeral_ttl", "call_id")

Message = Mapping[str, Any]


def input_log_digest(messages: Sequence[Message]) -> str:
    """The digest of the messages that a reply saw, as lowercase hex."""
    digest = hashlib.sha256()
    for message in messages:
        members = {name: message[name] for name in DIGESTED if name in message}
        if "prompt_generation" in message.get("metadata", {}):
            members["prompt_generation"] = message["metadata"]["prompt_generation"]
        digest.update(json.dumps(members, sort_keys=True).encode() + b"\0")
    return digest.hexdigest()


def restated_digests(conversation: str, scrubbed: str) -> dict[str, str]:
    """What each digest in a conversation becomes once its text is scrubbed.

    Args:
        conversation: the JSON lines as gptme wrote them.
        scrubbed: the same lines without what must not be kept.

    Returns:
        The new digest for each old one that was true; one that did not match its own messages is left alone.
    """
    before, after = ([json.loads(line) for line in text.split("\n") if line] for text in (conversation, scrubbed))
    restated: dict[str, str] = {}
    for metadata in (message.get("metadata", {}) for message in before):
        old, count = metadata.get("input_log_digest"), metadata.get("input_log_messages")
        if old is not None and old == input_log_digest(before[:count]):
            restated[old] = input_log_digest(after[:count])
    return restated
