"""Login links of the local pages over real sockets, and in a browser."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
import pytest

from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import LOCAL_PAGES
from parley.http.local_listener import LocalListener
from parley.http.login_links import LINK_SECONDS, LOG_IN, MAX_FORM, MAX_LINKS, LoginLinks

TOKEN = "a-token-of-decent-length"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def told(request: LocalRequest) -> LocalResponse:
    """A page that shows the headers by which an address could leave the browser."""
    return LocalResponse(repr([request.headers.get("referer"), dict(request.query)]).encode())


@pytest.fixture
async def guarded() -> AsyncIterator[LocalListener]:
    made = LocalListener(token=TOKEN)
    made.add_routes([LocalRoute("GET", "/chat/", told, LOCAL_PAGES)])
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


def code_of(link: str) -> str:
    return urlsplit(link).fragment


async def use(
    listener: LocalListener, http: aiohttp.ClientSession, code: str, **headers: str
) -> aiohttp.ClientResponse:
    """The answer to the form with this code; redirects are not followed."""
    address = listener.base_url + LOG_IN
    answer = await http.post(address, data={"code": code}, headers=headers, allow_redirects=False)
    await answer.read()
    return answer


async def test_a_login_link_works_once_and_sets_a_cookie(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    link = guarded.login_link("/chat/")
    assert TOKEN not in link
    used = await use(guarded, http, code_of(link))
    assert (used.status, used.headers["Location"]) == (303, "/chat/")
    cookie = used.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert TOKEN not in cookie
    async with http.get(guarded.base_url + "/chat/") as answer:
        assert answer.status == 200
    again = await use(guarded, http, code_of(link), **BROWSER)
    assert (again.status, again.content_type) == (401, "text/html")
    assert "This login link does not work" in await again.text()
    assert "Set-Cookie" not in again.headers


async def test_opening_a_login_link_uses_nothing(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    link = guarded.login_link("/chat/")
    assert code_of(link) not in link.partition("#")[0], "a request would tell it"
    code = code_of(link)
    for address in (link, f"{guarded.base_url}{LOG_IN}?code={code}", f"{guarded.base_url}/chat/"):
        for method in ("GET", "HEAD"):
            async with http.request(method, address, params={"token": code}) as answer:
                assert "Set-Cookie" not in answer.headers
                assert answer.status == (401 if "/chat/" in address else 200)
    assert (await use(guarded, http, code)).status == 303


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_a_page_of_another_site_cannot_use_a_login_link(
    elsewhere: dict[str, str], guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    code = code_of(guarded.login_link("/chat/"))
    refused = await use(guarded, http, code, **elsewhere)
    assert (refused.status, (await refused.json())["error"]) == (403, "strange_origin")
    assert "Set-Cookie" not in refused.headers
    assert (await use(guarded, http, code, Origin=guarded.base_url)).status == 303


async def test_other_texts_are_no_login_links(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    guarded.login_link("/chat/")
    for guess in (TOKEN, "", "x" * 500, "\udcff"):
        body = b"code=" + guess.encode("utf-8", "surrogateescape")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        async with http.post(guarded.base_url + LOG_IN, data=body, headers=form) as answer:
            assert answer.status == 401
    async with http.post(guarded.base_url + LOG_IN, json={"code": "x"}) as answer:
        assert answer.status == 401
    async with http.post(guarded.base_url + LOG_IN, data={"code": "x" * MAX_FORM}) as answer:
        assert answer.status == 413


async def test_nothing_of_the_request_says_where_a_login_leads(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    address = guarded.base_url + LOG_IN
    fields = {"code": code_of(guarded.login_link("/chat/")), "path": "//evil.example/"}
    query = {"next": "//evil.example/"}
    async with http.post(address, data=fields, params=query, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/chat/")


async def test_the_oldest_unused_links_end(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    links = [code_of(guarded.login_link("/chat/")) for _ in range(MAX_LINKS + 1)]
    assert (await use(guarded, http, links[0])).status == 401
    assert (await use(guarded, http, links[1])).status == 303


def test_a_login_link_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr("parley.http.login_links.time.monotonic", lambda: now[0])
    links = LoginLinks()
    first, second = (code_of(links.new("/chat/")) for _ in range(2))
    now[0] += LINK_SECONDS
    assert links.use(first) == "/chat/"
    now[0] += 1
    assert links.use(second) is None


async def test_the_page_of_a_login_link_is_in_the_language_of_the_browser(
    guarded: LocalListener, http: aiohttp.ClientSession
) -> None:
    async with http.get(guarded.base_url + LOG_IN) as answer:
        page = await answer.text()
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"
    assert re.search(r'<form method="post" action="/log-in"', page)
    assert "[[" not in page


async def test_without_a_token_there_is_no_login(http: aiohttp.ClientSession) -> None:
    made = LocalListener()
    await made.start()
    for method in ("GET", "POST"):
        async with http.request(method, made.base_url + LOG_IN) as answer:
            assert answer.status == 404
    assert made.login_link("/chat/") == made.base_url + "/chat/"
    await made.stop()
