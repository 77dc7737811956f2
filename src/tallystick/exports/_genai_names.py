"""Names of the GenAI semantic conventions: attributes, operations, providers.

Owns the spelling, that of https://opentelemetry.io/schemas/gen-ai/1.42.0, and which provider a model is of where its source
does not say. Must not know steps.
"""

import re
from collections.abc import Mapping

from tallystick.catalog.loading import Entry, inverted, load

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/1.42.0"

OPERATION = "gen_ai.operation.name"
CHAT, EXECUTE_TOOL, INVOKE_AGENT = "chat", "execute_tool", "invoke_agent"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_ID = "gen_ai.response.id"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_CREATION_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
CONVERSATION = "gen_ai.conversation.id"
AGENT_NAME = "gen_ai.agent.name"
AGENT_ID = "gen_ai.agent.id"
AGENT_VERSION = "gen_ai.agent.version"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
ERROR_TYPE = "error.type"
OTHER = "_OTHER"


class _Facts(Entry, frozen=True):
    """Facts of catalog/model_providers.toml."""

    names: Mapping[str, tuple[str, ...]]
    models: Mapping[str, str]


_FACTS = load("model_providers", _Facts)
_PROVIDERS = inverted(_FACTS.names)
_MODELS = tuple((re.compile(pattern, re.IGNORECASE), provider) for provider, pattern in _FACTS.models.items())


def provider_of(said: str | None, model: str | None) -> str:
    """The provider as the conventions name it: as the source says, else by the name of the model, else `_OTHER`."""
    if said:
        return _PROVIDERS.get(said.lower(), said)
    vendor, slash, bare = (model or "").partition("/")
    if slash and vendor.lower() in _PROVIDERS:
        return _PROVIDERS[vendor.lower()]
    name = vendor
    if slash:
        name = bare
    return next((provider for pattern, provider in _MODELS if pattern.match(name)), OTHER)
