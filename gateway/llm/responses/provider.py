"""OpenAI's own service by its Responses API, in which reasoning models take tools."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm.chat_completions.refusal import refusal_of
from gateway.llm.event_stream import ServerSentEvent
from gateway.llm.openai_compatible import DEFAULT_BASE_URL, headers, translated
from gateway.llm.plainer_call import PlainerCall
from gateway.llm.responses.reader import ResponsesReader
from gateway.llm.responses.request import to_body
from gateway.llm.streamed_call import Call, ServiceError, StreamingProvider, cause_of, read_object
from gateway.ports import ModelFinished, ModelMessage, ModelRequest, Usage
from safety.http.shown_address import shown_address

_REFUSED: Final = frozenset(("invalid_prompt", "content_filter", "bio_policy"))
_INCLUDE: Final = re.compile(r"encrypted|\binclude\b")
MAX_PLAIN: Final = 100
"""Models whose reasoning is not asked for, at most."""
_VIOLATION: Final = "policy_violation"
"""The end of the codes of a content policy."""


class ResponsesProvider(StreamingProvider):
    """The Responses API."""

    name = "openai"
    path = "responses"

    def __init__(self, api_key: str, model: str, base_url: str = DEFAULT_BASE_URL) -> None:
        base_url = base_url or DEFAULT_BASE_URL
        self._address = shown_address(base_url)
        self.plain: set[str] = set()
        super().__init__(headers(api_key), model, base_url, self.written)

    def call(self, request: ModelRequest, model: str) -> Call:
        return _ResponsesCall(self, request, model, self.plain)

    def written(self, request: ModelRequest, model: str) -> dict[str, Any]:
        """Return the body of a request. The models in `plain` have no encrypted reasoning."""
        maker = f"{self._address} {model}"
        return to_body(request, model, maker, encrypted=model not in self.plain)

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


class _ResponsesCall(PlainerCall):
    """One call. `plain` are the models that refused encrypted reasoning."""

    def __init__(
        self, provider: ResponsesProvider, request: ModelRequest, model: str, plain: set[str]
    ) -> None:
        super().__init__(provider, request, model)
        self._plain = plain

    def adapts(self, error: Exception) -> bool:
        if super().adapts(error):
            return True
        if not isinstance(error, ServiceError) or error.status not in (400, 422):
            return False
        refusal = refusal_of(error.status, error.body)
        about = " ".join((refusal.words, *refusal.places)).lower()
        if self.model in self._plain or len(self._plain) >= MAX_PLAIN or not _INCLUDE.search(about):
            return False
        self._plain.add(self.model)
        return True

    def ends(self, error: Exception) -> ModelFinished | None:
        """A request that the content policy refuses is an answer without text."""
        body = error.body if isinstance(error, ServiceError) else None
        inner = body.get("error") if isinstance(body, Mapping) else None
        code = str(inner.get("code") or "") if isinstance(inner, Mapping) else ""
        if code in _REFUSED or code.endswith(_VIOLATION):
            return ModelFinished(ModelMessage("assistant", ()), "filtered", Usage(), self.model)
        return None
