"""The audit log for each kind of person, its filters and pages, and its verification, on both
databases."""

import re
from pathlib import Path
from typing import Any

import pytest

from db import Statement
from gateway.extensions import ExtensionRegistry
from gateway.ports.clock import SystemClock
from memory.ports.audit import AuditEntry
from memory.stores import audit as store
from memory.stores.audit import SqlAuditLog
from parley.console.views.audit import PAGE
from parley.security.keys import audit_key
from tests.parley.console.kit import OPERATOR, OTHER, OWNER, PERSON, Console, Sections, person_named
from tests.parley.console.talk import Talk, direct
from tests.support.waiting import eventually

ADA, EVE, OLGA = map(person_named, (PERSON, OTHER, OPERATOR))
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def sections() -> Sections:
    return {"memory": {"audit_key": "a" * 40}}


@pytest.fixture
def console(either_console: Console) -> Console:
    return either_console


def trail_of(console: Console) -> SqlAuditLog:
    return console.app.storage.memory.audit_on(audit_key(console.app.settings))


async def note(
    console: Console,
    person: str,
    action: Any = "memory_write",
    tenant: str = "default",
    **details: str,
) -> None:
    entry = AuditEntry(action, tenant, person, SystemClock().now(), tuple(details.items()))
    await trail_of(console).append(entry)


@pytest.fixture
async def noted(console: Console) -> None:
    await note(console, ADA, size="ada's own")
    await note(console, EVE, size="eve's own", text=HOSTILE)
    await note(console, EVE, "access_change", by=OLGA, what="approved")
    await note(console, OLGA, "console", what="taken_over", of=ADA)
    await note(console, ADA, tenant="other", size="elsewhere")
    await note(console, "", "memory_ttl_cleanup", tenant="", number="3")


async def audit(console: Console, name: str, query: str = "") -> dict[str, Any]:
    answer = await console.program.api_client(name)("GET", f"/console/audit{query}")
    assert answer.status == 200, answer.json
    found: dict[str, Any] = answer.json
    return found


def shown(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["person"], one["action"]) for one in found["rows"]]


@pytest.mark.usefixtures("noted")
async def test_operators_see_their_tenant_and_others_what_concerns_them(console: Console) -> None:
    every = [
        ("", "memory_ttl_cleanup"),
        (OLGA, "console"),
        (EVE, "access_change"),
        (EVE, "memory_write"),
        (ADA, "memory_write"),
    ]
    for name in (OPERATOR, OWNER):
        assert shown(await audit(console, name)) == every
    of_ada = await audit(console, PERSON)
    assert (of_ada["of"], of_ada["verification"]) == ("own", None)
    assert shown(of_ada) == [(OLGA, "console"), (ADA, "memory_write")]
    assert shown(await audit(console, OTHER)) == every[2:4]
    page = await (await console.visitor(PERSON)).get("/audit")
    assert EVE not in page.text
    page = await (await console.visitor(OPERATOR)).get("/audit")
    assert HOSTILE not in page.text
    assert "alert(1)" in page.text


@pytest.mark.usefixtures("noted")
async def test_changes_of_the_configuration_are_found_and_their_details_are_words(
    console: Console,
) -> None:
    await Talk(console.app)(direct(OTHER), OTHER, "Hello?")
    await note(console, OLGA, "console", what="configuration_changed", keys="assistant.name")
    page = (await (await console.visitor(OWNER)).get("/audit?action=configuration_changed")).text
    assert page.count('<tr><th scope="row">') == 1
    assert re.search(r"<small>keys</small>.*assistant.name", page)
    assert '<option value="configuration_changed" selected>configuration changed<' in page
    await note(console, OLGA, "console", what="glass_broken", of=EVE)
    every = (await (await console.visitor(OWNER)).get("/audit?action=console")).text
    assert "private texts opened" in every
    assert re.search(r"<small>about</small>\s*<a [^>]+><bdi[^>]*>Eve</bdi>", every)


@pytest.mark.usefixtures("noted")
async def test_filters_apply_within_what_one_may_see(console: Console) -> None:
    for name, query, number in (
        (OPERATOR, "?action=console", 1),
        (OPERATOR, f"?person={ADA}", 2),
        (OPERATOR, f"?person={OLGA}", 2),
        (OPERATOR, "?person=ada", 0),
        (OPERATOR, "?since=2020-01-01&until=2020-12-31", 0),
        (OPERATOR, "?since=2020-01-01&until=2099-01-01", 5),
        (PERSON, f"?person={EVE}", 0),
        (PERSON, f"?person={OLGA}&action=console", 1),
    ):
        assert len((await audit(console, name, query))["rows"]) == number, (name, query)
    client = console.program.api_client(OPERATOR)
    assert (await client("GET", "/console/audit?action=dance")).status == 400
    assert (await client("GET", "/console/audit?since=2026-02-31")).status == 422


@pytest.mark.usefixtures("noted")
async def test_where_tenants_are_served_the_programs_own_entries_are_not_shown(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExtensionRegistry, "has_tenants", True)
    assert ("", "memory_ttl_cleanup") not in shown(await audit(console, OPERATOR))


async def test_pages_follow_each_other_also_over_entries_that_do_not_fit(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(PAGE + 2):
        await note(console, ADA, size=str(number))
    await note(console, EVE)
    first = await audit(console, PERSON)
    second = await audit(console, PERSON, f"?after={first['next']}")
    assert (len(first["rows"]), len(second["rows"]), second["next"]) == (PAGE, 2, 0)
    monkeypatch.setattr(store, "SCANNED", 20)
    seen, after, pages = [], 0, 0
    while pages == 0 or after:
        found = await audit(console, PERSON, f"?after={after}" if after else "")
        seen += [one["number"] for one in found["rows"]]
        after, pages = found["next"], pages + 1
    assert (seen, pages) == (list(range(PAGE + 2, 0, -1)), 3)
    page = await (await console.visitor(PERSON)).get("/audit")
    assert 'rel="next"' in page.text


async def verified(console: Console) -> dict[str, Any]:
    client = console.signed_in(OPERATOR)
    assert (await client("POST", "/console/audit/verify")).status == 200
    found: dict[str, Any] = {}

    async def ended() -> bool:
        found.update((await client("GET", "/console/audit/verification")).json)
        return bool(found["state"] != "running")

    await eventually(ended)
    return found


@pytest.mark.usefixtures("noted")
async def test_the_chain_is_verified_and_a_changed_entry_is_found(console: Console) -> None:
    olga = await console.visitor(OPERATOR)
    assert "Verify now" in (await olga.get("/audit")).text
    found = await verified(console)
    # The two sign-ins and the verification are entries themselves.
    assert (found["state"], found["entries"], found["broken"], found["total"]) == ("done", 9, 0, 9)
    last = (await trail_of(console).links(8, 1))[0]
    assert (found["last"], found["hash"]) == (9, last.hash)
    assert "none of them was changed" in (await olga.get("/audit")).text
    await corrupt(console)
    found = await verified(console)
    assert (found["broken"], found["entries"], found["last"]) == (2, 1, 1)
    page = await olga.get("/audit/verification")
    assert "Entry 2 was changed" in page.text


async def corrupt(console: Console) -> None:
    """Change an entry as somebody with access to the database can."""
    # The audit's table refuses changes; the storage of a test can drop that.
    database = console.app.storage.history._database  # type: ignore[attr-defined]  # not in the port
    drop = {
        "sqlite": "DROP TRIGGER memory_audit_unchanged",
        "postgres": "DROP TRIGGER memory_audit_kept ON memory_audit",
    }
    await database.change(Statement(drop[database.engine]))
    await database.change(Statement("UPDATE memory_audit SET person = 'x' WHERE number = 2"))


async def test_a_verification_needs_the_key_and_an_operator(
    console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ada = console.signed_in(PERSON)
    assert (await ada("POST", "/console/audit/verify")).status == 403
    assert (await ada("GET", "/console/audit/verification")).status == 403
    monkeypatch.setattr(
        "parley.maintenance.audit_chain.audit_key_file", lambda _: tmp_path / "gone.key"
    )
    olga = console.signed_in(OPERATOR)
    answer = await olga("POST", "/console/audit/verify")
    assert answer.status == 422
    assert "gone.key is missing" in str(answer.json)
