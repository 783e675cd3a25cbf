"""Builds the configured language model."""

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError
from gateway.llm import openai_compatible
from gateway.llm.anthropic import provider as anthropic
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.chat_completions.limits import Part
from gateway.llm.failover import FailoverProvider
from gateway.llm.known_windows import KnownWindows
from gateway.llm.model_health import ModelHealth, WatchedModel, WatchedProvider
from gateway.llm.offline import OfflineProvider
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.llm.responses import ResponsesProvider
from gateway.ports import Clock, LLMProvider, ModelFinished
from gateway.ports.model import BETWEEN_TOKENS_SECONDS, FIRST_TOKEN_SECONDS, TimeLimits
from safety.http.shown_address import shown_address

PROVIDERS: Final = ("offline", "anthropic", "openai")
MAX_FALLBACKS: Final = 4


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model: the keys of `model` and of each entry of `model.fallbacks`.

    Empty `name` and `base_url` are the provider's own; `openai` needs a name. The limits are the
    seconds until anything of an answer arrives, and between two things that arrive. `window` is in
    tokens. `api` chooses between the two of `openai`. `without` are parts of a request that an
    OpenAI-compatible server does not take. `pdf`: it takes PDFs; None for what is known of it.
    `auth_token` (used instead of `api_key`), `headers` and `web` are for `anthropic`.
    """

    provider: str = "offline"
    name: str = ""
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    first_token_seconds: float = FIRST_TOKEN_SECONDS
    between_tokens_seconds: float = BETWEEN_TOKENS_SECONDS
    window: int = 200_000
    auth_token: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    web: bool = False
    api: Literal["auto", "responses", "chat"] = "auto"
    without: tuple[Part, ...] = ()
    pdf: bool | None = None

    @property
    def model(self) -> str:
        """The name of the model."""
        if self.provider == "anthropic":
            return self.name or anthropic.DEFAULT_MODEL
        return self.name or self.provider

    @property
    def server(self) -> str:
        """The address as people may see it; empty for none."""
        own = {
            "anthropic": anthropic.DEFAULT_BASE_URL,
            "openai": openai_compatible.DEFAULT_BASE_URL,
        }
        return shown_address(self.base_url or own.get(self.provider, ""))


def build_provider(
    choice: ModelChoice,
    clock: Clock,
    fallbacks: Sequence[ModelChoice] = (),
    windows: KnownWindows | None = None,
    health: ModelHealth | None = None,
    cost: Callable[[ModelFinished], int] = lambda _: 0,
) -> LLMProvider:
    """Build the configured model with its fallbacks, which tell `windows` what they learn. `health`
    learns of each call, and `cost` is that of an answer in millionths of a dollar. Raises
    `ConfigurationError`."""
    if len(fallbacks) > MAX_FALLBACKS:
        raise ConfigurationError(f"model.fallbacks: at most {MAX_FALLBACKS}")
    health = health or ModelHealth(clock)

    def watched(one: ModelChoice, where: str) -> LLMProvider:
        return WatchedProvider(_build(one, where), _watched_model(one, where), health, clock, cost)

    providers = [watched(choice, "model")]
    providers += [watched(each, f"model.fallbacks[{i}]") for i, each in enumerate(fallbacks)]
    if len(providers) == 1 and choice.provider == "offline":
        return providers[0]
    return FailoverProvider(providers, clock, windows=windows)


def single_provider(choice: ModelChoice) -> LLMProvider:
    """Build one model that is neither retried nor watched, for a check. Raises
    `ConfigurationError`."""
    return _build(choice, "model")


def _watched_model(choice: ModelChoice, where: str) -> WatchedModel:
    limits = TimeLimits(choice.first_token_seconds, choice.between_tokens_seconds)
    secrets = tuple(filter(None, (choice.api_key, choice.auth_token, *choice.headers.values())))
    return WatchedModel(choice.model, choice.server, limits, secrets, where)


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
                pdf=choice.pdf is not False,
            )
        case "openai":
            if not choice.name:
                raise ConfigurationError(f"{where}.name: write the name of the model to use")
            place = choice.api_key, choice.name, choice.base_url
            of_openai = _is_openai(choice)
            pdf = of_openai if choice.pdf is None else choice.pdf
            if choice.api == "responses" or (choice.api == "auto" and of_openai):
                return ResponsesProvider(*place, pdf=pdf)
            without = choice.without if pdf else (*choice.without, "pdf")
            return OpenAICompatibleProvider(*place, without=without)
        case other:
            raise ConfigurationError(
                f"{where}.provider: {other!r} is not one of {', '.join(PROVIDERS)}"
            )


def _is_openai(choice: ModelChoice) -> bool:
    """Return True for OpenAI's own service, in all of its regions."""
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
