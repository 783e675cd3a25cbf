"""Any service that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, LM Studio, proxies.

The library is the optional extra `openai`; it is loaded on first use, in a thread, and its own
retries are off, as with Anthropic.
"""

import importlib.util
import re
from collections.abc import AsyncIterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from gateway.errors import (
    ConfigurationError,
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from gateway.llm.openai_format import AnswerReader, to_body
from gateway.llm.sdk import CONNECT_SECONDS, MAX_REASON, LazyClient, retry_after
from gateway.ports import ModelEvent, ModelRequest, TextDelta

if TYPE_CHECKING:
    from openai import AsyncOpenAI

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
SILENCE_SECONDS: Final = 120.0
"""Longer than Anthropic's: servers at home load a model first, and send no pings."""

_FIGURES: Final = re.compile(
    r"maximum context length is (\d{1,12})(?!\d).{0,200}?(?<!\d)(\d{1,12})\s{0,4}tokens", re.DOTALL
)


class OpenAICompatibleProvider:
    """Chat completions. `model` is used where a request names none.

    Raises `ConfigurationError` when the library is not installed.
    """

    name = "openai"

    def __init__(
        self,
        api_key: str,
        model: str,
        base_url: str = DEFAULT_BASE_URL,
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        if importlib.util.find_spec("openai") is None:
            raise ConfigurationError(
                'model.provider: "openai" needs a library that is not installed. '
                'Install it beside Parley with: pip install "openai>=3.52,<4"'
            )
        self._api_key = api_key or "none"  # servers at home ask for no key, the library does
        self._model = model
        self._base_url = base_url or DEFAULT_BASE_URL
        self._silence = silence_seconds
        self._client = LazyClient(self._make_client)

    async def warm(self) -> None:
        """Load the library now, so that the first question does not wait for it."""
        await self._client.loaded()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call. Raises `ModelUnavailable`, `ModelRefused` or `ContextTooLong`."""
        sdk, client = await self._client.loaded()
        model = request.model or self._model
        reader = AnswerReader(model)
        at_openai = "api.openai.com" in self._base_url
        body = to_body(request, model, "max_completion_tokens" if at_openai else "max_tokens")
        try:
            chunks: Any = await client.chat.completions.create(**body, stream=True)
            async with chunks:
                async for chunk in chunks:
                    text = reader.feed(chunk.model_dump())
                    if text:
                        yield TextDelta(text)
        except Exception as error:
            raise _model_error(error, sdk) from error
        yield reader.finish()

    async def close(self) -> None:
        """Close the connections; the provider may be used again afterwards."""
        await self._client.close()

    def _make_client(self) -> "tuple[ModuleType, AsyncOpenAI]":
        import openai  # noqa: PLC0415 - slow to import, and optional

        client = openai.AsyncOpenAI(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            timeout=openai.Timeout(self._silence, connect=CONNECT_SECONDS),
        )
        return openai, client


def _model_error(error: Exception, sdk: Any) -> ModelError:
    if isinstance(error, ModelError):
        return error
    if not isinstance(error, sdk.APIStatusError):
        return ModelUnavailable(f"no answer from the model's server: {type(error).__name__}")
    reason = f"the model's server says {error.status_code}: {error.message}"[:MAX_REASON]
    if error.code == "context_length_exceeded" or "maximum context length" in error.message:
        figures = _FIGURES.search(error.message)
        limit, tokens = map(int, figures.groups()) if figures else (None, None)
        return ContextTooLong(reason, tokens, limit)
    if error.status_code == 413:
        return ContextTooLong(reason)
    if error.code == "insufficient_quota":
        return ModelRefused(reason)
    if error.status_code in (408, 409, 429) or error.status_code >= 500:
        return ModelUnavailable(reason, retry_after(error.response.headers.get("retry-after")))
    return ModelRefused(reason)
