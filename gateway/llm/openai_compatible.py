"""Any service with OpenAI's chat completions: OpenAI, vLLM, Ollama, LM Studio, proxies."""

import json
import os
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.chat_completions.knowledge import ServerKnowledge
from gateway.llm.chat_completions.limits import Part, ServerLimits
from gateway.llm.chat_completions.reader import DONE as DONE_EVENT
from gateway.llm.chat_completions.reader import END as END_EVENT
from gateway.llm.chat_completions.reader import CompletionsReader
from gateway.llm.chat_completions.refusal import Adapted, adapted, refusal_of
from gateway.llm.chat_completions.request import to_body
from gateway.llm.event_stream import DONE, END, AnswerBody, ServerSentEvent
from gateway.llm.evidence import is_of_written_call, repeats
from gateway.llm.overflow import context_too_long
from gateway.llm.streamed_call import (
    MAX_REASON,
    AnswerReader,
    ServiceError,
    StreamedCall,
    StreamingProvider,
    cause_of,
    read_object,
    retry_after,
    with_headers_of,
)
from gateway.ports import ModelFinding, ModelFinished, ModelMessage, ModelRequest, Usage
from gateway.ports.model import LONG_REQUEST
from safety.http.shown_address import shown_address

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
FIRST_HELD: Final = 4_000
"""Characters of the first answer of a model that are held back, because they can be reasoning whose
opening tag is in the prompt of the server."""
_OF_ACCOUNT: Final = {
    "OpenAI-Organization": "OPENAI_ORG_ID",
    "OpenAI-Project": "OPENAI_PROJECT_ID",
}
_PASSING: Final = frozenset((408, 409, 429))
_FILTERED: Final = frozenset(
    ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation",
     "data_inspection_failed", "DataInspectionFailed", "moderation_blocked", "1301")
)  # fmt: skip
_RISKY: Final = re.compile(
    r"content exists risk|considered high risk|may contain (?:inappropriate|unsafe) content"
    r"|violates? (?:our |the )?(?:usage|content|safety) (?:guideline|polic)|不安全或敏感内容",
    re.IGNORECASE,
)
"""The words of DeepSeek, Moonshot, Alibaba, xAI and Zhipu for a content filter."""


def headers(api_key: str) -> Mapping[str, str]:
    """Return the key, if there is one, and what the variables of OpenAI's library add:
    `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS`."""
    key = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    result = with_headers_of("OPENAI_CUSTOM_HEADERS", key)
    for name, variable in _OF_ACCOUNT.items():
        if value := os.environ.get(variable):
            result[name] = value
    return result


class OpenAICompatibleProvider(StreamingProvider):
    """Chat completions. Implements `CanReportFindings`.

    `without` are the parts of a request that the server is known not to take; the others are found
    by its refusals, once for each model.
    """

    name = "openai"
    path = "chat/completions"

    def __init__(
        self,
        api_key: str,
        model: str,
        base_url: str = DEFAULT_BASE_URL,
        *,
        without: Collection[Part] = (),
    ) -> None:
        base_url = base_url or DEFAULT_BASE_URL
        at_openai = "api.openai.com" in base_url
        self._length = "max_completion_tokens" if at_openai else "max_tokens"
        self._address = shown_address(base_url)
        held = 0 if at_openai else FIRST_HELD
        self._knowledge = ServerKnowledge(self._address, ServerLimits(frozenset(without)), held)
        super().__init__(headers(api_key), model, base_url, self.known_body)

    def findings(self) -> tuple[ModelFinding, ...]:
        """Return the limits of the server that were found."""
        return self._knowledge.findings

    def call(self, request: ModelRequest, model: str) -> "ChatCall":
        return ChatCall(self, request, model, self._knowledge)

    def known_body(
        self, request: ModelRequest, model: str, limits: ServerLimits | None = None
    ) -> dict[str, Any]:
        """Return the body of a request within the limits, by default the known ones."""
        limits = limits or self._knowledge.limits(model)
        return to_body(request, model, limits, self._maker(model), self._length)

    def reader(self, request: ModelRequest, model: str) -> CompletionsReader:
        dialect = self._knowledge.dialect(model)
        return CompletionsReader(model, request, self._maker(model), dialect)

    def decoder(self) -> AnswerBody:
        return AnswerBody()

    def event_of(self, event: ServerSentEvent) -> Mapping[str, Any] | None:
        name, data = event
        if data is END:
            return END_EVENT
        if data[:1] != b"{":
            data = data.strip()
            if not data:
                return None
            if data.strip(b'"').upper() in (DONE, b"DONE"):
                return DONE_EVENT
            if data[:1] not in (b"{", b"["):
                if name == b"error":
                    raise ServiceError(200, data.decode("utf-8", "replace"))
                return None  # words that keep the connection open
        content = read_object(data)
        if name == b"error":
            raise ServiceError(200, content)
        return content

    def translate(self, error: Exception) -> ModelError:
        if not isinstance(error, ServiceError):
            return ModelUnavailable(f"no answer from the model's server: {cause_of(error)}")
        return translated(error)

    def _maker(self, model: str) -> str:
        return f"{self._address} {model}"


class ChatCall(StreamedCall):
    """One call, with the parts of the request that the server refused during it."""

    def __init__(
        self,
        provider: OpenAICompatibleProvider,
        request: ModelRequest,
        model: str,
        knowledge: ServerKnowledge,
    ) -> None:
        super().__init__(provider, request, model)
        self._chat = provider
        self._knowledge = knowledge
        self._limits = knowledge.limits(model)
        self._found: list[tuple[Adapted, str]] = []
        self._sent: Mapping[str, Any] = {}
        self._again = False

    def body(self) -> dict[str, Any]:
        self._sent = body = self._chat.known_body(self.request, self.model, self._limits)
        return body

    def adapts(self, error: Exception) -> bool:
        if not isinstance(error, ServiceError):
            return False
        status = error_parts(error)[0]
        refusal = refusal_of(status, error.body)
        if is_of_written_call(refusal.words) and not self._again:
            self._again = True
            return True
        if isinstance(self._chat.translate(error), ContextTooLong) or is_filtered(error):
            return False
        if self._knowledge.is_hopeless(self.model, refusal):
            return False
        found = adapted(refusal, self._sent, self._limits)
        if found is None:
            if any(before.unknown for before, _ in self._found):
                self._knowledge.give_up(self.model, refusal)
            return False
        request = self.request
        if found.unknown and request.settled and request.tokens >= LONG_REQUEST:
            return False  # the turn first tries it without the history
        if repeats(refusal.words, request):
            found = replace(found, once=True)
        self._limits = found.joined_to(self._limits)
        self._found.append((found, refusal.words))
        return True

    def ends(self, error: Exception) -> ModelFinished | None:
        if not isinstance(error, ServiceError) or not is_filtered(error):
            return None
        return ModelFinished(ModelMessage("assistant", ()), "filtered", Usage(), self.model)

    def answered(self, reader: AnswerReader) -> None:
        self._knowledge.learn(self.model, self._found)
        if isinstance(reader, CompletionsReader):
            self._knowledge.heard(self.model, headless=reader.headless)


def translated(error: ServiceError) -> ModelError:
    """Translate an error that the server sent."""
    status, code, message = error_parts(error)
    reason = f"the model's server says {status}: {message}"[:MAX_REASON]
    about: dict[str, Any] = {"status": status, "request_id": error.request_id}
    outer = None if error.status == 200 else error.status
    if (too_long := context_too_long(reason, outer, error.body, "", error.request_id)) is not None:
        return too_long
    if code == "insufficient_quota":
        return ModelRefused(f"{reason} ({code})", **about)
    passes = status in _PASSING or status >= 500 or status == 200
    if passes or is_of_written_call(f"{code} {message}".lower()):
        return ModelUnavailable(reason, retry_after(error.retry_after), **about)
    return ModelRefused(reason, **about)


def is_filtered(error: ServiceError) -> bool:
    """Return True if a content filter refused the request."""
    status, code, message = error_parts(error)
    body = error.body.get("error") if isinstance(error.body, Mapping) else None
    kind = body.get("type") if isinstance(body, Mapping) else None
    named = code in _FILTERED or kind in _FILTERED
    return named or (status in (200, 400, 403) and bool(_RISKY.search(message)))


def error_parts(error: ServiceError) -> tuple[int, str, str]:
    """Return status, code and message of an error. Within an answer, whose status is 200, the error
    can name another one."""
    body = error.body[0] if isinstance(error.body, list) and error.body else error.body
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(inner, Mapping):
        return error.status, "", str(inner) if inner else str(error)
    code, kind = inner.get("code"), str(inner.get("type") or "")
    status = error.status
    if status == 200:
        named = (str(code), str(inner.get("status")))
        status = next((int(n) for n in named if re.fullmatch(r"[45]\d\d", n)), status)
        status = 400 if status == 200 and kind.startswith("invalid_request") else status
    told = (inner.get(name) for name in ("message", "msg", "detail", "error_msg", "error"))
    messages = [text for text in told if isinstance(text, str) and text]
    message = messages[0] if messages else json.dumps(inner)[:MAX_REASON]
    return status, str(code or ""), message
