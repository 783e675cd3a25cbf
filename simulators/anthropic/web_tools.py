"""The service's own tools, web search and fetch: their blocks, and the checks of what comes back.

Shapes of blocks and citations as in "Web search tool", "Web fetch tool" and "Citations" of
platform.claude.com/docs, and as the types of the anthropic SDK 2.11 (`types/web_search_*.py`,
`types/web_fetch_*.py`, `types/citations_*.py`). Encrypted texts are digests here.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulators.anthropic.answers import Answer, Page, WebUse
from simulators.anthropic.usage import fingerprint

TYPES: Final[Mapping[str, str]] = {
    "web_search_20250305": "web_search",
    "web_fetch_20250910": "web_fetch",
}
"""The versions that need no code execution, with the name that each has."""
CONTENT: Final = frozenset({"server_tool_use", "web_search_tool_result", "web_fetch_tool_result"})


def web_blocks(answer: Answer, new_id: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Yield the calls and results of an answer."""
    for use in answer.web:
        number = f"srvtoolu_{next(new_id):012d}"
        called = {"query": use.query} if use.name == "web_search" else {"url": use.pages[0].url}
        yield {"type": "server_tool_use", "id": number, "name": use.name, "input": called}
        content = _found(use) if use.name == "web_search" else _fetched(use.pages[0])
        yield {"type": f"{use.name}_tool_result", "tool_use_id": number, "content": content}


def citations(answer: Answer) -> list[dict[str, Any]]:
    """Return a citation of each page."""
    result: list[dict[str, Any]] = []
    documents = 0
    for use in answer.web:
        for page in use.pages:
            if use.name == "web_search":
                result.append(
                    {
                        "type": "web_search_result_location",
                        "url": page.url,
                        "title": page.title,
                        "cited_text": page.text[:150],
                        "encrypted_index": fingerprint(["index", page.url]),
                    }
                )
            else:
                result.append(
                    {
                        "type": "char_location",
                        "document_index": documents,
                        "document_title": page.title,
                        "start_char_index": 0,
                        "end_char_index": len(page.text),
                        "cited_text": page.text,
                    }
                )
                documents += 1
    return result


def usage_of(answer: Answer) -> dict[str, int]:
    """Return the requests of an answer."""
    names = [use.name for use in answer.web]
    return {
        "web_search_requests": names.count("web_search"),
        "web_fetch_requests": names.count("web_fetch"),
    }


def problem_of(block: Mapping[str, Any]) -> str:
    """Return what is wrong with a block that comes back; empty for one that the service made."""
    if block["type"] == "web_search_tool_result" and isinstance(block.get("content"), list):
        for found in block["content"]:
            page = Page(str(found.get("url")), str(found.get("title")))
            if found.get("encrypted_content") != _encrypted(page):
                return "Invalid `encrypted_content` in `web_search_result` block"
    for citation in block.get("citations") or ():
        if citation.get("type") == "web_search_result_location" and citation.get(
            "encrypted_index"
        ) != fingerprint(["index", citation.get("url")]):
            return "Invalid `encrypted_index` in `web_search_result_location` block"
    return ""


def _found(use: WebUse) -> list[dict[str, Any]]:
    return [
        {
            "type": "web_search_result",
            "url": page.url,
            "title": page.title,
            "encrypted_content": _encrypted(page),
            "page_age": None,
        }
        for page in use.pages
    ]


def _fetched(page: Page) -> dict[str, Any]:
    source = {"type": "text", "media_type": "text/plain", "data": page.text}
    document = {
        "type": "document",
        "source": source,
        "title": page.title,
        "citations": {"enabled": True},
    }
    return {
        "type": "web_fetch_result",
        "url": page.url,
        "content": document,
        "retrieved_at": "2026-11-27T10:00:00Z",
    }


def _encrypted(page: Page) -> str:
    return fingerprint(["content", page.url, page.title])
