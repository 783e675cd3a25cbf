"""A server with OpenAI's interface that answers each call as a test says, over a real socket."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

ANSWER = (
    'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    '[{"index":0,"delta":{"role":"assistant","content":"All is well again, thank you."},'
    '"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


@dataclass
class FailingModel:
    """`status` 200 answers; any other one is returned with this text and these headers."""

    status: int = 200
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    calls: int = 0

    async def handle(self, _request: web.Request) -> web.Response:
        self.calls += 1
        if self.status == 200:
            return web.Response(text=ANSWER, content_type="text/event-stream")
        kind = "text/html" if self.text.startswith("<") else "application/json"
        return web.Response(
            status=self.status, text=self.text, content_type=kind, headers=self.headers
        )

    def section(self, **more: object) -> dict[str, object]:
        """The section `model` of a configuration."""
        own = {"provider": "openai", "name": "m", "api_key": "key-of-the-operator"}
        return {**own, "base_url": self.url, "retry_seconds": 1.5, **more}


@asynccontextmanager
async def failing_model(
    status: int = 200, text: str = "", headers: Mapping[str, str] | None = None
) -> AsyncIterator[FailingModel]:
    model = FailingModel(status, text, headers or {})
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/{tail:.*}", model.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    model.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield model
    finally:
        await runner.cleanup()
