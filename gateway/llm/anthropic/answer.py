"""Reads streamed answers of the Messages API, with the web search and fetch that Anthropic's
service runs itself while it answers.

Blocks of these go back unchanged within the turn, because the service reads its own encrypted
results from them. Versions and fields as in "Web search tool" and "Web fetch tool" of the API's
documentation, November 2026: the basic versions, which every current model takes; later ones run
code to filter results.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlsplit

from gateway.errors import ModelUnavailable
from gateway.llm.chat_completions.calls import fitting_id, fitting_name
from gateway.llm.streamed_call import figure, model_name
from gateway.ports import (
    WEB_USES,
    ContentBlock,
    ModelFinished,
    ModelMessage,
    OpaqueBlock,
    StopReason,
    TextBlock,
    ToolCall,
    Usage,
    WebText,
)

MAX_PAGE_TOKENS: Final = 10_000
"""Of one fetched page."""
SEARCH: Final[Mapping[str, Any]] = {
    "type": "web_search_20250305",
    "name": "web_search",
    "max_uses": WEB_USES,
}
FETCH: Final[Mapping[str, Any]] = {
    "type": "web_fetch_20250910",
    "name": "web_fetch",
    "max_uses": WEB_USES,
    "max_content_tokens": MAX_PAGE_TOKENS,
    "citations": {"enabled": True},
}
RESULTS: Final = frozenset({"web_search_tool_result", "web_fetch_tool_result"})
BLOCKS: Final = frozenset({"server_tool_use", *RESULTS})
MAX_LINKS: Final = 3
"""Sources that are named behind one passage."""
MAX_URL: Final = 2_000
MAX_TEXT: Final = 40_000
"""Characters of one text that are passed on to memory."""


def tools_besides(names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the service's tools, except those whose name another tool has."""
    taken = set(names)
    for tool in (SEARCH, FETCH):
        if tool["name"] not in taken:
            yield dict(tool)


def links(citations: Iterable[Mapping[str, Any]], pages: list[str]) -> str:
    """Return links to the sources of a passage as Markdown, or nothing. `pages` are the addresses
    of the fetched pages, in the service's order."""
    found: dict[str, str] = {}
    for citation in citations:
        url = _source(citation, pages)
        host = _host(url)
        if host and len(found) < MAX_LINKS:
            found.setdefault(quote(url, safe="/:?#@!$&'*+,;=%~"), host)
    return f" ({', '.join(f'[{host}]({url})' for url, host in found.items())})" if found else ""


def page_of(result: Mapping[str, Any]) -> str | None:
    """Return the address of the page in a result; None for a search or an error."""
    content = result.get("content")
    if isinstance(content, Mapping) and content.get("type") == "web_fetch_result":
        return str(content.get("url") or "")
    return None


def texts_of(block: Mapping[str, Any]) -> Iterator[WebText]:
    """Yield the readable text of a result or of citations."""
    content = block.get("content")
    if isinstance(content, Mapping):
        source = (content.get("content") or {}).get("source") or {}
        if source.get("type") == "text":
            yield WebText("web_fetch", str(source.get("data") or "")[:MAX_TEXT])
    elif isinstance(content, list):
        titles = "\n".join(str(each.get("title") or "") for each in content)
        yield WebText("web_search", titles[:MAX_TEXT])
    for citation in block.get("citations") or ():
        yield WebText("web_search", str(citation.get("cited_text") or "")[:MAX_TEXT])


def _source(citation: Mapping[str, Any], pages: list[str]) -> str:
    if url := citation.get("url"):
        return str(url)
    index = citation.get("document_index")
    return pages[index] if isinstance(index, int) and 0 <= index < len(pages) else ""


def _host(url: str) -> str:
    """Return the host of an address that can be a link; empty for any other one."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and len(url) <= MAX_URL and url.isprintable()
    return host if usable and host.isascii() and not set(host) & set("[]()<>") else ""


REST_SECONDS: Final = 0.2
"""Seconds to wait for the end of a stream whose answer is complete."""
STOPPED_SECONDS: Final = 2.0
"""Seconds to wait for the end of an answer that named its reason: proxies leave the end out."""
MAX_ARGUMENTS: Final = 200_000
"""Characters of one call's arguments; the rest is dropped."""
MAX_BLOCKS: Final = 1_000
"""Of one answer; the rest is dropped."""
MAX_CITATIONS: Final = 200
"""Of one passage; the rest is dropped."""
_CALLS: Final = frozenset({"tool_use", "server_tool_use"})
_STOPS: Final[Mapping[str | None, StopReason]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "pause_turn": "paused",
    "refusal": "refusal",
}


@dataclass(slots=True)
class _OpenBlock:
    """A block that is being streamed."""

    kind: str
    first: Mapping[str, Any]
    pieces: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)
    size: int = 0
    citations: list[Mapping[str, Any]] = field(default_factory=list)
    links: str = ""

    def add(self, piece: str) -> str:
        """Add a piece and return it."""
        self.size += len(piece)
        if self.kind not in _CALLS or self.size <= MAX_ARGUMENTS:
            self.pieces.append(piece)
        return piece


class AnthropicReader:
    """Assembles an answer of the Messages API; `model` is the requested one. Its reasoning is for
    `maker`, and `prefix` returns the digest of what stands before it. `pages` are the addresses
    that were fetched earlier in the turn."""

    def __init__(
        self,
        model: str,
        maker: str = "",
        prefix: Callable[[], str] = lambda: "",
        pages: Sequence[str] = (),
    ) -> None:
        self._requested_model = model
        self._maker = maker or model
        self._prefix = prefix
        self._pages = list(pages)
        self._web: list[WebText] = []
        self._model = model
        self._blocks: dict[int, _OpenBlock] = {}
        self._usage = Usage()
        self._stop: str | None = None
        self._has_begun = False
        self._empty = True
        self.rest_seconds: float | None = None
        self.working = False

    def feed(self, event: Mapping[str, Any]) -> str:
        self._empty = False
        match event["type"]:
            case "message_start":
                self._has_begun = True
                self._model = model_name(event["message"].get("model"), self._requested_model)
                self._usage = _usage(event["message"].get("usage") or {}, self._usage)
            case "content_block_start" if len(self._blocks) < MAX_BLOCKS:
                block = event["content_block"]
                self._blocks[event["index"]] = opened = _OpenBlock(block["type"], block)
                self.working = True
                if opened.kind in RESULTS:
                    self._web.extend(texts_of(block))
                    self._pages += [page for page in (page_of(block),) if page is not None]
                opened.signature = [str(block.get("signature") or "")]
                opened.add(str(block.get("thinking") or ""))
                return opened.add(str(block.get("text") or ""))
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "content_block_stop":
                return self._closed(event["index"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._usage = _usage(event.get("usage") or {}, self._usage)
                if self._stop and self.rest_seconds is None:
                    self.rest_seconds = STOPPED_SECONDS
            case "message_stop":
                self.rest_seconds = REST_SECONDS
            case "message":
                return self._whole(event)
            case _:
                pass  # clients are to ignore unknown events
        return ""

    def finish(self) -> ModelFinished:
        if self._empty:
            raise ModelUnavailable("the model's server sent an empty answer", passes=False)
        if self.rest_seconds is None and not self._has_begun:
            raise ModelUnavailable("the response is no answer of the Messages API")
        if self.rest_seconds is None:
            raise ModelUnavailable("the answer was interrupted")
        try:
            return self._finished()
        except (LookupError, TypeError, ValueError) as error:
            raise ModelUnavailable("the answer cannot be read") from error

    def _finished(self) -> ModelFinished:
        content = tuple(
            block for index in sorted(self._blocks) for block in self._written(self._blocks[index])
        )
        stop = _STOPS.get(self._stop, "other")
        message = ModelMessage("assistant", content)
        reasoned = any("thinking" in block.kind for block in self._blocks.values())
        return ModelFinished(
            message, stop, self._usage, self._model, reasoned=reasoned, web=tuple(self._web)
        )

    def _whole(self, message: Mapping[str, Any]) -> str:
        """Read an answer that is no stream."""
        texts = [self.feed({"type": "message_start", "message": message})]
        for index, block in enumerate(message.get("content") or ()):
            place = {"index": index, "content_block": block}
            texts.append(self.feed({"type": "content_block_start", **place}))
            self._blocks[index].citations = list(block.get("citations") or ())[:MAX_CITATIONS]
            texts.append(self._closed(index))
        texts.append(self.feed({"type": "message_delta", "delta": message}))
        self.rest_seconds = REST_SECONDS
        return "".join(texts)

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks.get(index)
        if block is None:
            return ""
        self.working = True
        match delta["type"]:
            case "text_delta":
                return block.add(str(delta["text"]))
            case "input_json_delta":
                block.add(str(delta["partial_json"]))
            case "thinking_delta":
                block.add(str(delta["thinking"]))
            case "citations_delta":
                if len(block.citations) < MAX_CITATIONS:
                    block.citations.append(delta["citation"])
            case "signature_delta":
                block.signature.append(str(delta["signature"]))
            case _:
                pass
        return ""

    def _closed(self, index: int) -> str:
        """Return the links to the sources of a passage that is complete."""
        block = self._blocks.get(index)
        if block is None or not block.citations:
            return ""
        self._web.extend(texts_of({"citations": block.citations}))
        block.links = links(block.citations, self._pages)
        return block.links

    def _written(self, block: _OpenBlock) -> Iterator[ContentBlock]:
        text = "".join(block.pieces)
        match block.kind:
            case "text":
                if block.citations:
                    cited = {"type": "text", "text": text, "citations": block.citations}
                    yield self._opaque(cited)
                if text:
                    yield TextBlock(text + block.links)
            case "server_tool_use":
                called = json.loads(text) if text else block.first.get("input") or {}
                yield self._opaque({**block.first, "input": called})
            case kind if kind in RESULTS:
                yield self._opaque(block.first)
            case "tool_use":
                arguments = text or json.dumps(block.first.get("input") or {})
                call_id, name = str(block.first["id"]), str(block.first["name"])
                yield ToolCall(fitting_id(call_id), fitting_name(name), arguments)
            case "thinking":
                signature = "".join(block.signature)
                yield self._opaque({"type": "thinking", "thinking": text, "signature": signature})
            case "redacted_thinking":
                yield self._opaque(block.first)
            case _:
                return

    def _opaque(self, content: Mapping[str, Any]) -> OpaqueBlock:
        return OpaqueBlock(self._maker, json.dumps(content), self._prefix())


def _usage(figures: Mapping[str, Any], before: Usage) -> Usage:
    """Read the totals so far; a missing or a smaller figure keeps its previous value: some services
    report each figure in one event only, and 0 in the others."""

    def named(name: str, otherwise: int, part: str = "") -> int:
        found = figures.get(part) if part else figures
        value = found.get(name) if isinstance(found, Mapping) else None
        return max(otherwise, figure(value))

    return Usage(
        named("input_tokens", before.input_tokens),
        named("output_tokens", before.output_tokens),
        named("cache_read_input_tokens", before.cache_read_tokens),
        named("cache_creation_input_tokens", before.cache_write_tokens),
        named("ephemeral_1h_input_tokens", before.cache_hour_tokens, "cache_creation"),
        named("web_search_requests", before.searches, "server_tool_use"),
    )
