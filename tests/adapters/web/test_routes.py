"""The page over HTTP: sessions, origins, bounds, and the stream."""

import asyncio
import json

import aiohttp
import pytest

from adapters.web.routes import ASSETS
from db.errors import StoreUnavailable
from gateway.message import CommandInvoked, MessageReceived, OutboundFile
from tests.adapters.web.conftest import Page, answer
from tests.support.patience import PATIENCE

ID = "0123456789abcdef"


async def next_event(response: aiohttp.ClientResponse) -> tuple[str, dict[str, object], str]:
    """The next event of a stream: name, data, id. Comments and changes of the list are skipped."""
    fields: dict[str, str] = {}
    async with asyncio.timeout(PATIENCE):
        while True:
            text = (await response.content.readline()).decode().rstrip("\n")
            if not text and fields.get("event") == "chats":
                fields = {}
            if not text and "data" in fields:
                return fields["event"], json.loads(fields["data"]), fields.get("id", "")
            name, _, value = text.partition(": ")
            fields[name] = value


async def test_the_page_loads_nothing_from_other_hosts(page: Page) -> None:
    async with page.client.get(f"{page.url}/chat") as response:
        text = await response.text()
        assert response.url.path == "/chat/"
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http://" not in text
    assert "https://" not in text
    assert "<script>" not in text
    assert " style=" not in text


@pytest.mark.parametrize("name", sorted(ASSETS))
async def test_assets_are_served(page: Page, name: str) -> None:
    async with page.client.get(f"{page.url}/chat/assets/{name}") as response:
        assert response.status == 200
        assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["chat.html", "..%2Froutes.py", "%2e%2e/routes.py", "x"])
async def test_other_files_are_not_served(page: Page, name: str) -> None:
    async with page.client.get(f"{page.url}/chat/assets/{name}") as response:
        assert response.status == 404


async def test_a_browser_is_the_same_person_permanently(page: Page) -> None:
    me = await page.open()
    assert await page.open() == me
    [cookie] = [c for c in page.client.cookie_jar if c.key == "parley_web"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert cookie.value not in me
    async with (
        aiohttp.ClientSession() as stranger,
        stranger.get(f"{page.url}/chat/api/history") as response,
    ):
        assert response.status == 401


async def test_a_message_arrives_and_its_answer_is_shown_after_a_reload(page: Page) -> None:
    me = await page.open()
    assert await page.act(type="message", id=ID, text="Hello") == (200, '{"ok": true}')
    [event] = page.inbox.events
    assert isinstance(event, MessageReceived)
    assert event.message.author.id == me
    await page.adapter.send(answer(me, "<p>Hi</p>"))
    lines = (await page.history())["lines"]
    assert isinstance(lines, list)
    assert [(line["by"], line["text"], line["html"]) for line in lines] == [
        ("person", "Hello", ""),
        ("assistant", "plain", "<p>Hi</p>"),
    ]


async def test_a_repeated_request_keeps_its_id_and_is_shown_once(page: Page) -> None:
    await page.open()
    for _ in range(2):
        assert (await page.act(type="message", id=ID, text="Hello"))[0] == 200
    assert len({event.event_id for event in page.inbox.events}) == 1
    lines = (await page.history())["lines"]
    assert isinstance(lines, list)
    assert len(lines) == 1


async def test_a_command_is_received_as_a_command(page: Page) -> None:
    await page.open()
    await page.act(type="message", id=ID, text="/ask why")
    assert isinstance(page.inbox.events[0], CommandInvoked)


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
async def test_pages_of_other_sites_cannot_act(page: Page, origin: str | None) -> None:
    await page.open()
    headers = {"Origin": origin} if origin else {}
    for path in ("actions", "files"):
        async with page.client.post(
            f"{page.url}/chat/api/{path}", json={"type": "message"}, headers=headers
        ) as response:
            assert response.status == 403
    assert page.inbox.events == []


async def test_an_invalid_request_is_reported(page: Page) -> None:
    await page.open()
    url = f"{page.url}/chat/api/actions"
    json_type = {**page.origin, "Content-Type": "application/json"}
    cases = [
        (b"{", json_type, 400),
        (b"[1]", json_type, 400),
        (b"[" * 100_000, json_type, 400),
        (b"{}", {**page.origin, "Content-Type": "text/plain"}, 415),
        (b" " * 200_001, json_type, 413),
        (b'{"type": "message"}', json_type, 422),
    ]
    for body, headers, status in cases:
        async with page.client.post(url, data=body, headers=headers) as response:
            assert response.status == status
            assert (await response.json())["error"]
    page.inbox.fail = StoreUnavailable("full")
    assert (await page.act(type="message", id=ID, text="Hello"))[0] == 503


async def test_an_upload_belongs_to_its_message_and_can_be_downloaded(page: Page) -> None:
    me = await page.open()
    stored = await page.upload(b"hello", "n%C3%B6tes.txt", "text/plain")
    assert stored["name"] == "nötes.txt"
    await page.act(type="message", id=ID, text="", files=[stored["id"]])
    [event] = page.inbox.events
    assert isinstance(event, MessageReceived)
    [attachment] = event.message.attachments
    assert await page.adapter.fetch(attachment, 100) == b"hello"
    assert attachment.ref.startswith(me)
    async with page.client.get(f"{page.url}/chat/api/files/{stored['id']}") as response:
        assert await response.read() == b"hello"
        assert response.headers["Content-Disposition"].startswith("attachment")
        assert response.content_type == "application/octet-stream"


async def test_an_upload_has_a_size_limit_and_strangers_cannot_read_it(page: Page) -> None:
    await page.open()
    async with page.client.post(
        f"{page.url}/chat/api/files", data=b"x" * 1_000_001, headers=page.origin
    ) as response:
        assert response.status == 413
    stored = await page.upload(b"secret", "s.txt", "text/plain")
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as stranger:
        await (await stranger.get(f"{page.url}/chat/")).read()
        async with stranger.get(f"{page.url}/chat/api/files/{stored['id']}") as response:
            assert response.status == 404
        async with stranger.post(
            f"{page.url}/chat/api/actions",
            json={"type": "message", "id": ID, "text": "x", "files": [stored["id"]]},
            headers=page.origin,
        ) as response:
            assert response.status == 422


async def test_an_uploaded_html_file_is_never_served_as_html(page: Page) -> None:
    await page.open()
    stored = await page.upload(b"<script>alert(1)</script>", "x.html", "text/html")
    async with page.client.get(f"{page.url}/chat/api/files/{stored['id']}") as response:
        assert response.content_type == "application/octet-stream"
        assert "sandbox" in response.headers["Content-Security-Policy"]


async def test_the_stream_contains_typing_answers_and_changes(page: Page) -> None:
    me = await page.open()
    async with page.client.get(f"{page.url}/chat/api/events?after=0") as stream:
        place = answer(me, "").place
        await page.adapter.typing(place, ID)
        assert (await next_event(stream))[:2] == ("typing", {"on": True})
        sent = await page.adapter.send(
            answer(me, "<p>Hi</p>", file=OutboundFile("a.png", "image/png", b"png"))
        )
        kind, line, version = await next_event(stream)
        assert (kind, line["html"]) == ("line", "<p>Hi</p>")
        assert (await next_event(stream))[:2] == ("typing", {"on": False})
        await page.adapter.delete(place, sent.message_id)
        kind, line, later = await next_event(stream)
        assert line["deleted"]
        assert int(later) > int(version)


async def test_an_interrupted_stream_continues_where_it_ended(page: Page) -> None:
    me = await page.open()
    await page.adapter.send(answer(me, "<p>one</p>", key="1"))
    async with page.client.get(f"{page.url}/chat/api/events?after=0") as stream:
        seen = (await next_event(stream))[2]
    await page.adapter.send(answer(me, "<p>two</p>", key="2"))
    async with page.client.get(
        f"{page.url}/chat/api/events?after=0", headers={"Last-Event-ID": seen}
    ) as stream:
        assert (await next_event(stream))[1]["html"] == "<p>two</p>"


@pytest.mark.parametrize("after", ["-1", "x", "9" * 40, "²"])
async def test_a_stream_requires_a_valid_version(page: Page, after: str) -> None:
    await page.open()
    async with page.client.get(f"{page.url}/chat/api/events", params={"after": after}) as response:
        assert response.status == 400


async def test_disconnect_ends_the_streams(page: Page) -> None:
    me = await page.open()
    async with page.client.get(f"{page.url}/chat/api/events?after=0") as stream:
        await page.adapter.send(answer(me, "<p>Hi</p>"))
        await next_event(stream)
        await page.adapter.disconnect()
        async with asyncio.timeout(PATIENCE):
            assert b"event: line" not in await stream.content.read()
    assert page.adapter.chats.conversations.of(me).watchers == 0
