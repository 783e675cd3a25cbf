"""Ways around the gate: other spellings of a path or a method, and credentials in wrong places."""

import json

import pytest
from yarl import URL

from parley.console.security import NAME
from parley.console.sessions import csrf_of
from tests.parley.rights.conftest import Program

pytestmark = [pytest.mark.xdist_group("rights"), pytest.mark.asyncio(loop_scope="module")]

ZONE = "/account/zone"
JSON = {"Content-Type": "application/json"}
BODY = json.dumps({"zone": "Asia/Tokyo"})
API = "/api/v1/console"


async def status(program: Program, method: str, path: str, **headers: str) -> int:
    """The status of a request that would change the time zone of a session."""
    sent = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    url = URL(program.base + path, encoded=True)
    async with program.http.request(
        method, url, data=BODY, headers=sent, allow_redirects=False
    ) as answer:
        return answer.status


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "post"])
async def test_another_method_does_not_run_an_action(program: Program, method: str) -> None:
    token = f"Bearer {program.token('oona')}"
    assert await status(program, method, API + ZONE, Authorization=token) in (400, 403, 405)


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
async def test_no_header_replaces_the_method(program: Program, header: str) -> None:
    token = f"Bearer {program.token('oona')}"
    more = {header: "POST", "Authorization": token}
    assert await status(program, "GET", API + ZONE, **more) == 405
    assert await status(program, "GET", f"{API}{ZONE}?_method=POST", Authorization=token) == 405


@pytest.mark.parametrize(
    "path",
    [
        f"/{API}{ZONE}",
        f"{API}/{ZONE}",
        f"{API}{ZONE}/",
        f"{API}{ZONE}//",
        "/api/v1/%63onsole/account/zone",
        "/api/v1/console%2faccount%2fzone",
        "/api/v1/console/account%2fzone",
        "/api/v1/brain/../console/account/zone",
        "/api/v1/brain/%2e%2e/console/account/zone",
        "/api/v1/console/./account/zone",
        "/api/v1/console/account/zone;a=b",
        "/api/v1/console/account/zone%00",
        "/API/V1/CONSOLE/account/zone",
        "/console/../api/v1/console/account/zone",
        "/healthz/../api/v1/console/account/zone",
    ],
)
async def test_no_spelling_of_a_path_leads_around_the_gate(program: Program, path: str) -> None:
    for token in (program.token("oona"), "a-token-of-the-listener-0123456789"):
        found = await status(program, "POST", path, Authorization=f"Bearer {token}")
        assert found in (400, 401, 403, 404, 405)


async def test_a_token_counts_in_its_header_only(program: Program) -> None:
    token = program.token("oona")
    for path in ("/api/v1/brain", f"{API}/overview", "/api/events"):
        assert await status(program, "GET", f"{path}?access_token={token}&token={token}") == 401
        for cookie in (f"{NAME}={token}", f"token={token}", f"Authorization=Bearer {token}"):
            assert await status(program, "GET", path, Cookie=cookie) == 401
        assert await status(program, "GET", path, Authorization=f"Basic {token}") == 401


async def test_a_session_counts_for_the_console_only(program: Program) -> None:
    secret = await program.session("oona")
    cookie = {"Cookie": f"{NAME}={secret}", "X-CSRF-Token": csrf_of(secret)}
    for method, path in (
        ("GET", "/api/v1/brain"),
        ("PUT", "/api/v1/brain/soul"),
        ("GET", "/api/events"),
        ("POST", "/mcp"),
        ("GET", "/metrics"),
        ("POST", "/page-links"),
    ):
        assert await status(program, method, path, **cookie) == 401
        assert await status(program, method, path, Authorization=f"Bearer {secret}") == 401
    assert await status(program, "POST", API + ZONE, **cookie) == 200


async def test_a_session_needs_its_own_form_and_our_own_page(program: Program) -> None:
    secret, other = await program.session("oona"), await program.session("oona")
    cookie = {"Cookie": f"{NAME}={secret}"}
    for form in ("", "x", csrf_of(other), csrf_of("")):
        assert await status(program, "POST", API + ZONE, **cookie, X_CSRF_Token=form) == 403
    mine = {**cookie, "X-CSRF-Token": csrf_of(secret)}
    assert await status(program, "POST", API + ZONE, **mine, Origin="https://evil.example") == 403
    assert await status(program, "POST", API + ZONE, **mine, Sec_Fetch_Site="cross-site") == 403
    assert await status(program, "POST", API + ZONE, **mine, Authorization="Bearer x") == 401
    assert await status(program, "POST", API + ZONE, **mine, Authorization="") == 401


async def test_a_cookie_from_before_the_sign_in_is_no_session(program: Program) -> None:
    chosen = "chosen-by-somebody-else"
    link = await program.app.console_sessions.link("default", "web:main:oona")
    form = {"link": link.partition("#")[2], "zone": "UTC"}
    url, cookie = f"{program.base}/console/sign-in", {"Cookie": f"{NAME}={chosen}"}
    async with program.http.post(url, data=form, headers=cookie, allow_redirects=False) as answer:
        assert answer.status == 303
        assert chosen not in answer.headers["Set-Cookie"]
    assert await status(program, "GET", f"{API}/overview", **cookie) == 401
