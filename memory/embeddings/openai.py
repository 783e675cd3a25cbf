"""Vectors from any service with OpenAI's embeddings API.

The library is the optional extra `openai`; it is loaded on first use, in a thread, and its own
retries are off: without a timely answer recall uses words only.
"""

import asyncio
import importlib.util
import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gateway.errors import LibraryMissing, ModelError, ModelRefused, ModelUnavailable
from memory.model.record import Embedding
from safety.http.bounded_body import ResponseTooLarge, TooManyPieces, Undecodable
from safety.http.shown_address import shown_address

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LIBRARIES: Final = ("openai", "numpy")
DEFAULT_MODEL: Final = "text-embedding-3-small"
DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
CONNECT_SECONDS: Final = 3.0
ASKED_SECONDS: Final = 5.0
"""The time limit for a question; after it recall uses words only."""
BEHIND_SECONDS: Final = 60.0
BATCH: Final = 64
MAX_TEXT: Final = 8_000
MAX_DIMENSION: Final = 8_192
MAX_ANSWER: Final = 16 * 1024 * 1024
"""Bytes of one answer: `BATCH` vectors of `MAX_DIMENSION` numbers with 24 characters have 12 MB."""
_MAX_REASON: Final = 300


class _Row(msgspec.Struct):
    """One vector of an answer, and the place of its text in the request."""

    index: int
    embedding: list[float]


class _Embeddings(msgspec.Struct):
    data: list[_Row]


class OpenAiEmbedder:
    """Implements `memory.ports.recall.Embedder`. Raises `LibraryMissing` when its libraries are
    not installed."""

    def __init__(self, api_key: str, model: str = "", base_url: str = "") -> None:
        absent = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
        if absent:
            raise LibraryMissing("memory.embedding_provider", absent, "openai")
        # Self-hosted servers need no key, but the library requires one.
        self._api_key = api_key or "none"
        self._name = model or DEFAULT_MODEL
        self._base_url = base_url or DEFAULT_BASE_URL
        self._loading: asyncio.Task[tuple[ModuleType, AsyncOpenAI]] | None = None

    @property
    def model(self) -> str:
        """The model's name; a model of the same name in another service counts as the same."""
        return f"openai/{self._name}"

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector per text, in their order. Raises `ModelUnavailable` or `ModelRefused`."""
        return await self._embed(texts, ASKED_SECONDS)

    async def embed_in_background(self, texts: Sequence[str]) -> list[Embedding]:
        """Return vectors with a longer time limit."""
        return await self._embed(texts, BEHIND_SECONDS)

    async def warm(self) -> None:
        """Load the library before the first question; does not call the service."""
        await self._load()

    async def close(self) -> None:
        """Close the connections."""
        loading, self._loading = self._loading, None
        if loading is not None:
            _, client = await loading
            await client.close()

    async def _embed(self, texts: Sequence[str], seconds: float) -> list[Embedding]:
        sdk, client = await self._load()
        embeddings: list[Embedding] = []
        for begin in range(0, len(texts), BATCH):
            some = [text[:MAX_TEXT] or " " for text in texts[begin : begin + BATCH]]
            try:
                async with asyncio.timeout(seconds):
                    answer = await client.embeddings.with_raw_response.create(
                        model=self._name, input=some, encoding_format="float", timeout=seconds
                    )
                rows = await asyncio.to_thread(_rows, answer.content, len(some))
            except Exception as error:
                raise _model_error(error, sdk, self._base_url) from error
            embeddings += [Embedding(self.model, row) for row in rows]
        return embeddings

    async def _load(self) -> "tuple[ModuleType, AsyncOpenAI]":
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._make_client))
        return await asyncio.shield(self._loading)

    def _make_client(self) -> "tuple[ModuleType, AsyncOpenAI]":
        import httpx2  # noqa: PLC0415 - slow to import
        import openai  # noqa: PLC0415 - slow to import, and optional

        from safety.http.bounded_transport import BoundedTransport  # noqa: PLC0415 - imports httpx2

        client = openai.AsyncOpenAI(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            timeout=openai.Timeout(BEHIND_SECONDS, connect=CONNECT_SECONDS),
            http_client=httpx2.AsyncClient(transport=BoundedTransport(self._base_url, MAX_ANSWER)),
        )
        return openai, client


def _rows(content: bytes, count: int) -> list[tuple[float, ...]]:
    """Return unit vectors in the order of the texts. Raises `ModelRefused` for anything else."""
    try:
        answer = msgspec.json.decode(content, type=_Embeddings)
    except (ValueError, RecursionError):
        raise ModelRefused("the embedding server sent an answer that cannot be read") from None
    by_index = {item.index: tuple(item.embedding) for item in answer.data}
    rows = [by_index.get(place, ()) for place in range(count)]
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not 0 < lengths.pop() <= MAX_DIMENSION:
        raise ModelRefused("the embedding server did not send one vector for each text")
    return [_unit(row) for row in rows]


def _unit(row: tuple[float, ...]) -> tuple[float, ...]:
    length = math.hypot(*row)
    if not (math.isfinite(length) and length > 0):
        raise ModelRefused("the embedding server sent a vector of length zero")
    return tuple(number / length for number in row)


def _model_error(error: Exception, sdk: Any, base_url: str) -> ModelError:
    if isinstance(error, ModelError):
        return error
    for one in (error, error.__cause__):
        if isinstance(one, ResponseTooLarge | TooManyPieces | Undecodable):
            return ModelRefused(f"the embedding server {shown_address(base_url)}: {one}")
    if not isinstance(error, sdk.APIStatusError):
        return ModelUnavailable(f"no answer from the embedding server: {type(error).__name__}")
    reason = f"the embedding server says {error.status_code}: {error.message}"[:_MAX_REASON]
    if error.status_code in {408, 409, 429} or error.status_code >= 500:
        return ModelUnavailable(reason)
    return ModelRefused(reason)
