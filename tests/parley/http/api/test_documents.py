"""SOUL, BIBLE and HEARTBEAT over HTTP."""

from datetime import UTC, datetime

import pytest

from tests.parley.http.api.kit import PROJECT, ApiClient, Program

AT = datetime(2026, 11, 20, 8, tzinfo=UTC)


async def test_a_soul_is_replaced_as_a_whole_and_read_back(ada: ApiClient) -> None:
    assert (await ada("GET", "/brain/soul")).status == 404
    written = await ada("PUT", "/brain/soul", {"content": "I fly kites.", "based_on": 0})
    assert (written.status, written.json["outcome"]) == (200, "written")
    read = await ada("GET", "/brain/soul")
    assert read.json["content"] == "I fly kites."
    assert (read.json["version"], read.json["author"]) == (1, "you")
    assert (await ada("GET", "/brain")).json["soul"] == read.json


async def test_an_edit_of_an_outdated_version_is_refused(ada: ApiClient) -> None:
    await ada("PUT", "/brain/soul", {"content": "one"})
    await ada("PUT", "/brain/soul", {"content": "two", "based_on": 1})
    response = await ada("PUT", "/brain/soul", {"content": "three", "based_on": 1})
    assert (response.status, response.code, response.where) == (409, "conflict", "body.based_on")
    assert (await ada("GET", "/brain/soul")).json["content"] == "two"


async def test_an_edit_can_be_undone(ada: ApiClient) -> None:
    for text in ("one", "two", "three"):
        await ada("PUT", "/brain/soul", {"content": text})
    page = await ada("GET", "/brain/soul/versions?limit=2")
    assert [each["version"] for each in page.json["versions"]] == [3, 2]
    rest = await ada("GET", f"/brain/soul/versions?limit=2&before={page.json['next']}")
    assert [each["version"] for each in rest.json["versions"]] == [1]
    assert rest.json["next"] is None
    restored = await ada("POST", "/brain/soul/restore", {"version": 1})
    assert restored.json["document"]["version"] == 4
    assert (await ada("GET", "/brain/soul")).json["content"] == "one"
    assert (await ada("POST", "/brain/soul/restore", {"version": 99})).status == 404


async def test_a_secret_is_not_stored_in_a_document(ada: ApiClient) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    response = await ada("PUT", "/brain/soul", {"content": f"My token is {secret}."})
    assert "[SECRET_REDACTED]" in response.json["document"]["content"]
    assert response.json["notices"]


@pytest.mark.parametrize("document", ["bible", "heartbeat"])
async def test_project_documents_require_a_project(ada: ApiClient, document: str) -> None:
    response = await ada("GET", f"/brain/{document}")
    assert (response.status, response.code) == (409, "no_project")
    whole = await ada("GET", "/brain")
    assert (whole.json["project"], whole.json[document]) == (None, None)


async def test_only_projects_in_which_the_person_was_seen_are_available(
    ada: ApiClient, eve: ApiClient
) -> None:
    await ada.in_room()
    assert (await ada("GET", f"/brain?project={PROJECT}")).json["project"] == PROJECT
    strange, missing = [
        await eve("GET", f"/brain?project={project}") for project in (PROJECT, "web:main:none")
    ]
    assert (strange.status, strange.json) == (404, missing.json)


async def test_a_former_member_can_no_longer_use_the_project(
    ada: ApiClient, members: set[tuple[str, str]]
) -> None:
    await ada.in_room()
    assert (await ada("GET", f"/brain?project={PROJECT}")).status == 200
    members.add((str(ada.principal.person), PROJECT))
    assert (await ada("GET", f"/brain?project={PROJECT}")).status == 404
    members.clear()
    assert (await ada("GET", f"/brain?project={PROJECT}")).status == 404


async def test_the_chosen_project_is_the_default(program: Program, ada: ApiClient) -> None:
    await ada.in_room()
    commands = program.app.memory.commands
    private = await ada.in_private()
    caller = ada.caller(private.request.place)
    await commands.run("project", "1", caller)
    assert (await ada("GET", "/brain")).json["project"] == PROJECT


async def test_a_proposal_waits_for_an_operator(
    ada: ApiClient, eve: ApiClient, olga: ApiClient
) -> None:
    for each in (ada, eve, olga):
        await each.in_room()
    here = f"?project={PROJECT}"
    proposed = await ada("PUT", f"/brain/bible{here}", {"content": "A shop for kites."})
    review = proposed.json["review_id"]
    for nobody in (ada, eve):
        assert (await nobody("POST", f"/brain/reviews/{review}/approve{here}")).status == 404
    (waiting,) = (await olga("GET", f"/brain/reviews{here}")).json["reviews"]
    assert (waiting["id"], waiting["target"], waiting["yours"]) == (review, "bible", False)
    assert (await olga("POST", f"/brain/reviews/{review}/approve{here}")).status == 200
    read = await eve("GET", f"/brain/bible{here}")
    assert (read.json["content"], read.json["author"]) == ("A shop for kites.", "other")


async def test_the_heartbeat_states_its_time_and_cannot_be_written(
    program: Program, ada: ApiClient
) -> None:
    await ada.in_room()
    assert program.app.memory.documents is not None
    await program.app.memory.documents.set_heartbeat("default", PROJECT, "12 orders.", AT)
    read = await ada("GET", f"/brain/heartbeat?project={PROJECT}")
    assert (read.json["content"], read.json["author"]) == ("12 orders.", "system")
    assert datetime.fromisoformat(read.json["last_synced_at"]) == AT
    for method in ("PUT", "POST", "DELETE"):
        response = await ada(method, "/brain/heartbeat", {"content": "13 orders."})
        assert (response.status, response.headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize(
    ("body", "status", "where"),
    [
        ({}, 400, "body.content"),
        ({"content": ""}, 400, "body.content"),
        ({"content": 1}, 400, "body.content"),
        ({"content": "x" * 10_001}, 400, "body.content"),
        ({"content": "A sentence. " * 1_000}, 400, "body.content"),
        ({"content": "x", "based_on": -1}, 400, "body.based_on"),
        ({"content": "x", "based_on": "1"}, 400, "body.based_on"),
        ({"content": "x", "based_on": True}, 400, "body.based_on"),
        ({"content": "x", "person": "web:main:eve"}, 400, "body.person"),
        ([], 400, "body"),
        ({"content": "x" * 70_000}, 413, "body"),
        ({"content": " \u200b\u202e "}, 422, ""),
    ],
)
async def test_an_invalid_body_is_refused_with_the_path(
    ada: ApiClient, body: object, status: int, where: str
) -> None:
    response = await ada("PUT", "/brain/soul", body)
    assert (response.status, response.where) == (status, where)
    assert response.json["error"]["message"]


@pytest.mark.parametrize(
    ("data", "content_type", "status"),
    [
        (b"content=x", "application/x-www-form-urlencoded", 415),
        (b'{"content": "x"}', "text/plain", 415),
        (b'{"content": "x"}', "application/json; charset=utf-16", 415),
        (b'{"content": "x"', "application/json", 400),
        (b'{"content": "\xff"}', "application/json", 400),
        (b'{"content": "\\ud800"}', "application/json", 400),
        (b'{"content": NaN}', "application/json", 400),
        (b"[" * 60_000, "application/json", 400),
        (b"", "application/json", 400),
        (b'{"content": "x"}', "application/json; charset=utf-8", 200),
        (b'{"content": "x", "based_on": 0.0}', "application/json", 200),
        (b'{"content": "x", "based_on": 0.5}', "application/json", 400),
        (b'{"content": "x", "based_on": 1e999}', "application/json", 400),
    ],
)
async def test_a_body_must_be_json_in_utf_8(
    ada: ApiClient, data: bytes, content_type: str, status: int
) -> None:
    response = await ada("PUT", "/brain/soul", data=data, headers={"Content-Type": content_type})
    assert response.status == status


async def test_a_document_reports_its_length_and_warns_from_9000_characters(
    ada: ApiClient,
) -> None:
    short = await ada("PUT", "/brain/soul", {"content": "I fly kites."})
    assert short.json["document"]["characters"] == len("I fly kites.")
    assert short.json["document"]["max_characters"] == 10_000
    assert short.json["document"]["warning"] is None
    assert short.json["notices"] == []
    long = await ada("PUT", "/brain/soul", {"content": ("word " * 1_900).strip()})
    assert (long.json["document"]["characters"]) == 9_499
    assert "It has 9,499 of 10,000 characters." in long.json["notices"][0]
    assert (await ada("GET", "/brain/soul")).json["warning"] == long.json["notices"][0]
