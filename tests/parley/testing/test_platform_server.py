"""The HTTP interface of a simulator: its requests, refusals and faults."""

from collections import deque
from collections.abc import AsyncIterator, Mapping

import aiohttp
import pytest

from parley.testing import PlatformServer
from parley.testing.platform_server import Refused
from simulators.base import ApiCall, Fault, FaultKind, Faults

TOKEN = {"Authorization": "Bearer right"}


@pytest.fixture
async def server() -> AsyncIterator[PlatformServer]:
    made = PlatformServer("right", Faults(), deque(maxlen=10))

    async def echo(values: Mapping[str, object]) -> object:
        if values.get("text") == "refuse":
            raise Refused(404, "there is no such chat")
        return dict(values)

    made.on("POST /echo", echo)
    await made.start()
    yield made
    await made.stop()
    await made.stop()


def calls(server: PlatformServer) -> list[ApiCall]:
    return list(server._calls)


async def test_a_request_has_its_query_and_body_as_one_mapping(server: PlatformServer) -> None:
    async with aiohttp.ClientSession(headers=TOKEN) as session:
        url = f"{server.url}/echo?chat=1"
        async with session.post(url, json={"text": "hi"}) as response:
            assert await response.json() == {"chat": "1", "text": "hi"}
    assert [(one.method, one.status) for one in calls(server)] == [("POST /echo", 200)]


@pytest.mark.parametrize(
    ("path", "token", "body", "status", "error"),
    [
        ("/echo", "right", '{"text": "refuse"}', 404, "there is no such chat"),
        ("/echo", "wrong", "{}", 401, "the token is wrong"),
        ("/echo", "right", "{", 400, "the body is not JSON"),
        ("/echo", "right", "[]", 400, "the body is not a JSON object"),
        ("/other", "right", "", 404, "there is no POST /other"),
    ],
)
async def test_a_wrong_request_is_refused_with_its_reason(
    server: PlatformServer, path: str, token: str, body: str, status: int, error: str
) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{server.url}{path}", data=body) as response,
    ):
        assert (response.status, await response.json()) == (status, {"error": error})
    assert [one.status for one in calls(server)] == [status]


async def test_a_rate_limit_names_its_time_and_an_error_is_a_503(server: PlatformServer) -> None:
    server._faults.add(Fault("POST /echo", "rate_limit", retry_after=7.0))
    server._faults.add(Fault("POST /echo", "server_error"))
    async with aiohttp.ClientSession(headers=TOKEN) as session:
        async with session.post(f"{server.url}/echo") as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "7")
        async with session.post(f"{server.url}/echo") as response:
            assert response.status == 503
        async with session.post(f"{server.url}/echo") as response:
            assert response.status == 200


@pytest.mark.parametrize(
    ("kind", "taken"), [("drop_before", 0), ("drop_after", 1), ("drop_within", 1)]
)
async def test_a_cut_connection_has_no_complete_answer(
    server: PlatformServer, kind: FaultKind, taken: int
) -> None:
    server._faults.add(Fault("*", kind))
    async with aiohttp.ClientSession(headers=TOKEN) as session:
        with pytest.raises(aiohttp.ClientError):
            async with session.post(f"{server.url}/echo") as response:
                await response.read()
    assert len(calls(server)) == taken
