"""The HTTP API over PostgreSQL: the guarantees of each kind of data, once."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.ports.clock import SystemClock
from memory.model.record import Draft, Kind
from memory.stores.api_tokens import ApiToken
from tests.parley.http.api.kit import PROJECT, Program, postgres_settings_in, running
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
async def program(tmp_path: Path, postgres: PostgresServer) -> AsyncIterator[Program]:
    async with running(postgres_settings_in(tmp_path, postgres)) as started:
        yield started


async def test_memories_are_stored_found_replaced_and_deleted(program: Program) -> None:
    ada, eve = program.api_client("ada"), program.api_client("eve")
    body = {"content": "The office is in Lyon.", "type": "fact", "tags": ["work"]}
    old = (await ada("POST", "/brain/memories", body)).json["memory_id"]
    assert (await ada("POST", "/brain/memories", body)).status == 409
    moved = {"content": "The office is in Nantes.", "supersedes": old}
    new = (await ada("POST", "/brain/memories", moved)).json["memory_id"]
    (result,) = (await ada("GET", "/brain/memories?query=office")).json["memories"]
    assert (result["id"], result["supersedes"]) == (new, old)
    for method in ("GET", "DELETE"):
        assert (await eve(method, f"/brain/memories/{new}")).status == 404
    assert (await eve("GET", f"/brain/memories?after={new}")).status == 404
    assert (await eve("GET", "/brain/memories?query=office")).json["memories"] == []
    assert (await ada("DELETE", f"/brain/memories/{new}")).status == 204
    assert (await ada("GET", f"/brain/memories/{new}")).status == 404


async def test_pages_contain_everything_once(program: Program) -> None:
    ada = program.api_client("ada")
    words = ("heron", "kestrel", "osprey", "plover")
    kept = [
        (await ada("POST", "/brain/memories", {"content": f"The {word} nests at {n}."})).json
        for n, word in enumerate(words)
    ]
    seen: list[str] = []
    after = ""
    for _ in words:
        page = (await ada("GET", f"/brain/memories?limit=3{after}")).json
        seen += [each["id"] for each in page["memories"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert sorted(seen) == sorted(each["memory_id"] for each in kept)


async def test_documents_are_written_listed_and_restored(program: Program) -> None:
    ada, olga = program.api_client("ada"), program.api_client("olga")
    for number, text in enumerate(("one", "two")):
        response = await ada("PUT", "/brain/soul", {"content": text, "based_on": number})
        assert response.status == 200
    assert (await ada("PUT", "/brain/soul", {"content": "x", "based_on": 1})).status == 409
    assert (await ada("POST", "/brain/soul/restore", {"version": 1})).status == 200
    listed = (await ada("GET", "/brain/soul/versions")).json["versions"]
    assert [(each["version"], each["content"]) for each in listed] == [
        (3, "one"),
        (2, "two"),
        (1, "one"),
    ]
    for api_client in (ada, olga):
        await api_client.in_room()
    proposed = await ada("PUT", f"/brain/bible?project={PROJECT}", {"content": "We sell kites."})
    assert (proposed.status, proposed.json["outcome"]) == (202, "proposed")
    review = proposed.json["review_id"]
    assert (await ada("POST", f"/brain/reviews/{review}/approve?project={PROJECT}")).status == 404
    approved = await olga("POST", f"/brain/reviews/{review}/approve?project={PROJECT}")
    assert approved.status == 200
    bible = await ada("GET", f"/brain/bible?project={PROJECT}")
    assert bible.json["content"] == "We sell kites."


async def test_a_pending_memory_is_decided_once_by_its_owner(program: Program) -> None:
    ada, eve = program.api_client("ada"), program.api_client("eve")
    handle = await ada.in_private()
    for thing in ("boat", "kite"):
        await handle.write.infer(Draft(f"Ada owns a {thing}.", Kind.FACT))
    first, second = (each["id"] for each in (await ada("GET", "/brain/reviews")).json["reviews"])
    assert (await eve("POST", f"/brain/reviews/{first}/approve")).status == 404
    assert (await ada("POST", f"/brain/reviews/{first}/approve")).status == 200
    assert (await ada("POST", f"/brain/reviews/{first}/reject")).status == 404
    assert (await ada("POST", f"/brain/reviews/{second}/reject", {"reason": "no"})).status == 200
    kept = (await ada("GET", "/brain/memories")).json["memories"]
    assert [each["content"] for each in kept] == ["Ada owns a boat."]


async def test_a_token_is_revoked_immediately(program: Program) -> None:
    now = SystemClock().now()
    tokens = program.app.storage.memory.tokens
    until = now + timedelta(days=1)
    await tokens.add(ApiToken("i", "laptop", "default", "web:main:ada", now, until))
    ada = program.api_client("ada", program.token("ada", known="i"))
    assert (await ada("GET", "/brain")).status == 200
    await tokens.revoke("laptop")
    assert (await ada("GET", "/brain")).code == "token_revoked"


async def test_invalid_input_is_refused_without_a_server_error(program: Program) -> None:
    ada = program.api_client("ada")
    for body in ({}, {"content": 5}, {"content": "x" * 3_000}, {"content": "a", "type": "no"}):
        assert (await ada("POST", "/brain/memories", body)).status in {413, 422, 400}
    for item in ("%00", "mem-1'%20or%201=1", "é" * 60):
        assert (await ada("GET", f"/brain/memories/{item}")).status == 404
    response = await ada("POST", "/brain/memories", {"content": "nul \0 and half \ud800 a pair"})
    assert response.status < 500
