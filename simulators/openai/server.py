"""A local server that speaks chat completions and the Responses API, as far as an assistant needs
them.

Answers are scripted as for the Anthropic simulator, which also says what an `Answer` is.
"""

import asyncio
import itertools
import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from aiohttp import web

from simulators.anthropic.answers import Answer, without_time
from simulators.anthropic.usage import count_tokens
from simulators.base import Fault, Faults
from simulators.local_server import LocalServer, hang_up
from simulators.openai import responses
from simulators.openai.speech import SpeechEndpoints

MAX_RECORDED: Final = 1_000
PIECE: Final = 24
_FINISH: Final = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


class _Refused(Exception):
    def __init__(self, status: int, kind: str, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _echo(body: Mapping[str, Any]) -> Answer:
    content = (body.get("messages") or body["input"])[-1].get("content")
    left = content if isinstance(content, str) else without_time(content)
    if len(left) == 1 and isinstance(left, list) and "text" in left[0]:
        left = left[0]["text"]
    text = left if isinstance(left, str) else json.dumps(left)
    return Answer(f"You said: {text}")


class OpenAISimulator:
    """A server on loopback for the unchanged openai SDK; `window` is in tokens. Without a key in
    `api_key` it serves everybody; `lists_models` offers its models under `/v1/models`."""

    def __init__(
        self,
        *,
        api_key: str = "test-key",
        models: tuple[str, ...] = ("gpt-test",),
        window: int = 128_000,
        lists_models: bool = True,
        reply: Callable[[Mapping[str, Any]], Answer | str] = _echo,
    ) -> None:
        self.api_key = api_key
        self.models = models
        self.window = window
        self.lists_models = lists_models
        self.reply = reply
        self.faults = Faults()
        self.bodies: deque[Mapping[str, Any]] = deque(maxlen=MAX_RECORDED)
        self.speech = SpeechEndpoints(api_key, self.faults)
        self._scripted: deque[Answer | str] = deque()
        self._ids = itertools.count(1)
        self._server = LocalServer()

    @property
    def base_url(self) -> str:
        """The value of the SDK's `base_url`."""
        return f"{self._server.url}/v1"

    def script(self, *answers: Answer | str) -> None:
        """Let these be the next answers, one for each request that is accepted."""
        self._scripted.extend(answers)

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._completions)
        app.router.add_post("/v1/responses", self._responses)
        app.router.add_post("/v1/audio/transcriptions", self.speech.transcribe)
        app.router.add_post("/v1/audio/speech", self.speech.speak)
        if self.lists_models:
            app.router.add_get("/v1/models", self._list)
        await self._server.start(web.AppRunner(app, access_log=None, shutdown_timeout=0.5))

    async def stop(self) -> None:
        """Close every connection; safe to call twice."""
        await self._server.stop()

    async def _list(self, request: web.Request) -> web.Response:
        try:
            self._authorized(request)
        except _Refused as refused:
            return web.json_response(refused.body, status=refused.status)
        data = [
            {"id": name, "object": "model", "created": 0, "owned_by": "simulator"}
            for name in self.models
        ]
        return web.json_response({"object": "list", "data": data})

    def _authorized(self, request: web.Request) -> None:
        if self.api_key and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            raise _Refused(401, "invalid_request_error", "Incorrect API key provided.")

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        fault = self.faults.take("chat/completions")
        if fault is not None and fault.kind == "drop_before":
            return hang_up(request)
        try:
            body = await request.json()
            self._check(request, body, fault)
        except _Refused as refused:
            headers = {}
            if fault is not None and refused.status == 429:
                headers["retry-after"] = str(math.ceil(fault.retry_after))
            return web.json_response(refused.body, status=refused.status, headers=headers)
        self.bodies.append(body)
        if fault is not None and fault.kind == "drop_after":
            return hang_up(request)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.delay)
        reply = self._scripted.popleft() if self._scripted else self.reply(body)
        answer = Answer(reply) if isinstance(reply, str) else reply
        if not body.get("stream"):
            return web.json_response(self._whole(body, answer))
        response = web.StreamResponse()
        response.content_type = "text/event-stream"
        await response.prepare(request)
        chunks = list(self._chunks(body, answer))
        kind = fault.kind if fault is not None else ""
        broken = kind in ("broken_stream", "stream_error")
        try:
            for chunk in chunks[: len(chunks) // 2] if broken else chunks:
                if fault is not None and fault.delay and kind != "slow":
                    await asyncio.sleep(fault.delay)
                await _write(response, chunk)
            if kind == "broken_stream":
                return hang_up(request)
            if kind == "stream_error":
                await _write(response, {"error": {"message": "Overloaded", "type": "server_error"}})
            else:
                await response.write(b"data: [DONE]\n\n")
        except ConnectionError:
            pass  # the client went away
        return response

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        fault = self.faults.take("responses")
        body = await request.json()
        try:
            self._check_service(request, body, fault)
            responses.check(body, self.window)
        except _Refused as refused:
            return web.json_response(refused.body, status=refused.status)
        except responses.InvalidRequest as error:
            told = {"message": str(error), "type": "invalid_request_error"}
            refusal = {"error": {**told, "param": error.param, "code": error.code}}
            return web.json_response(refusal, status=400)
        self.bodies.append(body)
        reply = self._scripted.popleft() if self._scripted else self.reply(body)
        answer = Answer(reply) if isinstance(reply, str) else reply
        events = responses.events(body, answer, self._ids)
        if not body.get("stream"):
            return web.json_response(events[-1]["response"])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        kind = fault.kind if fault is not None else ""
        broken = kind in ("broken_stream", "stream_error")
        for event in events[: len(events) // 2] if broken else events:
            await response.write(f"event: {event['type']}\n".encode())
            await _write(response, event)
        if kind == "broken_stream":
            return hang_up(request)
        if kind == "stream_error":
            failed = {"code": "server_error", "message": "The model failed."}
            told_last = {**events[0]["response"], "status": "failed", "error": failed}
            await _write(
                response,
                {"type": "response.failed", "sequence_number": 99, "response": told_last},
            )
        return response

    def _check(self, request: web.Request, body: Any, fault: Fault | None) -> None:
        self._check_service(request, body, fault)
        _check_messages(body.get("messages"))
        tokens = count_tokens(body["messages"]) + count_tokens(body.get("tools") or [])
        if tokens > self.window:
            raise _Refused(
                400,
                "invalid_request_error",
                f"This model's maximum context length is {self.window} tokens. However, your "
                f"messages resulted in {tokens} tokens.",
                "context_length_exceeded",
            )

    def _check_service(self, request: web.Request, body: Any, fault: Fault | None) -> None:
        self._authorized(request)
        if fault is not None and fault.kind == "rate_limit":
            raise _Refused(429, "requests", "Rate limit reached.", "rate_limit_exceeded")
        if fault is not None and fault.kind == "server_error":
            raise _Refused(500, "server_error", "The server had an error.")
        if fault is not None and fault.kind == "overloaded":
            raise _Refused(503, "server_error", "The engine is currently overloaded.")
        if body.get("model") not in self.models:
            message = f"The model `{body.get('model')}` does not exist."
            raise _Refused(404, "invalid_request_error", message, "model_not_found")

    def _usage(self, body: Mapping[str, Any], answer: Answer) -> dict[str, object]:
        prompt = count_tokens(body["messages"])
        completion = count_tokens(answer.text) + sum(count_tokens(use.json) for use in answer.tools)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": max(1, completion),
            "total_tokens": prompt + max(1, completion),
            "prompt_tokens_details": {"cached_tokens": 0},
        }

    def _calls(self, answer: Answer) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{next(self._ids)}",
                "type": "function",
                "function": {"name": use.name, "arguments": use.json},
            }
            for use in answer.tools
        ]

    def _whole(self, body: Mapping[str, Any], answer: Answer) -> dict[str, object]:
        message: dict[str, object] = {"role": "assistant", "content": answer.text or None}
        if answer.tools:
            message["tool_calls"] = self._calls(answer)
        finish = _FINISH.get(answer.stop_reason, "stop")
        return {
            "id": f"chatcmpl-{next(self._ids)}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": self._usage(body, answer),
        }

    def _chunks(self, body: Mapping[str, Any], answer: Answer) -> Iterator[dict[str, object]]:
        base = {
            "id": f"chatcmpl-{next(self._ids)}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": body["model"],
        }

        def chunk(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
            return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        yield chunk({"role": "assistant", "content": ""})
        for start in range(0, len(answer.text), PIECE):
            yield chunk({"content": answer.text[start : start + PIECE]})
        for index, call in enumerate(self._calls(answer)):
            arguments = call["function"]["arguments"]
            opening = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            yield chunk({"tool_calls": [opening]})
            for start in range(0, len(arguments), PIECE):
                piece = {"arguments": arguments[start : start + PIECE]}
                yield chunk({"tool_calls": [{"index": index, "function": piece}]})
        yield chunk({}, _FINISH.get(answer.stop_reason, "stop"))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield {**base, "choices": [], "usage": self._usage(body, answer)}


def _check_messages(messages: object) -> None:
    if not isinstance(messages, list) or not messages:
        raise _Refused(400, "invalid_request_error", "'messages' must be a non-empty array.")
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise _Refused(
                    400,
                    "invalid_request_error",
                    f"messages.[{index}].role: messages with role 'tool' must be a response to a "
                    "preceding message with 'tool_calls'.",
                )
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            raise _Refused(
                400,
                "invalid_request_error",
                "An assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id': {', '.join(sorted(open_calls))}",
            )
        if role not in ("system", "developer", "user", "assistant"):
            raise _Refused(400, "invalid_request_error", f"messages.[{index}].role: {role!r}")
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
        if not message.get("content") and not open_calls:
            raise _Refused(400, "invalid_request_error", f"messages.[{index}].content: is empty")


async def _write(response: web.StreamResponse, data: object) -> None:
    await response.write(f"data: {json.dumps(data)}\n\n".encode())
