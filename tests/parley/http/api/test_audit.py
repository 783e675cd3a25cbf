"""Refused requests are in the audit log: bounded, at every log level, and without the request's
content."""

import logging
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from gateway.observe.logs import configure_logs
from memory.ports.audit import AuditEntry
from memory.stores.audit import first_broken
from parley.security.keys import audit_key
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import running as connected
from tests.parley.http.api.kit import Program, running, settings_in
from tests.support.databases import migrated_database

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(params=["sqlite", "postgres"])
async def program(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Program]:
    configure_logs(level=logging.ERROR)
    sections: dict[str, dict[str, object]] = {
        "limits": {"api_per_minute": 5},
        "access": {"blocked_users": ["web:bob"]},
        "memory": {"enabled": True},
    }
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        sections["database"] = {"url": migrated_database(server)}
        sections["storage"] = {"url": f"sqlite:///{tmp_path}/hot.db"}
        sections["server"] = {"port": 0, "token_key": "k" * 40}
        sections["memory"] = {"audit_key": "a" * 40}
    async with running(settings_in(tmp_path, **sections)) as started:
        yield started


async def entries(program: Program) -> list[AuditEntry]:
    """The security events of the audit, whose chain is sound."""
    await program.app.security.flush()
    key = audit_key(program.settings)
    links = await program.app.storage.memory.audit_on(key).links(0, 10_000)
    assert not first_broken(key, links)
    return [link.entry for link in links if link.entry.action == "security_event"]


async def test_each_refusal_is_audited_once_with_reason_and_person(program: Program) -> None:
    ada, bob = program.api_client("ada"), program.api_client("bob")
    assert (await program.api_client("ada", "")("GET", "/brain")).status == 401
    assert (await program.api_client("ada", ada.token[:-2] + "zz")("GET", "/brain")).status == 401
    assert (await bob("GET", "/brain")).status == 403
    assert (await ada("GET", "/brain/memories/mem-of-eve")).status == 404
    for _ in range(6):
        response = await ada("GET", "/brain")
    assert response.status == 429
    result = await entries(program)
    seen = [(e.person, dict(e.details)["event"], dict(e.details)["reason"]) for e in result]
    assert seen == [
        ("", "api_denied", "token_missing"),
        ("", "api_denied", "token_wrong"),
        ("web:main:bob", "api_denied", "not_served"),
        ("web:main:ada", "api_denied", "not_found"),
        ("web:main:ada", "api_denied", "too_many"),
    ]
    assert [entry.tenant for entry in result] == ["", "", "default", "default", "default"]
    written = str(result)
    assert "mem-of-eve" not in written
    assert ada.token not in written


async def test_many_wrong_tokens_are_few_entries_with_their_number(program: Program) -> None:
    sent = 400
    for number in range(sent):
        wrong = f"parley_{number}.x"
        hop = {"X-Forwarded-For": f"203.0.113.{number % 250}"}
        assert (await program.api_client("ada", wrong)("GET", "/brain", headers=hop)).status == 401
    program.app.security._close_window()  # as an hour later
    result = await entries(program)
    assert len(result) <= 2 * 32 + 1
    times = [int(dict(entry.details)["times"]) for entry in result]
    assert sum(times) == sent
    reasons = Counter(dict(entry.details)["reason"] for entry in result)
    assert set(reasons) == {"token_wrong", "others"}


async def test_a_webhook_without_a_valid_signature_is_audited(tmp_path: Path) -> None:
    async with connected({"whatsapp": WhatsAppSimulator()}, tmp_path) as app:
        (path,) = app.webhooks.paths
        async with aiohttp.ClientSession() as http:
            for headers in ({}, {"X-Hub-Signature-256": "sha256=" + "0" * 64}):
                hook, body = f"{app.webhook_url}{path}", b'{"x": "secret words"}'
                async with http.post(hook, data=body, headers=headers) as answer:
                    assert answer.status in (401, 403)
        await app.security.flush()
        links = await app.storage.memory.audit_on(b"").links(0, 100)
    (denied,) = [link.entry for link in links if link.entry.action == "security_event"]
    assert dict(denied.details)["event"] == "webhook_denied"
    assert "secret words" not in str(denied)


async def test_refusals_are_audited_also_with_memory_off(tmp_path: Path) -> None:
    server = {"port": 0, "token": "t" * 20}
    settings = settings_in(tmp_path, server=server, memory={"enabled": False})
    async with running(settings) as program:
        async with program.http.get(f"{program.app.local.base_url}/metrics") as answer:
            assert answer.status == 401
        assert len(await entries(program)) == 1


async def test_limits_count_linked_accounts_as_one_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tokens of two linked accounts have one limit together."""
    settings = settings_in(tmp_path, limits={"api_per_minute": 4})
    async with running(settings) as program:
        links = program.app.memory.links
        assert links is not None

        async def human(tenant: str, person: object) -> str:
            return "web:main:ada"

        monkeypatch.setattr(links, "human", human)
        ada, eve = program.api_client("ada"), program.api_client("eve")
        assert [(await ada("GET", "/brain")).status for _ in range(4)] == [200] * 4
        assert (await eve("GET", "/brain")).status == 429
