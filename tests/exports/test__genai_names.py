"""Names of the GenAI conventions, held against the package that OpenTelemetry publishes."""

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as published

from tallystick.exports import _genai_names as names
from tests.support.cases import each


def test_each_name_of_ours_is_one_of_the_conventions() -> None:
    ours = {value for key, value in vars(names).items() if key.isupper() and str(value).startswith("gen_ai.")}
    known = {value for key, value in vars(published).items() if key.startswith("GEN_AI_")}
    assert len(ours) > 15
    assert ours - known == set()


def test_each_provider_that_we_name_is_well_known() -> None:
    known = {provider.value for provider in published.GenAiProviderNameValues}
    newer = {"moonshot_ai"}  # gen-ai 1.42.0
    assert set(names._PROVIDERS.values()) | {provider for _, provider in names._MODELS} <= known | newer


@each(
    "said, model, provider",
    [
        ("Anthropic", "gpt-5.5", "anthropic"),
        ("bedrock", None, "aws.bedrock"),
        ("my-own", "claude-x", "my-own"),
        (None, "openai/gpt-4o-mini", "openai"),
        (None, "someone/claude-sonnet-4", "anthropic"),
        (None, "o3-mini", "openai"),
        (None, "gemini-3-pro", "gcp.gen_ai"),
        (None, "fast", names.OTHER),
        (None, None, names.OTHER),
    ],
)
def test_a_provider_is_what_the_source_says_else_what_the_model_tells(
    said: str | None, model: str | None, provider: str
) -> None:
    assert names.provider_of(said, model) == provider
