"""The page Access: people who ask, approved people, tools, tokens."""

import re
from datetime import timedelta

import pytest

from gateway.message import Place
from gateway.people import Audience
from gateway.ports.admissions import Applicant
from gateway.ports.rights import TokenScope
from memory.stores.api_tokens import ApiToken
from parley.console.views.access.admissions import DECIDED, NOT_LISTED
from tests.parley.console.kit import Console, Sections, person_named
from tests.parley.console.talk import Talk, direct

READS = frozenset({TokenScope.READ})
SCRIPT = "<script>alert(1)</script>"
ACCESS = {"admission": "approved", "owners": ["web:oona"], "operators": ["web:olga"]}


@pytest.fixture
def sections() -> Sections:
    return {"access": ACCESS}


async def asks(console: Console, name: str, tenant: str = "default") -> str:
    """A person asks for permission; the id of their request."""
    pairing, place = console.app.services.pairing, Place("web", "main", name, Audience.DIRECT)
    assert pairing is not None
    await pairing.request(Applicant(tenant, person_named(name), SCRIPT, place))
    return (await pairing.waiting(tenant))[-1].id


async def test_an_operator_approves_rejects_and_revokes(either_console: Console) -> None:
    console, olga = either_console, await either_console.visitor("olga")
    first, second = await asks(console, "ada"), await asks(console, "eve")
    page = await olga.get("/access")
    assert "web:main:ada" in page.text
    assert SCRIPT not in page.text
    assert (await olga.post(f"/access/requests/{first}/approve")).location.startswith(
        "/console/access"
    )
    again = await olga.post(f"/access/requests/{first}/approve")
    assert again.status == 404
    assert DECIDED.english in again.text
    await olga.post(f"/access/requests/{second}/reject")
    assert "No open requests." in (await olga.get("/access")).text
    ada = await console.visitor("ada")
    assert (await ada.get("/account")).status == 200
    assert (await ada.get("/access")).status == 403
    gone = await olga.post("/access/approved/revoke", {"person": person_named("ada")})
    assert gone.status == 303
    assert (await ada.get("/account")).status == 401  # the session has ended
    missing = await olga.post("/access/approved/revoke", {"person": person_named("ada")})
    assert missing.status == 422


async def test_an_operator_approves_by_the_code_of_a_person(either_console: Console) -> None:
    console, olga = either_console, await either_console.visitor("olga")
    pairing, place = console.app.services.pairing, Place("web", "main", "ada", Audience.DIRECT)
    assert pairing is not None
    _, code = await pairing.request(Applicant("default", person_named("ada"), "Ada", place))
    other = Place("web", "main", "zoe", Audience.DIRECT)
    _, foreign = await pairing.request(Applicant("other", person_named("zoe"), "Zoe", other))
    assert (
        await (await console.visitor("oona")).post("/access/approve", {"code": ""})
    ).status == 422
    for wrong in ("WRONG-CODE", foreign):
        assert (await olga.post("/access/approve", {"code": wrong})).status == 422
    done = await olga.post("/access/approve", {"code": f" {code.lower()} "})
    assert done.status == 303
    assert (await (await console.visitor("ada")).get("/account")).status == 200
    assert (await pairing.waiting("other"))[0].applicant.name == "Zoe"
    tries = [(await olga.post("/access/approve", {"code": "WRONG-CODE"})).text for _ in range(5)]
    assert "too many codes" in tries[-1]


async def test_requests_of_another_tenant_are_neither_shown_nor_decided(
    either_console: Console,
) -> None:
    olga = await either_console.visitor("olga")
    other = await asks(either_console, "zoe", "other")
    assert "web:main:zoe" not in (await olga.get("/access")).text
    for decision in ("approve", "reject"):
        assert (await olga.post(f"/access/requests/{other}/{decision}")).status == 404


async def test_tokens_are_listed_and_revoked_within_the_tenant(either_console: Console) -> None:
    store, now = either_console.app.storage.memory.tokens, either_console.app.services.clock.now()
    for name, tenant in (("laptop", "default"), ("elsewhere", "other")):
        token = ApiToken(
            name, name, tenant, person_named("ada"), now, now + timedelta(days=1), READS
        )
        assert await store.add(token)
    olga = await either_console.visitor("olga")
    page = await olga.get("/access")
    assert "laptop" in page.text
    assert "elsewhere" not in page.text
    assert ">read only<" in page.text
    [listed] = (await either_console.program.api_client("olga")("GET", "/console/access")).json[
        "tokens"
    ]
    assert listed["scopes"] == ["read"]
    assert (await olga.post("/access/tokens/revoke", {"name": "laptop"})).status == 303
    assert not await store.good("laptop")
    refused = await olga.post("/access/tokens/revoke", {"name": "elsewhere"})
    assert refused.status == 404
    assert NOT_LISTED.english in refused.text
    assert await store.good("elsewhere")


async def test_the_lists_name_the_people_in_them(either_console: Console) -> None:
    talk = Talk(either_console.app)
    await talk(direct("olga"), "olga", "hello")
    page = (await (await either_console.visitor("olga")).get("/access")).text
    shown = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "Owners access.owners web:oona Operators access.operators Olga web:olga" in shown
    assert "access.blocked_users" not in page  # an empty list restricts nobody
