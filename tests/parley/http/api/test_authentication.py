"""Authentication accepts only a token that is signed, valid in time and not revoked."""

import asyncio
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.ports.clock import SystemClock
from memory.stores.api_tokens import ApiToken
from parley.http.api.addresses import OPERATIONS
from parley.security.keys import token_key
from tests.parley.http.api.kit import PROJECT, ApiClient, Program, running, settings_in

DAY = timedelta(days=1)
EVERY = sorted({(each.method, each.path.replace("{id}", "mem-1")) for each in OPERATIONS})


@pytest.mark.parametrize(("method", "path"), EVERY)
async def test_every_endpoint_requires_a_token(program: Program, method: str, path: str) -> None:
    response = await program.api_client("ada", "")(method, path)
    assert (response.status, response.code) == (401, "token_missing")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert response.where == "header.Authorization"


async def test_also_an_unknown_path_requires_a_token(program: Program) -> None:
    nobody = program.api_client("ada", "")
    assert (await nobody("GET", "/nothing")).status == 401
    assert (await nobody("PATCH", "/brain")).status == 401


async def test_a_token_is_valid_until_it_expires(program: Program, ada: ApiClient) -> None:
    assert (await ada("GET", "/brain")).status == 200
    late = await program.api_client("ada", program.token("ada", days=-0.001))("GET", "/brain")
    assert (late.status, late.code) == (401, "token_expired")


def forged(token: str, **changes: object) -> str:
    """The token with another payload under the old signature."""
    body, _, signature = token.removeprefix("parley_").partition(".")
    payload = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4))) | changes
    changed = urlsafe_b64encode(json.dumps(payload).encode()).rstrip(b"=").decode()
    return f"parley_{changed}.{signature}"


async def test_a_forged_token_is_refused(program: Program, ada: ApiClient) -> None:
    good = ada.token
    tokens = (
        forged(good, person="web:main:eve"),
        forged(good, tenant="other"),
        forged(good, until=2**33 - 1),
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        good.partition(".")[0],
        good + ".",
        "parley_.",
        "x" * 7000,
        "é",
    )
    for token in tokens:
        response = await program.api_client("ada", token)("GET", "/brain")
        assert (response.status, response.code) == (401, "token_wrong"), token


async def test_a_header_that_is_not_text_is_refused(program: Program) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", program.app.local.port)
    writer.write(
        b"GET /api/v1/brain HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n"
    )
    assert await reader.readline() == b"HTTP/1.1 401 Unauthorized\r\n"
    writer.close()
    await writer.wait_closed()


async def test_revoking_one_token_keeps_the_others(program: Program) -> None:
    tokens = program.app.storage.memory.tokens
    now = SystemClock().now()
    callers = {}
    for name in ("laptop", "phone"):
        kept = ApiToken(f"id-{name}", name, "default", "web:main:ada", now, now + DAY)
        assert await tokens.add(kept)
        callers[name] = program.api_client("ada", program.token("ada", known=kept.id))
        assert (await callers[name]("GET", "/brain")).status == 200
    assert await tokens.revoke("phone") is not None
    response = await callers["phone"]("GET", "/brain")
    assert (response.status, response.code, response.where) == (
        401,
        "token_revoked",
        "header.Authorization",
    )
    assert (await callers["laptop"]("GET", "/brain")).status == 200


async def test_erasing_a_person_revokes_their_tokens(program: Program) -> None:
    now = SystemClock().now()
    stores = program.app.storage.memory
    await stores.tokens.add(ApiToken("i", "n", "default", "web:main:ada", now, now + DAY))
    ada = program.api_client("ada", program.token("ada", known="i"))
    await stores.personal.erase("default", ("web:main:ada",))
    assert (await ada("GET", "/brain")).code == "token_revoked"


async def test_a_revoked_token_is_refused_immediately(program: Program, ada: ApiClient) -> None:
    assert (await ada("GET", "/brain")).status == 200
    token_key(program.settings).revoke_all()
    response = await ada("GET", "/brain")
    assert (response.status, response.code) == (401, "token_wrong")
    assert (await program.api_client("ada")("GET", "/brain")).status == 200


async def test_the_configured_key_signs_tokens_if_there_is_no_key_file(tmp_path: Path) -> None:
    key = {"port": 0, "token_key": "k" * 32}
    async with running(settings_in(tmp_path, server=key)) as program:
        assert (await program.api_client("ada")("GET", "/brain")).status == 200
        assert not (tmp_path / "token.key").exists()


async def test_the_listener_token_and_its_cookie_authenticate_no_person(
    tmp_path: Path,
) -> None:
    server = {"port": 0, "token": "listener-token-0123456789"}
    async with running(settings_in(tmp_path, server=server)) as program:
        response = await program.api_client("ada", server["token"])("GET", "/brain")  # type: ignore[arg-type]
        assert (response.status, response.code) == (401, "token_wrong")
        question = await program.api_client("ada", "")("GET", f"/brain?token={server['token']}")
        assert question.status == 401
        assert (await program.api_client("ada")("GET", "/brain")).status == 200


async def test_a_request_through_a_proxy_also_requires_the_listener_token(
    program: Program, ada: ApiClient
) -> None:
    forwarded = {"X-Forwarded-For": "198.51.100.7"}
    refused = await program.api_client("ada", "")("GET", "/brain", headers=forwarded)
    assert refused.status == 401
    assert (await ada("GET", "/brain", headers=forwarded)).status == 200


async def test_the_description_requires_admission_to_the_local_pages(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path)) as program:
        nobody = program.api_client("ada", "")
        assert (await nobody("GET", "/openapi.json")).status == 200
        forwarded = {"X-Forwarded-For": "198.51.100.7"}
        assert (await nobody("GET", "/openapi.json", headers=forwarded)).status == 401
        assert (
            await program.api_client("ada")("GET", "/openapi.json", headers=forwarded)
        ).status == 200


async def test_a_page_of_another_site_is_refused(ada: ApiClient) -> None:
    body = {"content": "I prefer tabs"}
    origin = {"Origin": "https://elsewhere.example"}
    assert (await ada("POST", "/brain/memories", body, headers=origin)).status == 403


async def test_the_role_comes_from_the_configuration_and_not_from_the_token(
    program: Program, ada: ApiClient, olga: ApiClient
) -> None:
    await ada.in_room()
    await olga.in_room()
    body = {"content": "A shop for kites."}
    path = f"/brain/bible?project={PROJECT}"
    proposed, written = await ada("PUT", path, body), await olga("PUT", path, body)
    assert (proposed.status, proposed.json["outcome"]) == (202, "proposed")
    assert (written.status, written.json["outcome"]) == (200, "written")


async def test_a_blocked_person_is_refused(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path, access={"blocked_users": ["web:eve"]})) as program:
        response = await program.api_client("eve")("GET", "/brain")
        assert (response.status, response.code) == (403, "not_served")
        assert (await program.api_client("ada")("GET", "/brain")).status == 200


async def test_a_token_does_not_replace_an_approval(tmp_path: Path) -> None:
    access = {"admission": "approved", "allowed_users": ["web:ada"]}
    async with running(settings_in(tmp_path, access=access)) as program:
        response = await program.api_client("eve")("GET", "/brain")
        assert (response.status, response.code) == (403, "not_served")
        assert (await program.api_client("ada")("GET", "/brain")).status == 200


async def test_each_person_has_a_limit_of_requests_per_minute(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path, limits={"api_per_minute": 3})) as program:
        ada = program.api_client("ada")
        assert [(await ada("GET", "/brain")).status for _ in range(3)] == [200] * 3
        response = await ada("GET", "/brain")
        assert (response.status, response.code) == (429, "too_many")
        assert 1 <= int(response.headers["Retry-After"]) <= 20
        assert (await program.api_client("eve")("GET", "/brain")).status == 200


async def test_a_token_of_another_tenant_is_refused(program: Program, ada: ApiClient) -> None:
    await ada("PUT", "/brain/soul", {"content": "I fly kites."})
    abroad = program.api_client("ada", program.token("ada", tenant="elsewhere"))
    response = await abroad("GET", "/brain/soul")
    assert (response.status, response.code) == (401, "token_wrong")


async def test_without_memory_the_interface_does_not_exist(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path, memory={"enabled": False})) as program:
        assert (await program.api_client("ada")("GET", "/brain")).status == 404
