"""Applications that the local listener mounts: their paths and their lifespans."""

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
from parley.http.connections import ConnectionPhase
from parley.http.local_listener import LocalListener
from tests.parley.http.local import Handlers, answers, dialogue, error_of, get
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


async def shows_its_path(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers with what it sees."""
    text = f"{scope['root_path']} {scope['path']}"
    await PlainTextResponse(text)(scope, receive, send)


class Lifespan:
    """A lifespan that records itself, in the task that it began in."""

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
def lifespan() -> Lifespan:
    return Lifespan()


def with_app(lifespan: Lifespan, prefix: str = "/app") -> LocalListener:
    made = LocalListener()
    made.add_routes(Handlers().routes())
    made.mount_app(prefix, lifespan.make, lifespan)
    return made


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/app", "/app /app/"),
        ("/app/", "/app /app/"),
        ("/app/a/b?c=d", "/app /app/a/b"),
        ("/app/a%2Fb", "/app /app/a%2Fb"),
        ("/apply", ""),
        ("/app%2Fa", ""),
        ("/App/a", ""),
    ],
)
async def test_an_app_is_served_at_its_prefix_and_below(
    lifespan: Lifespan, path: str, seen: str
) -> None:
    listener = with_app(lifespan)
    await listener.start()
    ((status, _, body),) = await answers(listener, get(path))
    assert (status, body.decode()) == (200, seen) if seen else status == 404
    await listener.stop()


async def test_a_lifespan_begins_before_the_port_opens_and_ends_after_it_closed(
    lifespan: Lifespan,
) -> None:
    listener = with_app(lifespan)
    for _ in range(2):
        await asyncio.create_task(listener.start())
        assert lifespan.events == ["made", "begun"]
        await asyncio.create_task(listener.stop())
        assert lifespan.events == ["made", "begun", "ended"]
        lifespan.events.clear()


async def test_a_life_that_does_not_begin_is_a_clear_error(lifespan: Lifespan) -> None:
    listener, lifespan.fails = with_app(lifespan), True
    with capture_logs() as logged, pytest.raises(StartError, match="did not start"):
        await listener.start()
    assert not listener.listening
    assert [entry["event"] for entry in logged] == ["mounted_app_failed"]


async def test_a_life_ends_where_the_port_is_taken(lifespan: Lifespan) -> None:
    first = LocalListener()
    await first.start()
    second = LocalListener(port=first.port)
    second.mount_app("/app", lifespan.make, lifespan)
    with pytest.raises(StartError, match="cannot listen"):
        await second.start()
    assert lifespan.events[-1] == "ended"
    await first.stop()


async def test_a_life_that_stays_does_not_keep_the_listener_from_stopping(
    lifespan: Lifespan,
) -> None:
    listener, lifespan.stays = with_app(lifespan), True
    await listener.start()
    began = time.monotonic()
    await listener.stop()
    assert time.monotonic() - began < 5


async def test_apps_are_added_before_the_start(lifespan: Lifespan) -> None:
    listener = with_app(lifespan)
    await listener.start()
    with pytest.raises(RuntimeError):
        listener.mount_app("/late", lifespan.make)
    await listener.stop()


async def test_the_rules_of_the_listener_hold_for_an_app(lifespan: Lifespan) -> None:
    listener = with_app(lifespan)
    await listener.start()
    for field, status, code in (
        (b"Origin: http://elsewhere.example\r\n", 403, "strange_origin"),
        (b"Content-Encoding: gzip\r\n", 415, "compressed"),
        (b"Content-Length: 1000000000\r\n", 413, "too_large"),
    ):
        post = get("/app", field).replace(b"GET", b"POST", 1)
        ((result, _, body),) = await answers(listener, post)
        assert (result, error_of(body)) == (status, code)
    ((result, _, body),) = await answers(listener, get("/app").replace(b"localhost", b"a@b", 1))
    assert (result, error_of(body)) == (400, "bad_host")
    await listener.stop()


async def test_a_stream_of_an_app_ends_when_the_client_or_the_listener_goes() -> None:
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
    listener.mount_app("/app", lambda: Router([Route("/events", events)]))
    await listener.start()
    async with dialogue(listener, get("/app/events")) as (reader, _):
        await reader.readuntil(b"first")
    await eventually(lambda: len(ended) == 1)
    async with dialogue(listener, get("/app/events")) as (reader, _):
        await reader.readuntil(b"first")
        began = time.monotonic()
        await listener.stop()
        assert time.monotonic() - began < 3
    assert len(ended) == 2


async def test_an_application_that_goes_on_after_its_answer_counts_as_answered() -> None:
    going_on, handlers = asyncio.Event(), Handlers()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("hello")(scope, receive, send)
        await going_on.wait()

    listener = LocalListener()
    listener.add_routes(handlers.routes())
    listener.mount_app("/app", lambda: slow)
    await listener.start()
    async with dialogue(listener, get("/app", close=False)) as (reader, writer):
        await reader.readuntil(b"hello")
        assert listener.connections.count(ConnectionPhase.IDLE) == 1
        writer.write(get("/hangs"))
        await eventually(lambda: handlers.reached)
        going_on.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert listener.connections.count(ConnectionPhase.WORK) == 1
        handlers.hanging.set()
        await reader.readuntil(b"late")
    await listener.stop()


async def test_the_mounted_applications_may_be_of_any_framework() -> None:
    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        headers = [(b"content-length", b"2"), (b"server", b"of the app")]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": message["body"]})

    listener = LocalListener()
    listener.mount_app("/app", lambda: bare)
    await listener.start()
    post = get("/app", b"Content-Length: 2\r\n").replace(b"GET", b"POST", 1)
    ((status, headers, body),) = await answers(listener, post + b"hi")
    assert (status, body) == (202, b"hi")
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers
    await listener.stop()
