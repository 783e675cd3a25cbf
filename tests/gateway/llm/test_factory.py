"""From the configuration to a model."""

from typing import Literal

import pytest

from gateway.errors import ConfigurationError
from gateway.llm.factory import ModelChoice, _build, build_provider
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.llm.responses import ResponsesProvider
from gateway.ports import LLMProvider
from simulators.anthropic import AnthropicSimulator
from tests.gateway.llm.asking import ask, question
from tests.support.clock import FakeClock


async def test_without_configuration_the_offline_model_is_used() -> None:
    provider = build_provider(ModelChoice(), FakeClock())

    assert provider.name == "offline"
    assert "No language model" in (await ask(provider, question("Hello"))).text


async def test_a_configured_model_answers(claude: AnthropicSimulator) -> None:
    choice = ModelChoice("anthropic", "claude-haiku-5-5", "test-key", claude.base_url)
    provider = build_provider(choice, FakeClock())

    heard = await ask(provider, question("Hello"))

    assert provider.name == "anthropic"
    assert heard.finished.model == "claude-haiku-5-5"
    await provider.close()


async def test_the_offline_model_can_be_the_last_fallback(claude: AnthropicSimulator) -> None:
    choice = ModelChoice("anthropic", "", "wrong-key", claude.base_url)
    provider = build_provider(choice, FakeClock(), [ModelChoice("offline")])

    assert "No language model" in (await ask(provider, question("Hello"))).text
    await provider.close()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            ModelChoice("claude"),
            r"model\.provider: 'claude' is not one of offline, anthropic, openai",
        ),
        (ModelChoice("anthropic"), r"model\.api_key: is empty.*ANTHROPIC_API_KEY"),
        (ModelChoice("openai", api_key="k"), r"model\.name"),
        (ModelChoice("anthropic", "", "k", "example.org"), r"model\.base_url"),
        (ModelChoice("anthropic", "", "k", "ftp://example.org"), r"model\.base_url"),
        (ModelChoice("anthropic", "", "k", "http://example.org"), r"unencrypted"),
        (ModelChoice("openai", "m", "k", "http://8.8.8.8/v1"), r"unencrypted"),
    ],
)
def test_an_invalid_configuration_is_refused_with_its_path(
    choice: ModelChoice, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider(choice, FakeClock())


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/v1",
        "http://ollama:11434/v1",
        "http://192.168.1.5/v1",
        "https://x.org/v1",
    ],
)
def test_self_hosted_servers_may_use_http(url: str) -> None:
    assert build_provider(ModelChoice("openai", "m", "k", url), FakeClock()).name == "openai"


@pytest.mark.parametrize(
    ("api", "url", "kind"),
    [
        ("auto", "", ResponsesProvider),
        ("auto", "https://eu.api.openai.com/v1", ResponsesProvider),
        ("auto", "https://api.openai.com.example.com/v1", OpenAICompatibleProvider),
        ("auto", "https://example.com/api.openai.com", OpenAICompatibleProvider),
        ("auto", "http://localhost:8080/v1", OpenAICompatibleProvider),
        ("responses", "http://localhost:8080/v1", ResponsesProvider),
        ("chat", "", OpenAICompatibleProvider),
    ],
)
def test_the_responses_api_is_for_openais_own_service(
    api: Literal["auto", "responses", "chat"], url: str, kind: type[LLMProvider]
) -> None:
    choice = ModelChoice("openai", "gpt-6.1-sol", "k", url, api=api)

    assert isinstance(_build(choice, "model"), kind)


def test_an_invalid_fallback_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"model\.fallbacks\[1\]\.api_key"):
        build_provider(
            ModelChoice(),
            FakeClock(),
            [ModelChoice("offline"), ModelChoice("anthropic")],
        )


def test_the_key_is_hidden() -> None:
    assert "secret-key" not in repr(ModelChoice("anthropic", "", "secret-key"))


def test_a_token_is_a_secret_as_a_key_is() -> None:
    for choice in (
        ModelChoice("anthropic", base_url="http://example.org", auth_token="t"),
        ModelChoice("anthropic", base_url="http://example.org", headers={"x-key": "k"}),
    ):
        assert "'t'" not in repr(choice)
        with pytest.raises(ConfigurationError, match=r"api_key|unencrypted"):
            build_provider(choice, FakeClock())
    assert build_provider(ModelChoice("anthropic", auth_token="t"), FakeClock()).name == "anthropic"
