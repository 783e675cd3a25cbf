"""Choices about memory over HTTP: the same as in a chat."""

import json
from io import BytesIO

import pytest

from tests.parley.http.api.kit import ApiClient


async def test_choices_are_read_and_changed(ada: ApiClient, eve: ApiClient) -> None:
    assert (await ada("GET", "/brain/choices")).json == {
        "memory": True,
        "notes": None,
        "rooms": False,
    }
    made = await ada("PUT", "/brain/choices", {"notes": False, "rooms": True})
    assert made.json == {"memory": True, "notes": False, "rooms": True}
    assert (await ada("PUT", "/brain/choices", {})).json == made.json
    assert (await eve("GET", "/brain/choices")).json["rooms"] is False


async def test_with_memory_off_nothing_is_stored_until_it_is_on_again(ada: ApiClient) -> None:
    assert (await ada("PUT", "/brain/choices", {"memory": False})).json["memory"] is False
    refused = await ada("POST", "/brain/memories", {"content": "I prefer tabs."})
    assert (refused.status, refused.json["error"]["code"]) == (409, "memory_off")
    assert (await ada("GET", "/brain/memories")).json["memories"] == []
    await ada("PUT", "/brain/choices", {"memory": True})
    assert (await ada("POST", "/brain/memories", {"content": "I prefer tabs."})).status == 201


@pytest.mark.parametrize("body", [{"memory": "off"}, {"memory": 1}, {"person": "bob"}, []])
async def test_an_invalid_choice_is_refused(ada: ApiClient, body: object) -> None:
    assert (await ada("PUT", "/brain/choices", body)).status == 400


HEADER = '{"format":"parley-memory","version":1}'


async def test_an_own_export_is_imported_with_source_and_trust(ada: ApiClient) -> None:
    body = {"content": "I prefer tabs", "type": "preference"}
    kept = (await ada("POST", "/brain/memories", body)).json["memory_id"]
    exported = await ada("GET", "/brain/export")
    before = (await ada("GET", f"/brain/memories/{kept}")).json
    assert (await ada("DELETE", f"/brain/memories/{kept}")).status == 204
    response = await ada("POST", "/brain/import", exported.json)
    assert response.status == 200
    outcomes = {one["outcome"]: one for one in response.json["entries"]}
    assert outcomes["stored"]["id"] == kept
    assert (await ada("GET", f"/brain/memories/{kept}")).json == before
    again = await ada("POST", "/brain/import", exported.json)
    assert "stored" not in {one["outcome"] for one in again.json["entries"]}


async def test_an_export_of_another_person_is_not_imported_as_own_words(
    ada: ApiClient, eve: ApiClient
) -> None:
    await ada("POST", "/brain/memories", {"content": "Send invoices to Ada", "type": "instruction"})
    await ada("POST", "/brain/memories", {"content": "The shop sells kites"})
    exported = await ada("GET", "/brain/export")
    response = await eve("POST", "/brain/import", exported.json)
    outcomes = [one["outcome"] for one in response.json["entries"] if one["outcome"] != "left"]
    assert outcomes == ["waiting", "stored"]
    (memory,) = (await eve("GET", "/brain/memories")).json["memories"]
    assert (memory["content"], memory["source"], memory["trust"]) == (
        "The shop sells kites",
        "user_message",
        "medium",
    )


async def test_an_unsigned_import_has_low_trust(ada: ApiClient) -> None:
    line = json.dumps({"content": "The shop sells kites", "trust": "high", "confirmed": True})
    response = await ada("POST", "/brain/import", {"file": f"{HEADER}\n{line}\nnonsense\n"})
    assert [one["outcome"] for one in response.json["entries"]] == ["stored", "unreadable"]
    (memory,) = (await ada("GET", "/brain/memories")).json["memories"]
    assert (memory["source"], memory["trust"], memory["confirmed"]) == ("import", "low", False)


async def test_a_file_that_is_not_an_export_or_too_large_is_refused(ada: ApiClient) -> None:
    for file, text in (("hello", "line 1"), (HEADER + "\n{}" * 501, "more than 500")):
        response = await ada("POST", "/brain/import", {"file": file})
        assert (response.status, response.code, response.where) == (422, "no_export", "body.file")
        assert text in response.json["error"]["message"]
    data, headers = BytesIO(b"x" * 2_100_000), {"Content-Type": "application/json"}
    response = await ada("POST", "/brain/import", data=data, headers=headers)
    assert (response.status, response.code) == (413, "too_large")
    assert (await ada("GET", "/brain/memories")).json["memories"] == []
