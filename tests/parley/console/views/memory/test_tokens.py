"""Tokens in the running console."""

import re

from tests.parley.console.kit import Console


async def test_a_token_is_shown_once_works_and_is_revoked(either_console: Console) -> None:
    ada = await either_console.visitor("ada")
    made = await ada.post("/memory/tokens/create", {"name": "laptop", "days": "7"})
    found = re.search(r'<code id="token">(parley_[^<]+)</code>', made.text)
    assert found is not None
    client = either_console.program.api_client("ada", found[1])
    assert (await client("GET", "/console/account")).json["persons"] == ["web:main:ada"]
    page = (await ada.get("/memory/tokens")).text
    assert found[1] not in page
    assert "laptop-" in page
    listed = (await client("GET", "/console/memory/tokens")).json["tokens"]
    assert len(listed) == 1
    eve = await either_console.visitor("eve")
    assert "laptop-" not in (await eve.get("/memory/tokens")).text
    assert (await eve.post(f"/memory/tokens/{listed[0]['id']}/revoke")).status == 404
    assert (await client("GET", "/console/account")).status == 200
    gone = await ada.post(f"/memory/tokens/{listed[0]['id']}/revoke")
    assert "is revoked and no longer works." in gone.text
    assert (await client("GET", "/console/account")).status == 401


async def test_a_token_can_be_one_that_only_reads(console: Console) -> None:
    ada = await console.visitor("ada")
    made = await ada.post("/memory/tokens/create", {"name": "reader", "use": "read"})
    found = re.search(r'<code id="token">(parley_[^<]+)</code>', made.text)
    assert found is not None
    assert "can read as you, and change nothing." in made.text
    assert "can act as you" not in made.text
    await ada.post("/memory/tokens/create", {"name": "writer"})
    reader = console.program.api_client("ada", found[1])
    listed = (await reader("GET", "/console/memory/tokens")).json["tokens"]
    assert {one["name"][:6]: one["scopes"] for one in listed} == {
        "reader": ["read"],
        "writer": ["read", "write"],
    }
    page = (await ada.get("/memory/tokens")).text
    assert (page.count(">read only<"), page.count(">read and change<")) == (1, 1)
    assert (await reader("GET", "/brain/memories")).status == 200
    refused = await reader("POST", "/brain/memories", {"content": "I drink tea."})
    assert (refused.status, refused.code) == (403, "needs_scope")
    assert (await ada.post("/memory/tokens/create", {"use": "admin"})).status == 422


async def test_a_token_can_be_one_of_an_own_agent(either_console: Console) -> None:
    ada, eve = await either_console.visitor("ada"), await either_console.visitor("eve")
    own = either_console.program.api_client("ada")
    assert 'name="agent"' not in (await ada.get("/memory/tokens")).text
    made = await own("POST", "/brain/agents", {"type": "claude_code", "name": "laptop"})
    agent = made.json["id"]
    assert f'value="{agent}"' in (await ada.get("/memory/tokens")).text
    for visitor, id_, status in ((eve, agent, 404), (ada, "0" * 32, 404), (ada, "x y", 422)):
        refused = await visitor.post("/memory/tokens/create", {"agent": id_})
        assert refused.status == status
    page = await ada.post("/memory/tokens/create", {"name": "box", "agent": agent})
    found = re.search(r'<code id="token">(parley_[^<]+)</code>', page.text)
    assert found is not None
    assert "and never as you" in page.text
    client = either_console.program.api_client("ada", found[1])
    assert (await client("GET", "/brain")).status == 200
    denied = await client("GET", "/console/memory/tokens")
    assert (denied.status, denied.code) == (403, "needs_person")
    (listed,) = (await own("GET", "/console/memory/tokens")).json["tokens"]
    assert (listed["agent"], listed["person"]) == (agent, "web:main:ada")
    olga = await either_console.visitor("olga")
    assert agent in (await olga.get("/access")).text
    assert (await ada.post(f"/memory/tokens/{listed['id']}/revoke")).status == 200
    assert (await client("GET", "/brain")).status == 401


async def test_names_and_days_have_bounds_and_two_people_may_use_one_name(
    console: Console,
) -> None:
    ada, eve = await console.visitor("ada"), await console.visitor("eve")
    for visitor in (ada, eve):
        assert (await visitor.post("/memory/tokens/create", {"name": "x"})).status == 200
    for fields in ({"days": "366"}, {"days": "0"}, {"name": "<b>"}, {"name": "x" * 41}):
        assert (await ada.post("/memory/tokens/create", fields)).status == 422
    local = await console.visitor("local")
    assert (await local.post("/memory/tokens/create", {"name": "x"})).status == 409
