"""What the two HTTP servers use of their libraries beyond what these promise to keep.

A failure here means that a new version of a library needs a look at `parley/http/asgi_server.py`,
`strict_http.py` or `webhook_listener.py`, before anything else is tried.
"""

import asyncio
import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

import h11
import pytest
from aiohttp import web
from aiohttp.http_writer import StreamWriter
from aiohttp.web_protocol import RequestHandler
from packaging.requirements import Requirement
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from parley.http.asgi_server import AsgiServer, _Protocol
from parley.http.strict_http import StrictConnection
from parley.http.webhook_listener import _BareResponse, _QuietHandler, _QuietServer

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """An application."""


def parameters(function: object) -> list[str]:
    """The names of the parameters of a function."""
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type] # any callable


@pytest.mark.parametrize("library", ["uvicorn", "aiohttp"])
def test_one_minor_version_of_the_library_is_taken(library: str) -> None:
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    (taken,) = [one for one in map(Requirement, project["dependencies"]) if one.name == library]
    major, minor, *_ = map(int, version(library).split("."))
    assert taken.specifier.contains(f"{major}.{minor}.99")
    assert not taken.specifier.contains(f"{major}.{minor + 1}.0")
    assert not taken.specifier.contains(f"{major + 1}.0.0")


async def test_uvicorns_protocol_has_the_parts_that_are_used() -> None:
    assert parameters(H11Protocol.__init__)[1:4] == ["config", "server_state", "app_state"]
    for name in ("send_400_response", "timeout_keep_alive_handler", "data_received",
                 "connection_made", "connection_lost"):  # fmt: skip
        assert name in vars(H11Protocol), name
        assert parameters(getattr(H11Protocol, name)) == parameters(getattr(_Protocol, name))

    config = Config(app, log_config=None, lifespan="off", interface="asgi3")
    config.load()
    protocol = H11Protocol(config, ServerState(), {}, asyncio.get_running_loop())
    assert protocol.app is config.loaded_app
    assert isinstance(protocol.conn, h11.Connection)
    assert getattr(protocol, "cycle", "missing") is None
    assert {"connections", "tasks"} <= set(vars(ServerState()))
    used = inspect.getsource(RequestResponseCycle.__init__)
    for name in ("more_body", "response_complete", "keep_alive"):
        assert f"self.{name}" in used, name


async def test_our_protocol_reads_with_the_strict_connection() -> None:
    protocol = AsgiServer(app).protocol()
    assert isinstance(protocol, H11Protocol)
    assert isinstance(protocol.conn, StrictConnection)
    assert protocol.app != app


def test_h11_has_the_parts_that_are_used() -> None:
    assert parameters(h11.Connection.next_event) == parameters(StrictConnection.next_event)
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(b"GET / HTTP/1.1\r\n")
    assert connection.trailing_data == (b"GET / HTTP/1.1\r\n", False)
    assert connection.their_state is h11.IDLE


async def test_aiohttps_server_has_the_parts_that_are_used() -> None:
    async def handler(_: web.BaseRequest) -> web.Response:
        return web.Response()

    server = web.Server(handler, access_log=None)
    assert server._kwargs == {"access_log": None}
    assert server._loop is asyncio.get_running_loop()
    assert isinstance(server(), RequestHandler)
    assert isinstance(_QuietServer(handler)(), _QuietHandler)
    replaced = parameters(RequestHandler.handle_error)
    assert replaced == parameters(_QuietHandler.handle_error)
    assert inspect.iscoroutinefunction(web.Response._prepare_headers)
    assert parameters(web.Response._prepare_headers) == parameters(_BareResponse._prepare_headers)
    assert "output_size" in inspect.getsource(StreamWriter)
