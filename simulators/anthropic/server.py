"""A local Anthropic: the Messages API, strict about requests, with faults on demand."""

import asyncio
import itertools
import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

from simulators.anthropic import wire
from simulators.anthropic.answers import Answer, Reply, echo
from simulators.anthropic.checks import MAX_REQUEST_BYTES, Refused, check_request, invalid
from simulators.anthropic.prompt_cache import PromptCache
from simulators.anthropic.usage import count_tokens, fingerprint, prompt_of
from simulators.anthropic.web_tools import usage_of
from simulators.base import ChangeSignal, Fault, Faults
from simulators.local_server import LocalServer, hang_up

MODELS: Final[Mapping[str, int]] = {
    "claude-opus-5-5": 1_000_000,
    "claude-sonnet-5-5": 1_000_000,
    "claude-haiku-5-5": 1_000_000,
    "claude-haiku-4-5": 200_000,
}
"""Models that the simulated account may use, with their windows in tokens."""

MAX_OUTPUT_TOKENS: Final = 128_000
MAX_RECORDED: Final = 1_000


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it arrived: `size` is the body's bytes on the wire, `status` our answer."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any]
    size: int
    status: int


class AnthropicSimulator:
    """A server on loopback that the unchanged anthropic SDK talks to.

    What the model says comes from `script(...)`, one answer a request, and after that from
    `reply`, a function of the request. `windows` replaces the models' context windows. `clock`, in
    seconds, is what the prompt cache ages by.
    """

    def __init__(
        self,
        *,
        api_key: str = "test-key",
        reply: Reply = echo,
        windows: Mapping[str, int] = MODELS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.api_key = api_key
        self.reply = reply
        self.windows = dict(windows)
        self.faults = Faults()
        self.open = asyncio.Event()
        """While it is cleared, requests arrive and are not answered."""
        self.open.set()
        self.requests: deque[RecordedRequest] = deque(maxlen=MAX_RECORDED)
        self._scripted: deque[Answer | str] = deque()
        self._cache = PromptCache(clock)
        self._ids = itertools.count(1)
        self._changed = ChangeSignal()
        self._server = LocalServer()

    @property
    def base_url(self) -> str:
        """The value of the SDK's `base_url`."""
        return self._server.url

    def script(self, *answers: Answer | str) -> None:
        """Let these be the next answers, one for each request that is accepted."""
        self._scripted.extend(answers)

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        """The bodies of the requests to the model, oldest first."""
        return [call.body for call in self.requests if call.path == "/v1/messages"]

    async def wait_for_requests(self, count: int, timeout: float = 30.0) -> None:
        """Return once `count` requests have arrived. Raises TimeoutError."""
        if not await self._changed.wait_until(lambda: len(self.requests) >= count, timeout):
            raise TimeoutError(f"{len(self.requests)} of {count} requests arrived")

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        app = web.Application(client_max_size=MAX_REQUEST_BYTES + 1024 * 1024)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/messages/count_tokens", self._count_tokens)
        app.router.add_get("/v1/models", self._models)
        await self._server.start(web.AppRunner(app, access_log=None, shutdown_timeout=0.5))

    async def stop(self) -> None:
        """Close every connection; safe to call twice."""
        await self._server.stop()

    # --- endpoints ------------------------------------------------------------------------------

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, "messages")

    async def _count_tokens(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, "messages/count_tokens")

    async def _models(self, request: web.Request) -> web.StreamResponse:
        """The models of the account (https://docs.claude.com/en/api/models-list)."""
        try:
            self._authenticate(request)
        except Refused as refused:
            return self._error(refused, None)
        data = [{"type": "model", "id": name, "display_name": name} for name in self.windows]
        return self._json({"data": data, "has_more": False})

    async def _serve(self, request: web.Request, method: str) -> web.StreamResponse:
        fault = self.faults.take(method)
        if fault is not None and fault.kind == "drop_before":
            return hang_up(request)
        raw = await request.read()
        body: dict[str, Any] = {}
        try:
            self._authenticate(request)
            body = _parsed(raw)
            if fault is not None:
                _raise_fault(fault)
            body = check_request(body, counting=method != "messages")
            self._check_window(body)
        except Refused as refused:
            self._record(request, body, raw, refused.status)
            return self._error(refused, fault)
        self._record(request, body, raw, 200)
        if fault is not None and fault.kind == "drop_after":
            return hang_up(request)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.delay)
        await self.open.wait()
        if method != "messages":
            return self._json({"input_tokens": count_tokens(prompt_of(body))})
        return await self._answer(request, body, fault)

    async def _answer(
        self, request: web.Request, body: dict[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        message, blocks = self._make_answer(body)
        if not body.get("stream"):
            return self._json(wire.whole(message, blocks))
        response = web.StreamResponse(headers={"request-id": self._request_id()})
        response.content_type = "text/event-stream"
        await response.prepare(request)
        events = list(wire.events(message, blocks))
        broken_at = len(events) // 2 if fault and fault.kind in _MID_STREAM else len(events)
        try:
            await self._stream(response, events[:broken_at], fault)
        except ConnectionError:
            return response  # the client went away
        if fault is None or fault.kind not in _MID_STREAM:
            return response
        if fault.kind == "stream_error":
            await response.write(wire.sse(("error", _error_body("overloaded_error", "Overloaded"))))
            return response
        return hang_up(request)

    async def _stream(
        self, response: web.StreamResponse, events: Iterable[wire.Event], fault: Fault | None
    ) -> None:
        slow = fault is not None and fault.kind in ("slow_stream", *_MID_STREAM)
        delay = fault.delay if fault is not None and slow else 0.0
        if not delay:
            await response.write(b"".join(map(wire.sse, events)))
            return
        for event in events:
            if event[0] == "content_block_delta":
                await asyncio.sleep(delay)
            await response.write(wire.sse(event))

    # --- what is said ---------------------------------------------------------------------------

    def _make_answer(self, body: dict[str, Any]) -> tuple[dict[str, object], list[dict[str, Any]]]:
        reply = self._scripted.popleft() if self._scripted else self.reply(body)
        answer = Answer(reply) if isinstance(reply, str) else reply
        if (body.get("tool_choice") or {}).get("type") == "none" and answer.tools:
            answer = Answer(answer.text or "(no tool may be used)", thinking=answer.thinking)
        offered = {tool["name"] for tool in body.get("tools") or ()}
        if missing := {use.name for use in answer.web} - offered:
            raise AssertionError(f"the request does not offer {missing} of the scripted answer")
        blocks = wire.blocks_of(answer, self._ids, _signature(body, body["messages"]))
        prompt = self._cache.split(body)
        message: dict[str, object] = {
            "id": f"msg_{next(self._ids):012d}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "stop_reason": answer.stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": prompt.fresh,
                "cache_read_input_tokens": prompt.read,
                "cache_creation_input_tokens": prompt.written,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": prompt.written - prompt.written_hour,
                    "ephemeral_1h_input_tokens": prompt.written_hour,
                },
                "output_tokens": max(1, count_tokens(blocks)),
                **({"server_tool_use": usage_of(answer)} if answer.web else {}),
            },
        }
        return message, blocks

    # --- checks that need the server's state ----------------------------------------------------

    def _authenticate(self, request: web.Request) -> None:
        if not request.headers.get("anthropic-version"):
            raise invalid("anthropic-version: header is required")
        header = request.headers.get("Authorization", "")
        key = header.removeprefix("Bearer ") or request.headers.get("x-api-key", "")
        if not key:
            raise Refused(401, "authentication_error", "x-api-key header is required")
        if key == "disabled-key":
            raise Refused(
                403, "permission_error", "Your API key does not have permission to use this model"
            )
        if key != self.api_key:
            raise Refused(401, "authentication_error", "invalid x-api-key")

    def _check_window(self, body: Mapping[str, Any]) -> None:
        window = self.windows.get(body["model"])
        if window is None:
            raise Refused(404, "not_found_error", f"model: {body['model']}")
        if body.get("max_tokens", 0) > MAX_OUTPUT_TOKENS:
            raise invalid(
                f"max_tokens: {body['max_tokens']} > {MAX_OUTPUT_TOKENS}, which is the maximum "
                f"allowed number of output tokens for {body['model']}"
            )
        tokens = count_tokens(prompt_of(body))
        if tokens > window:
            raise invalid(f"prompt is too long: {tokens} tokens > {window} maximum")
        _check_signatures(body)

    # --- plumbing -------------------------------------------------------------------------------

    def _record(self, request: web.Request, body: object, raw: bytes, status: int) -> None:
        shown = body if isinstance(body, dict) else {}
        call = RecordedRequest(request.path, dict(request.headers), shown, len(raw), status)
        self.requests.append(call)
        self._changed.notify()

    def _request_id(self) -> str:
        return f"req_{next(self._ids):012d}"

    def _json(self, body: object, status: int = 200, **headers: str) -> web.Response:
        headers = {"request-id": self._request_id()} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return web.json_response(body, status=status, headers=headers)

    def _error(self, refused: Refused, fault: Fault | None) -> web.Response:
        headers: dict[str, str] = {}
        if fault is not None and refused.status in (429, 529):
            headers["retry_after"] = str(math.ceil(fault.retry_after))
        body = _error_body(refused.kind, refused.message) | {"request_id": self._request_id()}
        return self._json(body, refused.status, **headers)


_MID_STREAM: Final = ("broken_stream", "stream_error")


def _parsed(raw: bytes) -> Any:
    if len(raw) > MAX_REQUEST_BYTES:
        raise Refused(413, "request_too_large", "Request exceeds the maximum size")
    try:
        return json.loads(raw)
    except ValueError as error:
        raise invalid(f"The request body is not valid JSON: {error}") from None


def _raise_fault(fault: Fault) -> None:
    match fault.kind:
        case "rate_limit":
            raise Refused(
                429, "rate_limit_error", "This request would exceed your account's rate limit."
            )
        case "server_error":
            raise Refused(500, "api_error", "Internal server error")
        case "overloaded":
            raise Refused(529, "overloaded_error", "Overloaded")
        case _:
            return


def _error_body(kind: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _signature(body: Mapping[str, Any], before: object) -> str:
    """Binds a thinking block to the model and to everything that stood before it."""
    system = body.get("system")
    system = [{"type": "text", "text": system}] if isinstance(system, str) else system
    return fingerprint([body["model"], system, body.get("tools"), before])


def _check_signatures(body: Mapping[str, Any]) -> None:
    """A thinking block comes back only with the same model, system, tools and messages before."""
    messages = body["messages"]
    for index, message in enumerate(messages):
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] == "thinking" and block.get("signature") != _signature(
                body, messages[:index]
            ):
                raise invalid(
                    f"messages.{index}.content.0: `thinking` blocks cannot be replayed after the "
                    "conversation before them has changed"
                )
