"""Checks that a language model answers, with a real request for an answer of one token."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, cast

from gateway.errors import ConfigurationError, ModelError, ModelRefused
from gateway.immutable import replace
from gateway.llm.factory import single_provider
from gateway.llm.model_health import findings_of, message_of
from gateway.llm.prices import DEFAULT_PRICES, Price, cost, price_of
from gateway.policy.budgets import MICRO
from gateway.policy.model_failures import FailureKind, kind_of, said_step_of, words_of
from gateway.ports import (
    LLMProvider,
    ModelEvent,
    ModelFinding,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
)
from gateway.ports.clock import SystemClock
from gateway.text import joined, text, verbatim
from parley.config import Settings
from parley.config.sections import ModelChoiceSection
from parley.doctor.machine import CORRECT, Finding
from parley.wiring.policies import choice_of, prices_of
from safety.http.shown_address import shown_address

SECONDS: Final = 60.0
"""Time limit of the request: a local server may have to load the model first."""
LENGTHS: Final = (1, 16)
"""Lengths of the answer in tokens; some services refuse an answer that is too short."""
SLOW: Final = text(
    "Ask again: the server may have been loading the model. The program itself waits for "
    "model.first_token_seconds."
)
KEY_REFUSED: Final = text("the key is refused ({status})")
NO_MODEL: Final = text("the model {model} does not exist at {server} ({status})")
UNREACHABLE: Final = text("{server} is not reachable ({status})")
NO_ANSWER: Final = text("{model} gives no answer ({status})")
NOTHING: Final = text("Nothing needs to be done.")
_OF_MODEL: Final = re.compile(r"\bmodel\.(?!fallbacks)")
_KEY: Final[frozenset[FailureKind]] = frozenset({"key_refused"})
_UNREACHABLE: Final[frozenset[FailureKind]] = frozenset(
    {"dns", "tls", "connection_refused", "connection_failed"}
)


async def check_models(settings: Settings) -> list[Finding]:
    """The findings about the model and each of its fallbacks."""
    prices = prices_of(settings)
    choices = (settings.model, *settings.model.fallbacks)
    sections = ("model", *(f"model.fallbacks[{i}]" for i in range(len(choices) - 1)))
    checks = (check_model_fully(*each, prices) for each in zip(choices, sections, strict=True))
    results = await asyncio.gather(*checks)
    return [finding for findings in results for finding in findings]


async def check_model(choice: ModelChoiceSection) -> Finding:
    """The result of the request to one model."""
    return (await check_model_fully(choice, "model", DEFAULT_PRICES))[0]


async def check_model_fully(
    choice: ModelChoiceSection, section: str, prices: Mapping[str, Price]
) -> list[Finding]:
    """The result of the request, then what the provider found out about the server."""
    name = f"{section}: {choice.provider}"
    if choice.provider == "offline":
        advice = text("Set ANTHROPIC_API_KEY, or model.provider and model.api_key.")
        return [Finding("note", name, text("no language model is configured"), advice)]
    try:
        provider = single_provider(choice_of(choice))
    except ConfigurationError as error:
        return [Finding("broken", name, str(error), CORRECT)]
    try:
        result = await _result(name, choice, provider, prices)
        found = [_of_server(name, one) for one in findings_of(provider)]
    finally:
        await provider.close()
    if choice.timeout is not None:
        detail = text("{key} is the former name of two limits", key=verbatim(f"{section}.timeout"))
        advice = text("Set model.first_token_seconds and model.between_tokens_seconds instead.")
        found.append(Finding("note", name, detail, advice))
    return [_in_section(one, section) for one in (result, *found)]


def _in_section(finding: Finding, section: str) -> Finding:
    """Name the settings of the section `model` as those of this model."""
    if section == "model":
        return finding
    return replace(finding, step=_OF_MODEL.sub(f"{section}.", finding.advice))


async def _result(
    name: str, choice: ModelChoiceSection, provider: LLMProvider, prices: Mapping[str, Price]
) -> Finding:
    clock = SystemClock()
    began = clock.monotonic()
    try:
        async with asyncio.timeout(SECONDS):
            finished = await _ask(provider)
    except TimeoutError:
        detail = text(
            "{model} did not answer within {seconds} s",
            model=verbatim(choice_of(choice).model),
            seconds=int(SECONDS),
        )
        return Finding("broken", name, detail, SLOW, "no_first_token")
    except ModelError as error:
        return _failed(name, choice, error)
    seconds = clock.monotonic() - began
    used, price = finished.usage, price_of(finished.model, prices)
    tokens = used.input_tokens + used.cache_read_tokens + used.cache_write_tokens
    amount = "" if price is None else f", ${cost(used, price) / MICRO:.6f}"
    paid = text(
        "{sent} + {written} tokens{amount}",
        sent=verbatim(str(tokens)),
        written=verbatim(str(used.output_tokens)),
        amount=verbatim(amount),
    )
    detail = text(
        "{model} answers, in {seconds} s (cost: {cost})",
        model=verbatim(finished.model),
        seconds=verbatim(f"{seconds:.1f}"),
        cost=paid,
    )
    return Finding("ok", name, detail)


async def _ask(provider: LLMProvider) -> ModelFinished:
    """Return an answer of one token, or of the least that the service gives. Raises
    `ModelError`."""
    message = ModelMessage("user", (TextBlock("Hello"),))
    for length in LENGTHS:
        request = ModelRequest("Answer with one word.", (message,), max_tokens=length)
        stream = cast("AsyncGenerator[ModelEvent, None]", provider.stream(request))
        try:
            async with aclosing(stream) as events:
                async for event in events:
                    if isinstance(event, ModelFinished):
                        return event
        except ModelRefused as error:
            if error.status not in (400, 422) or length == LENGTHS[-1]:
                raise
    raise ModelError("the answer ended without a final event")


def _failed(name: str, choice: ModelChoiceSection, error: ModelError) -> Finding:
    kind, model = kind_of(error), choice_of(choice)
    status = verbatim(f"HTTP {error.status}") if error.status else words_of(kind)
    server = verbatim(model.server)
    if kind in _KEY:
        detail = KEY_REFUSED.of(status=status)
    elif kind == "not_found":
        detail = NO_MODEL.of(model=verbatim(model.model), server=server, status=status)
    elif kind in _UNREACHABLE:
        detail = UNREACHABLE.of(server=server, status=status)
    else:
        detail = NO_ANSWER.of(model=verbatim(model.model), status=status)
    secrets = (model.api_key,) if model.api_key else ()
    request = f", request {error.request_id[:100]}" if error.request_id else ""
    message = shown_address(message_of(error, secrets)).rstrip(".")
    said = joined((detail, verbatim(f": {message}{request}")))
    return Finding("broken", name, said, joined((said_step_of(kind), verbatim("."))), kind)


def _of_server(name: str, finding: ModelFinding) -> Finding:
    setting = verbatim(finding.setting)
    advice = text("Setting: {setting}", setting=setting) if setting else NOTHING
    return Finding("note", name, finding.text.rstrip("."), advice)
