"""OpenAI's own service by its Responses API, in which reasoning models take tools."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm.event_stream import ServerSentEvent
from gateway.llm.openai_compatible import DEFAULT_BASE_URL, headers, translated
from gateway.llm.responses.reader import ResponsesReader
from gateway.llm.responses.request import to_body
from gateway.llm.streamed_call import Call, ServiceError, StreamingProvider, cause_of, read_object
from gateway.ports import ModelFinished, ModelMessage, ModelRequest, Usage
from safety.http.shown_address import shown_address

_REFUSED: Final = frozenset(("invalid_prompt", "content_filter", "bio_policy"))
_VIOLATION: Final = "policy_violation"
"""The end of the codes of a content policy."""


class ResponsesProvider(StreamingProvider):
    """The Responses API."""

    name = "openai"
    path = "responses"

    def __init__(self, api_key: str, model: str, base_url: str = DEFAULT_BASE_URL) -> None:
        base_url = base_url or DEFAULT_BASE_URL
        self._address = shown_address(base_url)
        super().__init__(headers(api_key), model, base_url, self.written)

    def call(self, request: ModelRequest, model: str) -> Call:
        return _ResponsesCall(self, request, model)

    def written(self, request: ModelRequest, model: str) -> dict[str, Any]:
        """Return the body of a request."""
        return to_body(request, model, f"{self._address} {model}")

    def reader(self, request: ModelRequest, model: str) -> ResponsesReader:
        return ResponsesReader(model, f"{self._address} {model}")

    def event_of(self, event: ServerSentEvent) -> Mapping[str, Any] | None:
        if not event.data.startswith(b"{"):
            return None
        content = read_object(event.data)
        match content.get("type"):
            case "error":
                raise ServiceError(200, {"error": content.get("error") or content})
            case "response.failed":
                raise ServiceError(200, {"error": content["response"].get("error") or {}})
        return content

    def translate(self, error: Exception) -> ModelError:
        if not isinstance(error, ServiceError):
            return ModelUnavailable(f"no answer from the model's server: {cause_of(error)}")
        return translated(error)


class _ResponsesCall(Call):
    def ends(self, error: Exception) -> ModelFinished | None:
        """A request that the content policy refuses is an answer without text."""
        body = error.body if isinstance(error, ServiceError) else None
        inner = body.get("error") if isinstance(body, Mapping) else None
        code = str(inner.get("code") or "") if isinstance(inner, Mapping) else ""
        if code in _REFUSED or code.endswith(_VIOLATION):
            return ModelFinished(ModelMessage("assistant", ()), "filtered", Usage(), self.model)
        return None
