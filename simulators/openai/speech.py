"""`/v1/audio/transcriptions` and `/v1/audio/speech`, in the dialects of the servers that have them.

It recognises nothing: the words are those of `script`, or of `hears`. Where the answers come from:

- `openai`: OpenAI's API reference, "Create transcription" (the JSON and the verbose JSON object).
- `transcribe`: the same for gpt-4o-transcribe, which refuses `verbose_json`; public reports quote
  the refusal (vercel/ai 8214, lfnovo/esperanto 204).
- `vllm`: JSON with `usage` for every format (vllm-project/vllm 49095).
- `localai`: segments without `language` and `duration` (mudler/LocalAI 5327).
- `text`: plain text, as whisper.cpp's server answers `response_format=text`.
- Names of files: OpenAI takes the endings of `ENDINGS` and `oga`, which Groq refuses
  (chigwell/telegram-mcp 219).
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from aiohttp import web

from simulators.base import Fault, Faults
from simulators.local_server import hang_up

Dialect: TypeAlias = Literal["openai", "transcribe", "vllm", "localai", "text"]
MAX_UPLOAD: Final = 25 * 1024 * 1024
MAX_RECORDED: Final = 1_000
ENDINGS: Final = ("flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "ogg", "wav", "webm")
SECOND: Final = 1.0


class SpeechEndpoints:
    """The two endpoints. `spoken` is the content of every spoken answer."""

    def __init__(self, api_key: str, faults: Faults) -> None:
        self.api_key = api_key
        self.dialect: Dialect = "openai"
        self.language = "english"
        self.seconds = SECOND
        self.hears: Callable[[bytes], str] = lambda data: "hello"
        self.spoken = b""
        self.requests: deque[Mapping[str, Any]] = deque(maxlen=MAX_RECORDED)
        """The fields of each request; a file as its name, type and content."""
        self._faults = faults
        self._scripted: deque[str] = deque()

    def script(self, *words: str) -> None:
        """Let these be the next transcripts, one for each request that is accepted."""
        self._scripted.extend(words)

    async def transcribe(self, request: web.Request) -> web.StreamResponse:
        fault = self._faults.take("audio/transcriptions")
        if (failed := await self._failed(request, fault)) is not None:
            return failed
        form = await request.post()
        file = form.get("file")
        if not isinstance(file, web.FileField):
            return _refused(400, "you must provide a file", "file")
        data = file.file.read()
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        self.requests.append(
            {**fields, "name": file.filename, "type": file.content_type, "data": data}
        )
        if len(data) > MAX_UPLOAD:
            return _refused(413, "Maximum content size limit (26214400) exceeded", None)
        if file.filename.rpartition(".")[2] not in ENDINGS:
            known = ", ".join(repr(one) for one in ENDINGS)
            return _refused(400, f"Invalid file format. Supported formats: [{known}]", None)
        if "model" not in fields:
            return _refused(400, "you must provide a model parameter", "model")
        return self._answer(fields, data)

    def _answer(self, fields: Mapping[str, str], data: bytes) -> web.Response:
        form = fields.get("response_format", "json")
        if self.dialect == "transcribe" and form == "verbose_json":
            model = fields["model"]
            message = f"response_format 'verbose_json' is not compatible with model '{model}'. Use"
            return _refused(400, f"{message} 'json' or 'text' instead.", "response_format")
        words = self._scripted.popleft() if self._scripted else self.hears(data)
        if self.dialect == "text" or (form == "text" and self.dialect == "openai"):
            return web.Response(text=f"{words}\n", content_type="text/plain")
        if self.dialect == "vllm":
            usage = {"type": "duration", "seconds": round(self.seconds)}
            return web.json_response({"text": words, "usage": usage})
        segment = {"id": 0, "start": 0.0, "end": self.seconds, "text": f" {words}"}
        if self.dialect == "localai":
            return web.json_response({"segments": [segment], "text": words})
        if form != "verbose_json":
            return web.json_response({"text": words})
        figures = {"avg_logprob": -0.2, "no_speech_prob": 0.01, "compression_ratio": 1.2}
        return web.json_response(
            {
                "task": "transcribe",
                "language": self.language,
                "duration": self.seconds,
                "text": words,
                "segments": [segment | figures] if words else [],
            }
        )

    async def speak(self, request: web.Request) -> web.StreamResponse:
        fault = self._faults.take("audio/speech")
        if (failed := await self._failed(request, fault)) is not None:
            return failed
        body = await request.json()
        self.requests.append(body)
        for name in ("model", "input", "voice"):
            if not isinstance(body.get(name), str) or not body[name]:
                return _refused(400, f"Missing required parameter: '{name}'.", name)
        if len(body["input"]) > 4096:
            return _refused(400, "String should have at most 4096 characters", "input")
        return web.Response(body=self.spoken, content_type="audio/ogg")

    async def _failed(self, request: web.Request, fault: Fault | None) -> web.StreamResponse | None:
        if self.api_key and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return _refused(401, "Incorrect API key provided.", None)
        if fault is None:
            return None
        if fault.kind in ("drop_before", "drop_after"):
            return hang_up(request)
        if fault.kind == "slow":
            await asyncio.sleep(fault.delay)
            return None
        status = {"rate_limit": 429, "server_error": 500, "overloaded": 503}.get(fault.kind, 500)
        return _refused(status, "The server had an error.", None)


def _refused(status: int, message: str, param: str | None) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
    return web.json_response({"error": error}, status=status)
