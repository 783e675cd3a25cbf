"""Checks that a language model's service accepts the key and knows the model, without cost."""

from collections.abc import Mapping
from typing import Final

import httpx2
from msgspec import Struct

from gateway.llm import openai_compatible
from gateway.llm.anthropic.provider import DEFAULT_BASE_URL
from parley.config import Settings
from parley.config.sections import ModelChoice
from parley.maintenance.checks import Finding
from parley.wiring.policies import model_name
from safety.http.shown_address import shown_address

SECONDS: Final = 10.0
API_VERSION: Final = "2026-10-21"
"""Of Anthropic's service; its library, which has it as well, takes two seconds to load."""


class _Request(Struct, frozen=True):
    method: str
    base: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object] | None = None


async def check_models(settings: Settings) -> list[Finding]:
    """One finding for the model and each of its fallbacks."""
    choices = (settings.model, *settings.model.fallbacks)
    return [await check_model(choice) for choice in choices]


async def check_model(choice: ModelChoice) -> Finding:
    """The service of one model: reachable, the key accepted, the model known."""
    name = f"model: {choice.provider}"
    if choice.provider == "offline":
        advice = "Set ANTHROPIC_API_KEY, or model.provider and model.api_key."
        return Finding("note", name, "no language model is configured", advice)
    request = _anthropic(choice) if choice.provider == "anthropic" else _openai(choice)
    url = f"{request.base.rstrip('/')}/{request.path}"
    try:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            # The body says nothing more, and is not read: it could be of any size.
            call = client.stream(request.method, url, headers=request.headers, json=request.body)
            async with call as answer:
                status = answer.status_code
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        detail = f"{shown_address(request.base)} is not reachable ({type(error).__name__})"
        return Finding("broken", name, detail, "Check the network and model.base_url.")
    return _finding(name, model_name(choice), status)


def _anthropic(choice: ModelChoice) -> _Request:
    """Counting tokens checks the key and the model, and is free."""
    message = {"role": "user", "content": "hello"}
    body = {"model": model_name(choice), "messages": [message]}
    base = choice.base_url or DEFAULT_BASE_URL
    token = choice.auth_token.get_secret_value() if choice.auth_token else _key(choice)
    headers = {"Authorization": f"Bearer {token}", "anthropic-version": API_VERSION}
    headers |= {name: value.get_secret_value() for name, value in choice.headers.items()}
    return _Request("POST", base, "v1/messages/count_tokens", headers, body)


def _openai(choice: ModelChoice) -> _Request:
    base = choice.base_url or openai_compatible.DEFAULT_BASE_URL
    return _Request("GET", base, "models", openai_compatible.headers(_key(choice)))


def _key(choice: ModelChoice) -> str:
    return choice.api_key.get_secret_value() if choice.api_key else ""


def _finding(name: str, model: str, status: int) -> Finding:
    if status in {401, 403}:
        advice = "Create a new key and set it as model.api_key."
        return Finding("broken", name, f"the key is refused (HTTP {status})", advice)
    if status == 404 and name.endswith("anthropic"):
        return Finding("broken", name, f"the model {model} does not exist", "Correct model.name.")
    if status == 200:
        return Finding("ok", name, f"the key is accepted, for {model}")
    advice = "Try again later; if the error persists, check model.base_url."
    return Finding("note", name, f"the service answers with HTTP {status}", advice)
