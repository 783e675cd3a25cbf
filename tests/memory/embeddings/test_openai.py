"""Vectors from a service, with the real library over a real socket."""

import gzip
import math
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from gateway.errors import ModelRefused, ModelUnavailable
from memory.embeddings.openai import BATCH, OpenAiEmbedder


@dataclass
class Service:
    """Answers with a vector that says how long the text is; `status` and `body` say otherwise."""

    url: str = ""
    status: int = 200
    body: Any = None
    raw: bytes = b""
    """The answer instead, packed with gzip."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def embeddings(self, request: web.Request) -> web.Response:
        question = await request.json()
        self.asked.append(question)
        self.keys.append(request.headers["Authorization"])
        rows = [
            {"object": "embedding", "index": place, "embedding": [len(text), 4.0]}
            for place, text in enumerate(question["input"])
        ]
        body = {"object": "list", "model": question["model"], "data": rows[::-1],
                "usage": {"prompt_tokens": 1, "total_tokens": 1}}  # fmt: skip
        if self.raw:
            headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
            return web.Response(body=self.raw, headers=headers, status=self.status)
        return web.json_response(self.body or body, status=self.status)


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    served = Service()
    application = web.Application()
    application.router.add_post("/v1/embeddings", served.embeddings)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    served.url = f"http://127.0.0.1:{port}/v1"
    yield served
    await runner.cleanup()


@pytest.fixture
async def embedder(service: Service) -> AsyncIterator[OpenAiEmbedder]:
    opened = OpenAiEmbedder("key-1", "nomic", service.url)
    yield opened
    await opened.close()


async def test_every_text_gets_its_unit_vector_in_batches(
    service: Service, embedder: OpenAiEmbedder
) -> None:
    texts = ["abc", "", *["x"] * BATCH]
    result = await embedder.embed(texts)
    assert [one.model for one in result] == ["openai/nomic"] * len(texts)
    assert result[0].vector == pytest.approx((0.6, 0.8))
    assert all(math.hypot(*one.vector) == pytest.approx(1) for one in result)
    assert [len(question["input"]) for question in service.asked] == [BATCH, 2]
    assert service.asked[0]["model"] == "nomic"
    assert service.asked[0]["input"][1] == " "
    assert set(service.keys) == {"Bearer key-1"}
    assert await embedder.embed([]) == []


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, ModelRefused), (404, ModelRefused), (400, ModelRefused),
     (429, ModelUnavailable), (500, ModelUnavailable)],
)  # fmt: skip
async def test_an_error_has_its_type_and_is_not_retried(
    service: Service, embedder: OpenAiEmbedder, status: int, error: type[Exception]
) -> None:
    service.status, service.body = status, {"error": {"message": "no"}}
    with pytest.raises(error, match=f"the embedding server says {status}"):
        await embedder.embed(["tea"])
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0, 0.0]}],
        [{"index": 0, "embedding": [1.0, 0.0]}, {"index": 1, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0, 0.0]}, {"index": 1, "embedding": [0.0, 0.0]}],
        [{"index": 0, "embedding": [1.0, 0.0]}, {"index": 1, "embedding": []}],
    ],
)
async def test_a_response_without_one_vector_per_text_is_refused(
    service: Service, embedder: OpenAiEmbedder, data: list[dict[str, object]]
) -> None:
    service.body = {"object": "list", "model": "m", "data": data}
    with pytest.raises((ModelRefused, ModelUnavailable)):
        await embedder.embed(["tea", "rum"])


async def test_preparing_the_model_sends_no_request(
    service: Service, embedder: OpenAiEmbedder
) -> None:
    await embedder.warm()
    assert service.asked == []


async def test_an_unreachable_service_is_unavailable() -> None:
    embedder = OpenAiEmbedder("", "m", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelUnavailable, match="no answer from the embedding server"):
        await embedder.embed(["tea"])
    await embedder.close()


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_unpacks_to_more_than_the_limit_is_refused_with_the_server(
    service: Service, embedder: OpenAiEmbedder, status: int
) -> None:
    service.status, service.raw = status, gzip.compress(bytes(200 * 1024 * 1024), 1)
    await embedder.warm()
    tracemalloc.start()
    try:
        with pytest.raises(ModelRefused, match=r"127\.0\.0\.1.* larger than 16,777,216 bytes"):
            await embedder.embed(["tea"])
        assert tracemalloc.get_traced_memory()[1] < 64 * 1024 * 1024
    finally:
        tracemalloc.stop()


async def test_a_packed_answer_within_the_limit_is_read(
    service: Service, embedder: OpenAiEmbedder
) -> None:
    service.raw = gzip.compress(b'{"data": [{"index": 0, "embedding": [3, 4.0]}]}')
    (one,) = await embedder.embed(["tea"])
    assert one.vector == pytest.approx((0.6, 0.8))
