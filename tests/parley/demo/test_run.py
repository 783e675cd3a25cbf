"""The configuration of the demo, which leaves no files behind."""

import asyncio
import tempfile
from pathlib import Path

import aiohttp
import pytest

from parley.demo.run import demo_settings, model_label, running
from tests.support.patience import PATIENCE


def test_without_a_key_no_model_service_is_called() -> None:
    settings = demo_settings({}, 0, Path("folder"), {"OPENAI_API_KEY": "sk-other"})
    assert settings.model.provider == "offline"
    assert "no key" in model_label(settings).english


def test_with_an_anthropic_key_its_model_answers() -> None:
    settings = demo_settings({}, 0, Path("folder"), {"ANTHROPIC_API_KEY": "sk-ant-1"})
    assert settings.model.provider == "anthropic"
    assert model_label(settings).english.startswith("anthropic")
    assert "sk-ant-1" not in repr(settings)


def test_nothing_listens_beyond_loopback() -> None:
    settings = demo_settings({}, 0, Path("folder"), {})
    assert (settings.server.host, settings.webhooks.host) == ("127.0.0.1", "127.0.0.1")


async def test_stop_ends_everything_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for _ in range(2):
        async with running(0, {}) as demo:
            assert demo.problems == {}
            assert demo.world.platforms == ["discord", "slack", "telegram", "whatsapp"]
            assert list(tmp_path.iterdir())
        assert list(tmp_path.iterdir()) == []


async def test_the_web_page_is_a_platform_of_the_program() -> None:
    """A request repeated with the same id, as by a browser that missed the first reply, is answered
    once."""
    async with running(0, {}) as demo, aiohttp.ClientSession(cookie_jar=loopback_jar()) as client:
        chat = f"{demo.url}/chat"
        async with client.get(f"{chat}/") as page:
            assert page.status == 200
        question = {"type": "message", "id": "0123456789abcdef", "text": "show me a table"}
        async with client.get(f"{chat}/api/events?after=0") as stream:
            for _ in range(2):
                async with client.post(
                    f"{chat}/api/actions", json=question, headers={"Origin": demo.url}
                ) as response:
                    assert response.status == 200
            async with asyncio.timeout(PATIENCE):
                while b"<table>" not in await stream.content.readline():
                    pass
        async with client.get(f"{chat}/api/history") as response:
            lines = (await response.json())["lines"]
        assert [line["by"] for line in lines] == ["person", "assistant"]
        [trace] = [t for t in await demo.app.decisions(10) if t.platform == "web"]
        assert trace.outcome == "answered"


def loopback_jar() -> aiohttp.CookieJar:
    """A jar that keeps the cookies of an address."""
    return aiohttp.CookieJar(unsafe=True)
