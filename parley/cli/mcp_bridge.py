"""Carries MCP messages between standard input and output and a running program.

The program holds the lock of its database, so a second process cannot serve from it. Each message
of the client becomes one HTTP request, with the headers of its revision; the SDK is not loaded.
"""

import asyncio
import json
import sys
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self

import httpx2

from gateway.errors import StartError

MAX_LINE: Final = 1024 * 1024
MAX_CALLS: Final = 32
"""Requests at once; further messages wait."""
SECONDS: Final = 60.0
CONNECT_SECONDS: Final = 5.0
LAST_SECONDS: Final = 10.0
"""Seconds for the answers that are open when the client closes its side."""
VERSION: Final = "io.modelcontextprotocol/protocolVersion"
NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that a request of 2026-07-28 repeats in the header `Mcp-Name`."""
INTERNAL_ERROR: Final = -32603
PARSE_ERROR: Final = -32700
NOT_RUNNING: Final = "No Parley answers on {address}."
START: Final = (
    "Start it with `parley run`, with the same configuration, then connect your MCP client again."
)
OFF: Final = "The program on {address} serves no MCP."
TURN_ON: Final = "Set mcp_server.enabled and memory.enabled, and restart it."

Read = Callable[[], Awaitable[bytes]]
Write = Callable[[bytes], Awaitable[None]]


class Bridge:
    """Connects one client to the servers at `endpoint`, for the person of `token`."""

    def __init__(self, endpoint: str, token: str) -> None:
        self._http = httpx2.AsyncClient(
            headers={
                "Authorization": f"Bearer {token}",
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
            },
            timeout=httpx2.Timeout(SECONDS, connect=CONNECT_SECONDS),
            trust_env=False,
        )
        self._endpoint = endpoint
        self._address = str(httpx2.URL(endpoint).copy_with(path="/")).rstrip("/")
        self._handshake = ""
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._free = asyncio.Semaphore(MAX_CALLS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def check(self) -> None:
        """Raise `StartError` unless the program runs, serves MCP and knows the token."""
        try:
            response = await self._http.get(self._endpoint)
        except httpx2.HTTPError as error:
            raise StartError(NOT_RUNNING.format(address=self._address), START) from error
        if response.status_code == 404:
            raise StartError(OFF.format(address=self._address), TURN_ON)
        if response.status_code == 401:
            raise StartError(_problem(response))

    async def run(self, read: Read, write: Write) -> None:
        """Carry messages until the input ends, and wait for the answers to the last ones."""
        while line := await read():
            line = line.removeprefix(BOM_UTF8)
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await write(_line(_error(None, PARSE_ERROR, "This line is not JSON.")))
                continue
            if not isinstance(message, dict):
                await write(_line(_error(None, PARSE_ERROR, "Send one JSON object in each line.")))
                continue
            await self._take(message, line, write)
        await self._end_calls()

    async def _end_calls(self) -> None:
        """Wait for the last answers; a stream of events does not end by itself."""
        calls = set(self._calls.values())
        if calls:
            _, pending = await asyncio.wait(calls, timeout=LAST_SECONDS)
            for call in pending:
                call.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _take(self, message: dict[str, Any], line: bytes, write: Write) -> None:
        if message.get("method") == "notifications/cancelled":
            self._cancel(message)
        if message.get("method") == "initialize" or "id" not in message:
            await self._carry(message, line, write)
            return
        await self._free.acquire()
        key = json.dumps(message["id"])
        task = asyncio.create_task(self._carry(message, line, write))
        self._calls[key] = task

        def ended(_: object) -> None:
            self._free.release()
            if self._calls.get(key) is task:
                del self._calls[key]

        task.add_done_callback(ended)

    def _cancel(self, message: Mapping[str, Any]) -> None:
        params = message.get("params")
        named = params.get("requestId") if isinstance(params, dict) else None
        task = self._calls.get(json.dumps(named))
        if task is not None:
            task.cancel()

    async def _carry(self, message: dict[str, Any], line: bytes, write: Write) -> None:
        """Send one message, and write what comes back, a stream of messages as it arrives."""
        answered = False
        try:
            async with self._http.stream(
                "POST", self._endpoint, content=line, headers=self._headers(message)
            ) as response:
                async for answer in _messages(response):
                    answered = True
                    self._note(message, answer)
                    await write(_line(answer))
                problem = "" if answered else _problem(response)
        except httpx2.HTTPError:
            problem = f"{NOT_RUNNING.format(address=self._address)} {START}"
        if problem and "id" in message:
            await write(_line(_error(message["id"], INTERNAL_ERROR, problem)))

    def _note(self, message: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Note the revision that `initialize` agreed on."""
        result = answer.get("result")
        if message.get("method") == "initialize" and isinstance(result, dict):
            self._handshake = str(result.get("protocolVersion", ""))

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """The headers of a message in its revision."""
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = meta.get(VERSION) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return {"MCP-Protocol-Version": _token(self._handshake)} if self._handshake else {}
        method = str(message.get("method", ""))
        headers = {"MCP-Protocol-Version": _token(version), "Mcp-Method": _token(method)}
        named = params.get(NAMED.get(method, ""))
        if isinstance(named, str):
            headers["Mcp-Name"] = _token(named)
        return headers


def _token(text: str) -> str:
    """A header's value: printable ASCII, so that a message cannot add headers."""
    return "".join(char for char in text[:1_000] if " " <= char <= "~").strip()


async def _messages(response: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    """The JSON-RPC messages of a response, one or a stream of events; none in any other one."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        async for line in response.aiter_lines():
            event = _message(line.removeprefix("data:")) if line.startswith("data:") else None
            if event is not None:
                yield event
        return
    await response.aread()
    answer = _message(response.text)
    if answer is not None:
        yield answer


def _message(text: str) -> dict[str, Any] | None:
    try:
        message = json.loads(text)
    except ValueError:
        return None
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None


def _problem(response: httpx2.Response) -> str:
    """The reason of a refusal, with the next step."""
    try:
        body = response.json()
        error = body["error"]
        if isinstance(error, str):
            return f"{body['advice']} ({error}, HTTP {response.status_code})"
        return f"{error['message']} (HTTP {response.status_code})"
    except (ValueError, KeyError, TypeError, httpx2.ResponseNotRead):
        return f"The program answered HTTP {response.status_code} without an explanation."


def _error(number: object, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


async def standard_streams() -> tuple[Read, Write]:
    """Standard input line by line, empty at its end, and standard output."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(MAX_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    lock = asyncio.Lock()

    async def read() -> bytes:
        try:
            return await reader.readline()
        except ValueError as error:
            raise StartError(f"A line has more than {MAX_LINE:,} bytes.") from error

    async def write(line: bytes) -> None:
        async with lock:
            await asyncio.to_thread(_write_out, line)

    return read, write


def _write_out(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
