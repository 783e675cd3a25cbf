"""Reads the messages of MCP servers within bounds, before the `mcp` library parses them. Pure, but
for `Refusals`.

Parsing holds the event loop, and its time grows with the number of values, not of bytes: a message
at every bound takes less than 50 ms. What the program does not use is left out: notifications,
schemas of results (which may have expressions that take hours), and parameters of requests that a
server sends.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import structlog
from msgspec import Struct
from pydantic_core import from_json, to_json

from gateway.turn.mcp_format import MAX_RESULT
from gateway.turn.tool_files import MAX_ENCODED, MAX_FILES
from gateway.turn.tool_files import TOO_LARGE as FILE_TOO_LARGE

log = structlog.get_logger(__name__)

MAX_MESSAGE: Final = 8 * 1024 * 1024
"""Bytes of one message, unpacked: the base64 text of one file of the largest size."""
MAX_SIGNS: Final = 60_000
"""Commas, colons and opening brackets of one message, also in its texts."""
MAX_CONTENT: Final = 500
"""Pieces of content of one result."""
MAX_LISTED: Final = 257
"""Tools of one page: one more than are offered of a server, so that the excess is seen."""
MAX_NAME: Final = 1_000
MAX_BITS: Final = 1_024
MAX_ID: Final = 200
"""Characters of the id that a server gives to its request."""
MAX_ERROR_TEXT: Final = 2_000
MAX_VERSIONS: Final = 50
REFUSED_CODE: Final = -32_097
"""The code of an error that stands for a refused answer. A server's own error never has it."""
CLOSED_CODE: Final = -32_000
"""The code with which the library reports a lost connection. Many servers use it for errors of
their own: those get another one."""
OTHER_ERROR: Final = -32_603
_UNSUPPORTED_VERSION: Final = -32_022
"""An error whose data the library uses: the versions that a server speaks."""
_TOOL_KEYS: Final = frozenset({"name", "title", "description", "inputSchema", "annotations"})

REPORT_SECONDS: Final = 600.0
"""The time for which the status shows a refused answer."""
LOG_SECONDS: Final = 60.0

TOO_LARGE: Final = f"it is larger than {MAX_MESSAGE // 1024 // 1024} MB"
TOO_MANY_VALUES: Final = f"it has more than {MAX_SIGNS:,} commas, colons and brackets"


class UnusableAnswer(Exception):
    """An answer is outside of the bounds. The text is the reason, in words of this program only."""


class Refusals:
    """The refused answers of one server: for the log, the status and the metrics."""

    def __init__(self, server: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._now = monotonic
        self._reported = ("", 0.0)
        self._at = 0.0
        self._latest = ""
        self.count = 0
        """Refused answers since the start."""

    @property
    def latest(self) -> str:
        """The reason of the latest one, "" after ten minutes."""
        return self._latest if self._now() - self._at < REPORT_SECONDS else ""

    def note(self, reason: str) -> None:
        """Count one; the log has each reason once a minute."""
        self.count += 1
        self._at, self._latest = self._now(), reason
        known, at = self._reported
        if reason != known or self._at - at >= LOG_SECONDS:
            self._reported = (reason, self._at)
            log.warning(
                "mcp_answer_refused",
                server=self._server,
                problem=reason,
                advice=f"ask for less at once, or remove mcp.servers.{self._server}",
                refused=self.count,
            )


class Rate:
    """Counts what a server causes, up to `most` in a minute."""

    def __init__(self, most: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._now = monotonic
        self._since = 0.0
        self._count = 0

    def take(self, amount: int = 1) -> bool:
        """Count this amount; False if it is too much in this minute."""
        now = self._now()
        if now - self._since >= 60:
            self._since, self._count = now, 0
        self._count += amount
        return self._count <= self._most


class Bounded(Struct, frozen=True):
    """A message within the bounds: `value` as JSON; `answers` is true for a result or an error."""

    value: Mapping[str, Any]
    answers: bool


def read_message(data: bytes) -> Bounded | None:
    """Return a message; None for a notification. Raises `UnusableAnswer`."""
    if len(data) > MAX_MESSAGE:
        raise UnusableAnswer(TOO_LARGE)
    if sum(map(data.count, (b",", b":", b"[", b"{"))) > MAX_SIGNS:
        raise UnusableAnswer(TOO_MANY_VALUES)
    try:
        value = from_json(data, allow_inf_nan=False, cache_strings="none")
    except (ValueError, RecursionError):
        raise UnusableAnswer("it is not valid JSON, or nested too deeply") from None
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise UnusableAnswer("it is not a message of MCP")
    if _has_long_number(value):
        raise UnusableAnswer(f"it has a whole number of more than {MAX_BITS:,} bits")
    number = value.get("id")
    if not _is_id(number):
        raise UnusableAnswer("it is not a message of MCP")
    match value:
        case {"method": str(method)} if number is None:
            return None
        case {"method": str(method)}:
            return Bounded({"jsonrpc": "2.0", "id": number, "method": method[:MAX_ID]}, False)
        case {"result": dict(result)} if number is not None:
            return Bounded({"jsonrpc": "2.0", "id": number, "result": _reduced(result)}, True)
        case {"error": {"code": int(code), "message": str(text), **more}}:
            error = _error(code, text, more.get("data"))
            return Bounded({"jsonrpc": "2.0", "id": number, "error": error}, True)
        case _:
            raise UnusableAnswer("it is not a message of MCP")


def refusal(number: object, reason: str, code: int = REFUSED_CODE) -> dict[str, Any]:
    """Return the error that stands for a refused answer to the request with this id."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": reason}}


def _has_long_number(value: object) -> bool:
    """True for a whole number whose text would take long to write: its time is quadratic."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)
        elif isinstance(one, int) and one.bit_length() > MAX_BITS:
            return True
    return False


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _error(code: int, text: str, data: object) -> dict[str, Any]:
    error: dict[str, Any] = {
        "code": OTHER_ERROR if code in (REFUSED_CODE, CLOSED_CODE) else code,
        "message": text[:MAX_ERROR_TEXT],
    }
    if code == _UNSUPPORTED_VERSION and isinstance(data, dict):
        versions = data.get("supported")
        if isinstance(versions, list):
            error["data"] = {**data, "supported": versions[:MAX_VERSIONS]}
    return error


def _reduced(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without what is not used."""
    if isinstance(tools := result.get("tools"), list):
        result["tools"] = [_tool(tool) for tool in tools[:MAX_LISTED]]
    structured = result.pop("structuredContent", None)
    if isinstance(content := result.get("content"), list):
        pieces = _pieces(content[:MAX_CONTENT])
        # Servers repeat a picture there, as base64 text.
        shown = any(piece["type"] != "text" or piece["text"] for piece in pieces)
        if structured is not None and not shown:
            pieces.append(_text(to_json(structured).decode("utf-8", "replace")))
        result["content"] = pieces
    return result


def _tool(tool: object) -> object:
    if not isinstance(tool, dict):
        return tool
    return {key: value for key, value in tool.items() if key in _TOOL_KEYS}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text[: 2 * MAX_RESULT]}


def _pieces(content: Sequence[object]) -> list[dict[str, Any]]:
    """Return the pieces of content: texts, and as many files as an answer has."""
    pieces, files = [], 0
    for each in content:
        piece = _file(each) if files < MAX_FILES else None
        files += piece is not None
        pieces.append(piece or _piece(each))
    return pieces


def _file(piece: object) -> dict[str, Any] | None:
    """Return a picture, a recording or a file with its data; None for anything else."""
    match piece:
        case {"type": "image" | "audio" as kind, "data": str(data), "mimeType": str(mime)}:
            if len(data) > MAX_ENCODED:
                return _text(f"({kind}, {mime[:MAX_NAME]}: not shown, {FILE_TOO_LARGE})")
            return {"type": kind, "data": data, "mimeType": mime[:MAX_NAME]}
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob), **more}}:
            if len(blob) > MAX_ENCODED:
                return _text(f"(file {uri[:MAX_NAME]}: not shown, {FILE_TOO_LARGE})")
            mime = str(more.get("mimeType") or "")[:MAX_NAME]
            resource = {"uri": uri[:MAX_NAME], "blob": blob, "mimeType": mime}
            return {"type": "resource", "resource": resource}
        case _:
            return None


def _piece(piece: object) -> dict[str, Any]:
    """Return a piece of content as text: files beyond the bounds by name."""
    match piece:
        case {"type": "text", "text": str(text)}:
            return _text(text)
        case {"type": "image" | "audio" as kind, "mimeType": str(mime)}:
            return _text(f"({kind}, {mime[:MAX_NAME]}: not shown, too many files)")
        case {"type": "resource", "resource": {"text": str(text)}}:
            return _text(text)
        case {"type": "resource", "resource": {"uri": str(uri)}}:
            return _text(f"(file {uri[:MAX_NAME]})")
        case {"type": "resource_link", "name": str(name), "uri": str(uri)}:
            return _text(f"({name[:MAX_NAME]}: {uri[:MAX_NAME]})")
        case {"type": str(kind)}:
            return _text(f"({kind[:MAX_NAME]})")
        case _:
            return _text("(a part that cannot be read)")
