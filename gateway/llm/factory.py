"""Builds the configured language model."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError
from gateway.llm import openai_compatible
from gateway.llm.anthropic import provider as anthropic
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.chat_completions.limits import Part
from gateway.llm.failover import FailoverProvider
from gateway.llm.offline import OfflineProvider
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.llm.responses.provider import ResponsesProvider
from gateway.ports import Clock, LLMProvider

PROVIDERS: Final = ("offline", "anthropic", "openai")
MAX_FALLBACKS: Final = 4


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model: the keys of `model` and of each entry of `model.fallbacks`.

    Empty `name` and `base_url` are the provider's own; `openai` needs a name. `timeout` is the
    longest silence of the service in seconds, 0 for the provider's own. `api` chooses between the
    two of `openai`. `without` are parts of a request that an OpenAI-compatible server does not
    take. `auth_token` (used instead of `api_key`), `headers` and `web` are for `anthropic`.
    """

    provider: str = "offline"
    name: str = ""
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 0.0
    auth_token: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    web: bool = False
    api: Literal["auto", "responses", "chat"] = "auto"
    without: tuple[Part, ...] = ()


def build_provider(
    choice: ModelChoice, clock: Clock, fallbacks: Sequence[ModelChoice] = ()
) -> LLMProvider:
    """Build the configured model with its fallbacks. Raises `ConfigurationError`."""
    if len(fallbacks) > MAX_FALLBACKS:
        raise ConfigurationError(f"model.fallbacks: at most {MAX_FALLBACKS}")
    providers = [_build(choice, "model")]
    providers += [_build(each, f"model.fallbacks[{i}]") for i, each in enumerate(fallbacks)]
    if len(providers) == 1 and choice.provider == "offline":
        return providers[0]
    return FailoverProvider(providers, clock)


def _build(choice: ModelChoice, where: str) -> LLMProvider:
    _check_url(choice, where)
    match choice.provider:
        case "offline":
            return OfflineProvider()
        case "anthropic":
            if not (choice.api_key or choice.auth_token):
                raise ConfigurationError(
                    f'{where}.api_key: is empty. Write "${{ANTHROPIC_API_KEY}}" and set that '
                    f'variable, or {where}.provider: "offline"'
                )
            return AnthropicProvider(
                choice.api_key,
                choice.name,
                choice.base_url,
                auth_token=choice.auth_token,
                headers=choice.headers,
                web=choice.web,
                silence_seconds=choice.timeout or anthropic.SILENCE_SECONDS,
            )
        case "openai":
            if not choice.name:
                raise ConfigurationError(f"{where}.name: write the name of the model to use")
            silence = choice.timeout or openai_compatible.SILENCE_SECONDS
            place = choice.api_key, choice.name, choice.base_url
            if _by_responses(choice):
                return ResponsesProvider(*place, silence_seconds=silence)
            return OpenAICompatibleProvider(*place, silence_seconds=silence, without=choice.without)
        case other:
            raise ConfigurationError(
                f"{where}.provider: {other!r} is not one of {', '.join(PROVIDERS)}"
            )


def _by_responses(choice: ModelChoice) -> bool:
    """Return True for OpenAI's own service, in all of its regions, unless the other API is set."""
    if choice.api != "auto":
        return choice.api == "responses"
    host = urlsplit(choice.base_url or openai_compatible.DEFAULT_BASE_URL).hostname or ""
    return f".{host}".endswith(".api.openai.com")


def _check_url(choice: ModelChoice, where: str) -> None:
    """Refuse to send a key unencrypted, except to this machine or a private network."""
    if not choice.base_url:
        return
    parts = urlsplit(choice.base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{where}.base_url: write a URL that begins with https://")
    secret = choice.api_key or choice.auth_token or choice.headers
    if parts.scheme == "http" and secret and not _is_private(parts.hostname):
        raise ConfigurationError(
            f"{where}.base_url: would send the key unencrypted over the internet; use https://"
        )


def _is_private(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".localhost"))
