"""Web search and fetch, which Anthropic's service runs itself while it answers.

Their blocks go back unchanged within the turn, because the service reads its own encrypted results
from them. Versions and fields as in "Web search tool" and "Web fetch tool" of the API's
documentation, November 2026: the basic versions, which every current model takes; later ones run
code to filter results.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from gateway.ports import WEB_USES, WebText

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
