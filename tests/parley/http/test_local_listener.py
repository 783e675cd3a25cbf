"""The local listener over real sockets."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp
from yarl import URL

from gateway.errors import ConfigurationError, StartError
from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import LOCAL_PAGES
from parley.http.access_layers import page_gate, start_routes
from parley.http.asgi import LateApp
from parley.http.health_endpoints import Readiness
from parley.http.local_listener import LocalListener
from parley.http.middlewares import SECURITY_HEADERS
from parley.http.starlette_routes import Served, routes_of

TOKEN = "a-token-of-decent-length"


async def hello(_request: Request) -> Response:
    return Response("hello")


async def greet(_request: LocalRequest) -> LocalResponse:
    return LocalResponse(b"hello")


def listener(token: str = "", **more: object) -> LocalListener:
    """One with two routes."""
    made = LocalListener(token=token, **more)  # type: ignore[arg-type] # tests name real parameters
    made.add_routes(
        [LocalRoute("GET", "/", greet, LOCAL_PAGES), LocalRoute("POST", "/", greet, LOCAL_PAGES)]
    )
    return made


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


@pytest.fixture
async def plain() -> AsyncIterator[LocalListener]:
    made = listener()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def guarded() -> AsyncIterator[LocalListener]:
    made = listener(TOKEN)
    await made.start()
    yield made
    await made.stop()


async def test_health_is_always_available_and_every_response_has_security_headers(
    plain: LocalListener, http: aiohttp.ClientSession
) -> None:
    for path, status in (("/healthz", 200), ("/readyz", 200), ("/", 200), ("/nothing", 404)):
        async with http.get(plain.base_url + path) as answer:
            assert answer.status == status
            for name, value in SECURITY_HEADERS.items():
                assert answer.headers[name] == value
            assert "Server" not in answer.headers


async def test_readiness_is_public_and_its_details_require_admission(
    http: aiohttp.ClientSession,
) -> None:
    parts = {"slack": "unresponsive", "telegram": "ready"}
    made = listener(TOKEN, ready=lambda: Readiness(False, parts))
    await made.start()
    async with http.get(made.base_url + "/readyz") as answer:
        assert answer.status == 503
        assert await answer.json() == {"ready": False}
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    async with http.get(made.base_url + "/readyz", headers=bearer) as answer:
        assert await answer.json() == {"ready": False, "parts": parts}
    await made.stop()


async def test_health_is_available_through_a_proxy(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    through = {"X-Forwarded-For": "9.9.9.9", "Host": "parley.example"}
    async with http.get(guarded.base_url + "/healthz", headers=through) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"Host": "evil.example"}, 403),
        ("GET", {"X-Forwarded-For": "1.1.1.1"}, 401),
        ("POST", {"Origin": "https://evil.example"}, 403),
        ("POST", {}, 200),
        ("GET", {}, 200),
    ],
)
async def test_requests_from_elsewhere_are_refused(
    plain: LocalListener,
    http: aiohttp.ClientSession,
    method: str,
    headers: dict[str, str],
    status: int,
) -> None:
    async with http.request(method, plain.base_url + "/", headers=headers) as answer:
        assert answer.status == status


async def test_a_page_of_another_site_gets_no_websocket(
    plain: LocalListener, http: aiohttp.ClientSession
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as error:
        await http.ws_connect(plain.base_url, origin="https://evil.example")
    assert error.value.status == 403
    with pytest.raises(aiohttp.WSServerHandshakeError) as error:
        await http.ws_connect(plain.base_url, origin=plain.base_url)
    assert error.value.status == 200, "let in; no page here answers as a WebSocket"


async def test_without_the_token_only_health_is_available(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    async with http.get(guarded.base_url + "/") as answer:
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "login link" in (await answer.json())["advice"]
    async with http.get(
        guarded.base_url + "/", headers={"Authorization": f"Bearer {TOKEN}"}
    ) as answer:
        assert await answer.text() == "hello"


async def test_a_browser_without_access_sees_a_page_that_says_how_to_get_it(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/", "/?token=wrong"):
        async with http.get(guarded.base_url + path, headers=browser) as answer:
            assert (answer.status, answer.content_type) == (401, "text/html")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert "parley page" in await answer.text()


@pytest.mark.parametrize("path", ["/?token=wrong", "/"])
async def test_a_browser_without_access_gets_a_page_that_says_how_to_get_a_link(
    path: str, guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    accept = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    async with http.get(guarded.base_url + path, headers=accept) as answer:
        assert answer.status == 401
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        for name, value in SECURITY_HEADERS.items():
            assert answer.headers[name] == value
        page = await answer.text()
    assert '<pre dir="ltr">parley page</pre>' in page
    assert "wrong" not in page
    async with http.get(guarded.base_url + path) as answer:
        assert (answer.status, answer.content_type) == (401, "application/json")
        assert set(await answer.json()) == {"error", "advice"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "parley.example", ""])
async def test_it_refuses_to_listen_beyond_loopback_without_a_token(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"server\.token"):
        await LocalListener(host, 0).start()
    with pytest.raises(ConfigurationError, match="too few"):
        await LocalListener(host, 0, "short").start()


async def test_it_listens_beyond_loopback_with_a_token() -> None:
    made = LocalListener("0.0.0.0", 0, TOKEN)
    await made.start()
    assert made.base_url == f"http://127.0.0.1:{made.port}"
    await made.stop()
    await made.stop()


async def test_a_taken_port_is_a_clear_error(plain: LocalListener) -> None:
    with pytest.raises(StartError, match=r"server\.port") as refused:
        await LocalListener("127.0.0.1", plain.port).start()
    where = f"127.0.0.1:{plain.port}"
    assert refused.value.problem == (
        f"local listener: cannot listen on {where} (Address already in use)."
    )


async def test_routes_are_added_before_the_start(plain: LocalListener) -> None:
    with pytest.raises(RuntimeError):
        plain.add_routes([LocalRoute("GET", "/late", greet, LOCAL_PAGES)])


async def test_without_a_token_the_login_link_is_the_page_itself(plain: LocalListener) -> None:
    assert plain.login_link("/chat") == plain.base_url + "/chat"


async def test_an_authorization_header_that_is_not_text_is_refused(
    guarded: LocalListener,
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", guarded.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\r\n\r\n")
    assert await reader.readline() == b"HTTP/1.1 401 Unauthorized\r\n"
    writer.close()
    await writer.wait_closed()


async def test_an_app_with_its_own_tokens_does_not_require_the_listener_token(
    http: aiohttp.ClientSession,
) -> None:
    def app() -> ASGIApp:
        return Router([Route("/own", hello, methods=["GET", "POST"])])

    made = listener(TOKEN)
    made.mount_app("/app", app)
    for _ in range(2):  # it can be started again
        await made.start()
        strange = {"Origin": "https://elsewhere.example"}
        for method, path, headers, status in (
            ("GET", "/app/own", {}, 200),
            ("GET", "/app/none", {}, 404),
            ("GET", "/app/own?token=x", {}, 200),
            ("POST", "/app/own", strange, 403),
            ("GET", "/", {}, 401),
            ("GET", "/app/../", {}, 404),
            ("GET", "/app%2F..%2F", {}, 401),
            ("GET", "/apply", {}, 401),
        ):
            url = URL(made.base_url + path, encoded=True)
            async with http.request(method, url, headers=headers) as answer:
                assert answer.status == status, path
        await made.stop()


async def test_an_application_with_a_route_that_nobody_declared_ends_the_program() -> None:
    def app() -> ASGIApp:
        served = Served("GET", "/all", hello, None)  # type: ignore[arg-type]  # what a mistake makes
        return Router(routes_of([served], page_gate))

    made = listener(TOKEN)
    made.mount_app("/own", lambda: LateApp(app))
    await made.start()
    try:
        with pytest.raises(StartError, match=r"/own cannot be served: GET /all"):
            await made.load_apps()
    finally:
        await made.stop()


async def test_applications_are_loaded_once() -> None:
    built: list[str] = []

    def app() -> ASGIApp:
        built.append("app")
        return Router([Route("/", hello)])

    made = listener(TOKEN)
    made.mount_app("/own", lambda: LateApp(app))
    await made.start()
    try:
        await made.load_apps()
        async with (
            aiohttp.ClientSession() as client,
            client.get(f"{made.base_url}/own") as response,
        ):
            assert response.status == 200
        await made.load_apps()
    finally:
        await made.stop()
    assert built == ["app"]


async def test_the_address_without_a_path_leads_to_the_start_page_with_and_without_a_token(
    http: aiohttp.ClientSession,
) -> None:
    for token in ("", TOKEN):
        listener = LocalListener(token=token)
        listener.add_routes(start_routes("/console/"))
        await listener.start()
        async with http.get(listener.base_url + "/", allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (303, "/console/")
        async with http.get(
            listener.base_url + "/nowhere", headers={"Accept": "text/html"}
        ) as response:
            assert response.status == (401 if token else 404)
        await listener.stop()
    assert list(start_routes("")) == []
