"""Claude, through Anthropic's own library.

The library costs two seconds and 40 MB to import, so it is loaded on first use, in a thread. Its
own retries are off: `FailoverProvider` is the one place that tries again.
"""

import re
from collections.abc import AsyncIterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from gateway.llm.anthropic_format import AnswerReader, to_body
from gateway.llm.sdk import CONNECT_SECONDS, MAX_REASON, LazyClient, retry_after
from gateway.ports import ModelEvent, ModelRequest, TextDelta

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

DEFAULT_MODEL: Final = "claude-sonnet-5-5"
DEFAULT_BASE_URL: Final = "https://api.anthropic.com"
SILENCE_SECONDS: Final = 60.0
"""How long the service may say nothing in the middle of an answer; it pings while it thinks."""

_TOO_LONG: Final = re.compile(r"(?<!\d)(\d{1,12}) tokens > (\d{1,12}) maximum")
_PASSING: Final = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})


class AnthropicProvider:
    """The Messages API. `model` is used where a request names none."""

    name = "anthropic"

    def __init__(
        self,
        api_key: str,
        model: str = DEFAULT_MODEL,
        base_url: str = DEFAULT_BASE_URL,
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self._api_key = api_key
        self._model = model or DEFAULT_MODEL
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
        try:
            events: Any = await client.messages.create(**to_body(request, model), stream=True)
            async with events:
                async for event in events:
                    text = reader.feed(event.model_dump())
                    if text:
                        yield TextDelta(text)
        except Exception as error:
            raise _model_error(error, sdk) from error
        yield reader.finish()

    async def close(self) -> None:
        """Close the connections; the provider may be used again afterwards."""
        await self._client.close()

    def _make_client(self) -> "tuple[ModuleType, AsyncAnthropic]":
        import anthropic  # noqa: PLC0415 - costs two seconds, see above

        client = anthropic.AsyncAnthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            timeout=anthropic.Timeout(self._silence, connect=CONNECT_SECONDS),
        )
        return anthropic, client


def _model_error(error: Exception, sdk: Any) -> ModelError:
    """What an exception of the library means for us."""
    if isinstance(error, ModelError):
        return error
    if not isinstance(error, sdk.APIStatusError):
        # No connection, a time-out, a broken stream or an unreadable one: httpx2's own errors
        # come through as they are once the answer has begun.
        return ModelUnavailable(f"no answer from Anthropic: {type(error).__name__}")
    kind, message = _said(error.body, str(error))
    reason = f"Anthropic says {error.status_code} {kind}: {message}"[:MAX_REASON]
    if error.status_code == 413 or "prompt is too long" in message:
        figures = _TOO_LONG.search(message)
        tokens, limit = map(int, figures.groups()) if figures else (None, None)
        return ContextTooLong(reason, tokens, limit)
    if error.status_code in (408, 409, 429) or error.status_code >= 500 or kind in _PASSING:
        return ModelUnavailable(reason, retry_after(error.response.headers.get("retry-after")))
    return ModelRefused(reason)


def _said(body: object, otherwise: str) -> tuple[str, str]:
    """Type and message of the error in a response's body."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return "", otherwise
    return str(error.get("type") or ""), str(error.get("message") or otherwise)
