"""Choices about memory over HTTP: the same as in a chat."""

import pytest

from tests.parley.http.api.kit import ApiClient


async def test_choices_are_read_and_made(ada: ApiClient, eve: ApiClient) -> None:
    assert (await ada("GET", "/brain/choices")).json == {
        "memory": True,
        "notes": None,
        "rooms": False,
    }
    made = await ada("PUT", "/brain/choices", {"notes": False, "rooms": True})
    assert made.json == {"memory": True, "notes": False, "rooms": True}
    assert (await ada("PUT", "/brain/choices", {})).json == made.json
    assert (await eve("GET", "/brain/choices")).json["rooms"] is False


async def test_with_memory_off_nothing_is_kept_until_it_is_on_again(ada: ApiClient) -> None:
    assert (await ada("PUT", "/brain/choices", {"memory": False})).json["memory"] is False
    refused = await ada("POST", "/brain/memories", {"content": "I prefer tabs."})
    assert (refused.status, refused.json["error"]["code"]) == (409, "memory_off")
    assert (await ada("GET", "/brain/memories")).json["memories"] == []
    await ada("PUT", "/brain/choices", {"memory": True})
    assert (await ada("POST", "/brain/memories", {"content": "I prefer tabs."})).status == 201


@pytest.mark.parametrize("body", [{"memory": "off"}, {"memory": 1}, {"person": "bob"}, []])
async def test_what_is_no_choice_is_refused(ada: ApiClient, body: object) -> None:
    assert (await ada("PUT", "/brain/choices", body)).status == 400
