"""Parts of the local listener with tokens of their own: where they are served, and their lives."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from gateway.errors import StartError
from parley.http.connections import Phase
from parley.http.local_listener import LocalListener
from tests.parley.http.local import Handlers, answers, dialogue, error_of, get
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


async def shows_its_path(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers with what it sees."""
    text = f"{scope['root_path']} {scope['path']}"
    await PlainTextResponse(text)(scope, receive, send)


class Life:
    """A life that records itself, in the task that it began in."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.fails = self.stays = False

    def make(self) -> ASGIApp:
        self.events.append("made")
        return shows_its_path

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        if self.fails:
            raise OSError("a resource is missing")
        task = asyncio.current_task()
        self.events.append("begun")
        try:
            yield
        finally:
            assert asyncio.current_task() is task
            self.events.append("ended")
            if self.stays:
                await asyncio.sleep(PATIENCE)


@pytest.fixture
def life() -> Life:
    return Life()


def with_part(life: Life, prefix: str = "/part") -> LocalListener:
    made = LocalListener()
    made.add_routes(Handlers().routes())
    made.add_guarded(prefix, life.make, life)
    return made


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/part", "/part /part/"),
        ("/part/", "/part /part/"),
        ("/part/a/b?c=d", "/part /part/a/b"),
        ("/part/a%2Fb", "/part /part/a%2Fb"),
        ("/partly", ""),
        ("/part%2Fa", ""),
        ("/Part/a", ""),
    ],
)
async def test_a_part_is_served_at_its_prefix_and_below(life: Life, path: str, seen: str) -> None:
    listener = with_part(life)
    await listener.start()
    ((status, _, body),) = await answers(listener, get(path))
    assert (status, body.decode()) == (200, seen) if seen else status == 404
    await listener.stop()


async def test_a_life_begins_before_the_port_opens_and_ends_after_it_closed(life: Life) -> None:
    listener = with_part(life)
    for _ in range(2):
        await asyncio.create_task(listener.start())
        assert life.events == ["made", "begun"]
        await asyncio.create_task(listener.stop())
        assert life.events == ["made", "begun", "ended"]
        life.events.clear()


async def test_a_life_that_does_not_begin_is_a_clear_error(life: Life) -> None:
    listener, life.fails = with_part(life), True
    with capture_logs() as logged, pytest.raises(StartError, match="did not start"):
        await listener.start()
    assert not listener.listening
    assert [entry["event"] for entry in logged] == ["guarded_part_ended"]


async def test_a_life_ends_where_the_port_is_taken(life: Life) -> None:
    first = LocalListener()
    await first.start()
    second = LocalListener(port=first.port)
    second.add_guarded("/part", life.make, life)
    with pytest.raises(StartError, match="cannot listen"):
        await second.start()
    assert life.events[-1] == "ended"
    await first.stop()


async def test_a_life_that_stays_does_not_keep_the_listener_from_stopping(life: Life) -> None:
    listener, life.stays = with_part(life), True
    await listener.start()
    began = time.monotonic()
    await listener.stop()
    assert time.monotonic() - began < 5


async def test_parts_are_added_before_the_start(life: Life) -> None:
    listener = with_part(life)
    await listener.start()
    with pytest.raises(RuntimeError):
        listener.add_guarded("/late", life.make)
    await listener.stop()


async def test_the_rules_of_the_listener_hold_for_a_part(life: Life) -> None:
    listener = with_part(life)
    await listener.start()
    for field, status, code in (
        (b"Origin: http://elsewhere.example\r\n", 403, "strange_origin"),
        (b"Content-Encoding: gzip\r\n", 415, "compressed"),
        (b"Content-Length: 1000000000\r\n", 413, "too_large"),
    ):
        post = get("/part", field).replace(b"GET", b"POST", 1)
        ((found, _, body),) = await answers(listener, post)
        assert (found, error_of(body)) == (status, code)
    ((found, _, body),) = await answers(listener, get("/part").replace(b"localhost", b"a@b", 1))
    assert (found, error_of(body)) == (400, "bad_host")
    await listener.stop()


async def test_a_stream_of_a_part_ends_when_the_client_or_the_listener_goes() -> None:
    ended: list[str] = []

    async def events(_request: Request) -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            try:
                yield b"data: first\n\n"
                await asyncio.sleep(PATIENCE)
            finally:
                ended.append("ended")

        return StreamingResponse(chunks(), media_type="text/event-stream; charset=utf-8")

    listener = LocalListener()
    listener.add_guarded("/part", lambda: Router([Route("/events", events)]))
    await listener.start()
    async with dialogue(listener, get("/part/events")) as (reader, _):
        await reader.readuntil(b"first")
    await eventually(lambda: len(ended) == 1)
    async with dialogue(listener, get("/part/events")) as (reader, _):
        await reader.readuntil(b"first")
        began = time.monotonic()
        await listener.stop()
        assert time.monotonic() - began < 3
    assert len(ended) == 2


async def test_an_application_that_goes_on_after_its_answer_counts_as_answered() -> None:
    going_on, handlers = asyncio.Event(), Handlers()

    async def part(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("hello")(scope, receive, send)
        await going_on.wait()

    listener = LocalListener()
    listener.add_routes(handlers.routes())
    listener.add_guarded("/part", lambda: part)
    await listener.start()
    async with dialogue(listener, get("/part", close=False)) as (reader, writer):
        await reader.readuntil(b"hello")
        assert listener.connections.count(Phase.IDLE) == 1
        writer.write(get("/hangs"))
        await eventually(lambda: handlers.reached)
        going_on.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert listener.connections.count(Phase.WORK) == 1
        handlers.hanging.set()
        await reader.readuntil(b"late")
    await listener.stop()


async def test_the_applications_of_parts_may_be_of_any_framework() -> None:
    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        headers = [(b"content-length", b"2"), (b"server", b"of the part")]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": message["body"]})

    listener = LocalListener()
    listener.add_guarded("/part", lambda: bare)
    await listener.start()
    post = get("/part", b"Content-Length: 2\r\n").replace(b"GET", b"POST", 1)
    ((status, headers, body),) = await answers(listener, post + b"hi")
    assert (status, body) == (202, b"hi")
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers
    await listener.stop()
