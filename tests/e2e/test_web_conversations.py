"""The web page over the whole program: history after a restart, deletions, stop, another answer."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from gateway.errors import ModelRefused
from gateway.llm.offline import OfflineProvider
from gateway.ports import ModelEvent, ModelRequest
from parley.app import App
from parley.config import from_mapping
from tests.support.program import running_app
from tests.support.waiting import eventually

OTHER = "chat-0123456789abcdef"


@dataclass
class Browser:
    """One person's browser at a running program."""

    http: aiohttp.ClientSession
    app: App

    @property
    def url(self) -> str:
        return f"{self.app.local.base_url}/chat"

    async def get(self, path: str) -> Mapping[str, object]:
        async with self.http.get(f"{self.url}/api/{path}") as response:
            assert response.status == 200, await response.text()
            result: Mapping[str, object] = await response.json()
            return result

    async def act(self, chat: str = "", **action: object) -> str:
        body = {"id": uuid4().hex, "type": "message", **action, "chat": chat}
        headers = {"Origin": self.app.local.base_url}
        async with self.http.post(f"{self.url}/api/actions", json=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
        return str(body["id"])

    async def say(self, text: str, chat: str = "") -> None:
        """Write a message, and wait for the answer."""
        await self.act(chat, text=text)
        await eventually(self.app.settled)

    async def press(self, label: str, chat: str = "") -> None:
        """Press the latest button with this label."""
        for line in reversed(await self.lines(chat)):
            for button in line["buttons"]:
                if button["label"] == label:
                    await self.act(
                        chat, type="button", message_id=line["id"], value=button["value"]
                    )
                    await eventually(self.app.settled)
                    return
        raise AssertionError(f"no button {label!r}")

    async def lines(self, chat: str = "") -> list[dict[str, Any]]:
        result = (await self.get(f"history?chat={chat}"))["lines"]
        assert isinstance(result, list)
        return result

    async def texts(self, chat: str = "") -> list[str]:
        return [str(line["text"]) for line in await self.lines(chat)]

    async def titles(self) -> list[str]:
        result = (await self.get("chats"))["chats"]
        assert isinstance(result, list)
        return [str(chat["title"]) for chat in result]


@dataclass
class Deployment:
    """Starts the program on one database; a browser keeps its cookie."""

    folder: Path
    jar: aiohttp.CookieJar

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Browser]:
        settings = from_mapping(
            {
                "model": {"provider": "offline"},
                "platforms": {"web": {"enabled": True}},
                "database": {"url": f"sqlite:///{self.folder}/parley.db"},
                "server": {"port": 0},
                "webhooks": {"port": 0},
                "limits": {"user_per_minute": 0, "channel_per_minute": 0},
            }
        )
        async with (
            running_app(App(settings), drain=0) as app,
            aiohttp.ClientSession(cookie_jar=self.jar) as http,
        ):
            browser = Browser(http, app)
            async with http.get(f"{browser.url}/") as page:
                assert page.status == 200
            yield browser


@pytest.fixture
async def deployment(tmp_path: Path) -> Deployment:
    return Deployment(tmp_path, aiohttp.CookieJar(unsafe=True))


async def test_conversations_are_restored_after_a_restart_without_secrets(
    deployment: Deployment,
) -> None:
    password = "my password is hunter2-Correct!Horse9"
    async with deployment.running() as browser:
        await browser.say("say: **hello** there")
        await browser.say(f"say: {password}", OTHER)
        assert password in (await browser.texts(OTHER))[0]
    async with deployment.running() as browser:
        assert await browser.titles() == [
            "say: my password is [SECRET_REDACTED]",
            "say: **hello** there",
        ]
        question, answer = await browser.lines()
        assert question["text"] == "say: **hello** there"
        assert "<strong>hello</strong>" in str(answer["html"])
        assert "hunter2" not in str(await browser.lines(OTHER))
        await browser.say("what did I just say?")
        assert "hello" in (await browser.texts())[-1]
        assert len(await browser.lines()) == 4


async def test_the_conversation_of_another_person_is_empty(
    deployment: Deployment, tmp_path: Path
) -> None:
    async with deployment.running() as ada:
        await ada.say("Ada's own", OTHER)
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
            ben = Browser(http, ada.app)
            async with http.get(f"{ben.url}/"):
                pass
            assert await ben.titles() == []
            assert await ben.lines(OTHER) == []
            await ben.say("what did I just say?", OTHER)
            assert "Ada" not in str(await ben.texts(OTHER))
        assert len(await ada.lines(OTHER)) == 2


async def test_a_new_chat_contains_nothing_of_the_other(deployment: Deployment) -> None:
    async with deployment.running() as browser:
        await browser.say("the word is apple")
        await browser.say("what did I just say?", OTHER)
        assert "apple" not in (await browser.texts(OTHER))[-1]


async def test_clear_deletes_this_conversation_and_its_entry_immediately(
    deployment: Deployment,
) -> None:
    async with deployment.running() as browser:
        await browser.say("the word is apple")
        await browser.say("the word is pear", OTHER)
        await browser.say("/clear")
        await browser.press("Delete history")
        assert "apple" not in str(await browser.texts())
        assert await browser.titles() == ["the word is pear"]
        assert "the word is pear" in await browser.texts(OTHER)


async def test_forget_and_erase_reach_the_page(deployment: Deployment) -> None:
    async with deployment.running() as browser:
        await browser.say("I had pineapple for lunch")
        await browser.say("/remember I like pineapple", OTHER)
        await browser.say("/forget pineapple", OTHER)
        labels = [b["label"] for line in await browser.lines(OTHER) for b in line["buttons"]]
        await browser.press(str(labels[0]), OTHER)
        assert "pineapple" not in str(await browser.texts())
        assert "/remember I like pineapple" not in await browser.texts(OTHER)
        await browser.say("say: melon")
        await browser.say("/privacy erase")
        for _ in range(2):  # it asks twice
            labels = [b["label"] for line in await browser.lines() for b in line["buttons"]]
            await browser.press(str(labels[-2]))
        assert "melon" not in str(await browser.texts())
        assert await browser.titles() == []


async def test_a_deleted_message_deletes_its_answer(deployment: Deployment) -> None:
    async with deployment.running() as browser:
        await browser.say("say: melon")
        [question, _] = await browser.lines()
        await browser.act(type="delete", message_id=question["id"])

        async def gone() -> bool:
            return "melon" not in str(await browser.lines())

        await eventually(gone)


async def test_with_memory_off_nothing_remains_after_a_restart(deployment: Deployment) -> None:
    async with deployment.running() as browser:
        await browser.say("/privacy memory off")
        await browser.say("the word is apple")
        assert "the word is apple" in await browser.texts()
    async with deployment.running() as browser:
        assert await browser.lines() == []
        assert await browser.titles() == []


async def test_stop_ends_the_running_turn(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled, begun, stream = asyncio.Event(), asyncio.Event(), OfflineProvider.stream

    async def held(self: OfflineProvider, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in stream(self, request):
            yield event
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

    async with deployment.running() as browser:
        monkeypatch.setattr(OfflineProvider, "stream", held)
        await browser.act(text="write something long")
        await begun.wait()
        await browser.act(type="stop")
        await eventually(cancelled.is_set)
        await eventually(browser.app.settled)
        assert "Stopped." in (await browser.texts())[-1]
        assert "/stop" not in await browser.texts()


async def test_regenerate_replaces_the_answer(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with deployment.running() as browser:
        await browser.say("the word is apple")
        await browser.say("what did I just say?")
        question = (await browser.lines())[-2]
        first = (await browser.lines())[0]
        await browser.act(type="regenerate", message_id=question["id"])
        await eventually(browser.app.settled)
        again = await browser.lines()
        assert [line["text"] for line in again[:-1]][::2] == [first["text"], "what did I just say?"]
        assert len(again) == 4
        assert "apple" in str(again[-1]["text"])
        assert question["id"] not in [line["id"] for line in again]
        body = {"id": uuid4().hex, "type": "regenerate", "message_id": first["id"]}
        headers = {"Origin": browser.app.local.base_url}
        async with browser.http.post(
            f"{browser.url}/api/actions", json=body, headers=headers
        ) as refused:
            assert refused.status == 422
            assert "only the latest message" in await refused.text()


async def fails(self: OfflineProvider, request: ModelRequest) -> AsyncIterator[ModelEvent]:
    """A model that refuses every request."""
    for event in list[ModelEvent]():
        yield event
    raise ModelRefused("the key is revoked")


def ids_and_texts(lines: list[dict[str, Any]]) -> list[tuple[object, object]]:
    return [(line["id"], line["text"]) for line in lines]


async def test_a_regenerated_answer_does_not_read_the_one_that_it_replaces(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    stream = OfflineProvider.stream

    async def noted(self: OfflineProvider, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        read.append(str(request.messages))
        async for event in stream(self, request):
            yield event

    monkeypatch.setattr(OfflineProvider, "stream", noted)
    async with deployment.running() as browser:
        await browser.say("say: melon")
        await browser.say("say: apple")
        question = (await browser.lines())[-2]
        await browser.act(type="regenerate", message_id=question["id"])
        await eventually(browser.app.settled)
        assert "melon" in read[-1]
        assert read[-1].count("apple") == 1


async def test_the_earlier_answer_stays_until_the_new_one_is_there(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go, stream = asyncio.Event(), asyncio.Event(), OfflineProvider.stream

    async def held(self: OfflineProvider, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        begun.set()
        await go.wait()
        async for event in stream(self, request):
            yield event

    async with deployment.running() as browser:
        await browser.say("say: melon")
        before = await browser.lines()
        monkeypatch.setattr(OfflineProvider, "stream", held)
        asked = await browser.act(type="regenerate", message_id=before[0]["id"])
        await begun.wait()
        assert ids_and_texts(await browser.lines()) == ids_and_texts(before)
        body = {"id": uuid4().hex, "type": "regenerate", "message_id": before[0]["id"]}
        headers = {"Origin": browser.app.local.base_url}
        url = f"{browser.url}/api/actions"
        async with browser.http.post(url, json=body, headers=headers) as refused:
            assert "is being answered again" in await refused.text()
        go.set()
        await eventually(browser.app.settled)
        (question, answer) = await browser.lines()
        assert (question["id"], question["text"]) == (asked, "say: melon")
        assert answer["id"] != before[1]["id"]


async def test_the_earlier_answer_stays_if_the_model_fails(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with deployment.running() as browser:
        await browser.say("say: melon")
        before = await browser.lines()
        stream = OfflineProvider.stream
        monkeypatch.setattr(OfflineProvider, "stream", fails)
        await browser.act(type="regenerate", message_id=before[0]["id"])
        await eventually(browser.app.settled)
        shown = await browser.lines()
        assert ids_and_texts(shown[:2]) == ids_and_texts(before)
        assert len(shown) == 3
        assert "melon" not in shown[2]["text"]
        monkeypatch.setattr(OfflineProvider, "stream", stream)
        await browser.act(type="regenerate", message_id=before[0]["id"])
        await eventually(browser.app.settled)
        assert [line["text"] for line in await browser.lines()] == [one["text"] for one in before]
    async with deployment.running() as browser:
        assert [line["text"] for line in await browser.lines()] == [one["text"] for one in before]


async def test_a_failed_repetition_leaves_the_stored_answer(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with deployment.running() as browser:
        await browser.say("say: melon")
        before = await browser.lines()
        monkeypatch.setattr(OfflineProvider, "stream", fails)
        await browser.act(type="regenerate", message_id=before[0]["id"])
        await eventually(browser.app.settled)
    async with deployment.running() as browser:
        assert [line["text"] for line in await browser.lines()] == [one["text"] for one in before]


async def test_with_memory_off_a_regenerated_answer_replaces_the_line(
    deployment: Deployment,
) -> None:
    async with deployment.running() as browser:
        await browser.say("/privacy memory off")
        count = len(await browser.lines())
        await browser.say("say: melon")
        question = (await browser.lines())[count]
        request = await browser.act(type="regenerate", message_id=question["id"])
        await eventually(browser.app.settled)
        lines = (await browser.lines())[count:]
        assert (len(lines), lines[0]["id"], lines[0]["text"]) == (2, request, "say: melon")


@pytest.mark.parametrize(
    "chat",
    ["../web-x", "web-0123456789abcdef01234567", "chat-", "chat-" + "a" * 17, "chat-A'OR 1=1"],
)
async def test_an_invalid_conversation_is_refused(deployment: Deployment, chat: str) -> None:
    async with deployment.running() as browser:
        for path in ("history", "events"):
            async with browser.http.get(
                f"{browser.url}/api/{path}", params={"chat": chat}
            ) as answer:
                assert answer.status == 400
        body = {"id": uuid4().hex, "type": "message", "text": "x", "chat": chat}
        headers = {"Origin": browser.app.local.base_url}
        async with browser.http.post(
            f"{browser.url}/api/actions", json=body, headers=headers
        ) as answer:
            assert answer.status == 400
