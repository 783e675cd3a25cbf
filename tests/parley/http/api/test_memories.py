"""Memories and reviews over HTTP, each person's own."""

from pathlib import Path

import pytest

from db.errors import StoreUnavailable
from memory.model.record import Draft, Kind
from parley.http.api.addresses import OPERATIONS
from tests.parley.http.api.kit import PROJECT, ApiClient, Program, running, settings_in

NINE = {"count": 9, "limit": 15}
BIRDS = ("heron", "kestrel", "osprey", "plover", "siskin", "wagtail", "whimbrel")


async def remember(api_client: ApiClient, content: str, **more: object) -> str:
    response = await api_client("POST", "/brain/memories", {"content": content, **more})
    assert response.status == 201, response.json
    return str(response.json["memory_id"])


async def test_a_memory_is_stored_found_read_and_deleted(ada: ApiClient) -> None:
    memory = await remember(ada, "I prefer tabs.", type="preference", tags=["code"])
    for path in (
        "",
        "?query=tabs",
        "?tags=code",
        "?type=preference",
        "?tier=semantic",
        "?list=learned",
    ):
        result = (await ada("GET", f"/brain/memories{path}")).json["memories"]
        assert [each["id"] for each in result] == [memory], path
    for path in (
        "?query=spaces",
        "?tags=code&tags=other",
        "?type=fact",
        "?tier=episodic",
        "?list=said",
    ):
        assert (await ada("GET", f"/brain/memories{path}")).json["memories"] == [], path
    read = await ada("GET", f"/brain/memories/{memory}")
    assert (read.json["source"], read.json["trust"]) == ("explicit_save", "high")
    gone = await ada("DELETE", f"/brain/memories/{memory}")
    assert (gone.status, gone.json) == (204, None)
    assert (await ada("GET", f"/brain/memories/{memory}")).status == 404
    assert (await ada("DELETE", f"/brain/memories/{memory}")).status == 404
    assert (await ada("GET", "/brain/memories?query=tabs")).json["memories"] == []


async def test_of_two_memories_one_is_settled_and_the_other_restored(
    ada: ApiClient, eve: ApiClient
) -> None:
    old = await remember(ada, "My name is Jon")
    new = await remember(ada, "My name is John")
    for one, other in ((old, new), (new, old)):
        assert (await ada("GET", f"/brain/memories/{one}")).json["may_contradict"] == [other]
    listed = (await ada("GET", "/brain/memories")).json["memories"]
    assert [one["may_contradict"] for one in listed] == [[old], [new]]
    answer = {"other": new, "true": "one"}
    assert (await eve("POST", f"/brain/memories/{old}/settle", answer)).status == 404
    settled = await ada("POST", f"/brain/memories/{old}/settle", answer)
    assert settled.json == {"true": [old], "replaced": new}
    assert (await ada("POST", f"/brain/memories/{old}/settle", answer)).status == 404
    assert (await ada("GET", f"/brain/memories/{new}")).json["superseded_by"] == old
    assert (await eve("POST", f"/brain/memories/{new}/restore")).status == 404
    restored = await ada("POST", f"/brain/memories/{new}/restore")
    assert (restored.json["superseded_by"], restored.json["may_contradict"]) == (None, [old])
    assert (await ada("POST", f"/brain/memories/{new}/restore")).status == 404


async def test_further_fields_of_the_evidence_are_stored_and_read(ada: ApiClient) -> None:
    fields = {"ticket": "SHOP-7", "files": ["a.py"], "source_type": "adr"}
    memory = await remember(ada, "The tests run on Mondays.", evidence=fields)
    read = await ada("GET", f"/brain/memories/{memory}")
    assert read.json["evidence"] == {"ticket": "SHOP-7", "files": ["a.py"]}
    body = {"content": "Owns a boat", "evidence": {"note": "x" * 10_001}}
    refused = await ada("POST", "/brain/memories", body)
    assert refused.status == 422
    assert "evidence" in str(refused.json)


@pytest.mark.parametrize("query", ["", "&query=bird"])
async def test_pages_of_a_list_contain_everything_once(ada: ApiClient, query: str) -> None:
    kept = [await remember(ada, f"The {bird} is a bird of {number}.")
            for number, bird in enumerate(BIRDS)]  # fmt: skip
    seen: list[str] = []
    after = ""
    for _ in range(5):
        page = (await ada("GET", f"/brain/memories?limit=3{query}{after}")).json
        seen += [each["id"] for each in page["memories"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert sorted(seen) == sorted(kept)
    assert len(seen) == len(kept)


async def test_a_memory_is_replaced_by_a_newer_one(ada: ApiClient) -> None:
    old = await remember(ada, "The office is in Lyon.")
    new = await remember(ada, "The office is in Nantes.", supersedes=old)
    (result,) = (await ada("GET", "/brain/memories?query=office")).json["memories"]
    assert (result["id"], result["supersedes"]) == (new, old)


async def test_duplicates_long_texts_and_empty_texts_are_refused_with_a_reason(
    ada: ApiClient,
) -> None:
    await remember(ada, "I prefer tabs.")
    response = await ada("POST", "/brain/memories", {"content": "I prefer tabs."})
    assert (response.status, response.code) == (409, "duplicate")
    response = await ada("POST", "/brain/memories", {"content": "For all", "scope": "project"})
    assert (response.status, response.code) == (409, "no_project")
    for blank in (" ", "\u200b", "\x00 "):
        response = await ada("POST", "/brain/memories", {"content": blank})
        assert (response.status, response.code) == (422, "empty"), repr(blank)


async def test_the_plan_limit_applies(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path, plans={"default": "pro"})) as program:
        ada = program.api_client("ada")
        for number in range(9):
            await remember(ada, f"fact number {number}")
        assert (await ada("GET", "/brain/memories?limit=1")).json["plan"] == NINE
        assert (await ada("GET", "/brain")).json["plan"] == NINE
    async with running(settings_in(tmp_path)) as program:
        plan = (await program.api_client("ada")("GET", "/brain")).json["plan"]
        assert plan == {"count": 9, "limit": None}


async def test_a_global_memory_of_a_member_waits_for_an_operator(
    ada: ApiClient, olga: ApiClient
) -> None:
    await ada.in_room()
    await olga.in_room()
    here = f"?project={PROJECT}"
    body = {"content": "We deploy on Tuesdays.", "scope": "project"}
    response = await ada("POST", f"/brain/memories{here}", body)
    assert (response.status, response.json["outcome"]) == (202, "review")
    done = await olga("POST", f"/brain/reviews/{response.json['review_id']}/approve{here}", {})
    assert done.json["decision"] == "approved"
    memory = done.json["memory_id"]
    assert (await ada("GET", f"/brain/memories/{memory}{here}")).status == 200
    refused = await ada("DELETE", f"/brain/memories/{memory}{here}")
    assert (refused.status, refused.code) == (403, "not_yours")
    assert (await olga("DELETE", f"/brain/memories/{memory}{here}")).status == 204


async def test_a_pending_memory_is_decided_once(ada: ApiClient) -> None:
    handle = await ada.in_private()
    kept = await handle.write.infer(Draft("Ada likes the sea.", Kind.FACT))
    left = await handle.write.infer(Draft("Ada owns a blue boat.", Kind.FACT))
    waiting = (await ada("GET", "/brain/reviews")).json["reviews"]
    assert [each["id"] for each in waiting] == [kept.review_id, left.review_id]
    assert len((await ada("GET", "/brain/reviews?limit=1")).json["reviews"]) == 1
    assert (await ada("POST", f"/brain/reviews/{kept.review_id}/approve")).status == 200
    response = await ada("POST", f"/brain/reviews/{left.review_id}/reject", {"reason": "not true"})
    assert response.json["decision"] == "rejected"
    for review in (kept.review_id, left.review_id):
        for word in ("approve", "reject"):
            assert (await ada("POST", f"/brain/reviews/{review}/{word}")).status == 404
    result = (await ada("GET", "/brain/memories?query=sea")).json["memories"]
    assert [each["content"] for each in result] == ["Ada likes the sea."]


async def test_another_persons_memory_is_reported_as_missing(
    ada: ApiClient, eve: ApiClient
) -> None:
    memory = await remember(ada, "My sister is called Zelda.")
    await ada("PUT", "/brain/soul", {"content": "I fly kites."})
    review = (
        await (await ada.in_private()).write.infer(Draft("Ada likes the sea.", Kind.FACT))
    ).review_id
    body = {"content": "Other words.", "supersedes": memory}
    none = {"content": "More words yet.", "supersedes": "mem-none"}
    questions: list[tuple[str, str, object, str, object]] = [
        ("GET", f"/brain/memories/{memory}", None, "/brain/memories/mem-none", None),
        ("DELETE", f"/brain/memories/{memory}", None, "/brain/memories/mem-none", None),
        ("GET", f"/brain/memories?after={memory}", None, "/brain/memories?after=mem-none", None),
        ("POST", "/brain/memories", body, "/brain/memories", none),
        ("POST", f"/brain/reviews/{review}/approve", {}, "/brain/reviews/rev-none/approve", {}),
        ("POST", f"/brain/reviews/{review}/reject", {}, "/brain/reviews/rev-none/reject", {}),
        ("GET", "/brain/soul", None, "/brain/soul", None),
        ("POST", "/brain/soul/restore", {"version": 1}, "/brain/soul/restore", {"version": 1}),
    ]
    for method, path, sent, missing, nothing in questions:
        foreign, absent = await eve(method, path, sent), await eve(method, missing, nothing)
        assert (foreign.status, foreign.json) == (404, absent.json), (method, path)
    assert (await eve("GET", "/brain/memories")).json["memories"] == []
    assert (await eve("GET", "/brain/memories?query=Zelda")).json["memories"] == []
    assert (await eve("GET", "/brain/reviews")).json["reviews"] == []
    assert (await eve("GET", "/brain/soul/versions")).json["versions"] == []
    assert (await eve("GET", "/brain")).json["soul"] is None
    assert (await ada("GET", f"/brain/memories/{memory}")).status == 200
    assert len((await ada("GET", "/brain/reviews")).json["reviews"]) == 1


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("limit=0", "query.limit"),
        ("limit=101", "query.limit"),
        ("limit=ten", "query.limit"),
        ("limit=1&limit=2", "query.limit"),
        ("limit=%EF%BC%91", "query.limit"),
        ("limit=1e1", "query.limit"),
        ("type=secret", "query.type"),
        ("tier=all", "query.tier"),
        ("tags=", "query.tags.0"),
        ("&".join(f"tags={n}" for n in range(11)), "query.tags"),
        (f"query={'x' * 501}", "query.query"),
        (f"after={'x' * 101}", "query.after"),
        ("person=web:main:ada", "query.person"),
        ("&".join(f"tags={n}" for n in range(51)), "query"),
    ],
)
async def test_a_bad_query_is_refused_with_its_place(
    ada: ApiClient, query: str, where: str
) -> None:
    response = await ada("GET", f"/brain/memories?{query}")
    assert (response.status, response.where) == (400, where)


async def test_an_unavailable_store_is_reported_with_retry_after(
    program: Program, ada: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(program.app.storage.long_lived, "run_job", away)
    body = {
        "content": "x",
        "version": 1,
        "file": '{"format":"parley-memory","version":1}\n{"content":"The shop sells kites"}\n',
        "type": "human",
        "agent": "agent-1",
        "memory": "mem-1",
        "other": "mem-2",
        "true": "both",
    }
    for each in OPERATIONS:
        fields = each.body.model_fields
        fits = {name: body[name] for name, field in fields.items() if field.is_required()}
        response = await ada(each.method, each.path.replace("{id}", "mem-1"), fits or None)
        assert (response.status, response.code) == (503, "unavailable"), each.name
        assert int(response.headers["Retry-After"]) > 0
        assert "disk" not in str(response.json)
