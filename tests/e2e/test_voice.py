"""Voice messages on every platform, through the real client libraries: heard, answered, spoken."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from simulators.base import Fault, PlatformSimulator, SimFile
from simulators.discord import DiscordSimulator
from simulators.openai import OpenAISimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import Lab, app_on, by_bot, running, simulated
from tests.support.speech import ogg_opus
from tests.support.waiting import eventually

OPUS = ogg_opus(100)
M4A = b"\x00\x00\x00\x20ftypM4A " + bytes(500)
RECORDED: Mapping[str, SimFile] = {
    "telegram": SimFile("file_7.oga", "audio/ogg", OPUS),
    "whatsapp": SimFile("", "audio/ogg; codecs=opus", OPUS),
    "discord": SimFile("voice-message.ogg", "audio/ogg", OPUS),
    "slack": SimFile("audio_message.m4a", "audio/mp4", M4A),
}
"""The files that apps of the platforms send when somebody speaks."""
SIMULATORS: Mapping[str, type[PlatformSimulator]] = {
    "telegram": TelegramSimulator,
    "whatsapp": WhatsAppSimulator,
    "discord": DiscordSimulator,
    "slack": SlackSimulator,
}


@asynccontextmanager
async def listening(
    name: str, folder: Path, **voice: object
) -> AsyncIterator[tuple[Lab, OpenAISimulator]]:
    service = OpenAISimulator()
    await service.start()
    service.speech.spoken = ogg_opus(150)
    platform = SIMULATORS[name]()
    section = {
        "recogniser": "endpoint",
        "base_url": service.base_url,
        "api_key": "test-key",
        "speech": {"base_url": service.base_url, "api_key": "test-key"},
        **voice,
    }
    try:
        async with running({name: platform}, folder, {"voice": section}) as app:
            yield Lab(app, platform), service
    finally:
        await service.stop()


@pytest.mark.parametrize("name", RECORDED)
async def test_a_voice_message_is_heard_and_answered(name: str, tmp_path: Path) -> None:
    async with listening(name, tmp_path) as (lab, service):
        ada = lab.platform.person("Ada")
        dm = lab.platform.direct(ada)
        service.speech.script("where is the office?")
        await lab.platform.say(ada, dm, "", files=(RECORDED[name],))
        answer = await lab.answer(dm)
        assert answer.text.startswith("I heard: “where is the office?”")
        (sent,) = service.speech.requests
        assert sent["data"] == RECORDED[name].data
        assert str(sent["name"]).endswith(".m4a" if name == "slack" else ".ogg")
        assert await lab.stored() == [""]


@pytest.mark.parametrize("name", RECORDED)
async def test_an_answer_is_spoken_in_the_form_of_the_platform(name: str, tmp_path: Path) -> None:
    async with listening(name, tmp_path) as (lab, service):
        ada = lab.platform.person("Ada")
        dm = lab.platform.direct(ada)
        await lab.platform.say(ada, dm, "/voice on")
        await lab.answer(dm)
        await lab.platform.say(ada, dm, "", files=(RECORDED[name],))
        heard, spoken = (await lab.answers(dm, 3))[1:]
        assert heard.text.startswith("I heard: “hello”")
        (file,) = spoken.files
        assert file.data == service.speech.spoken
        calls = [call.method for call in lab.platform.calls]
        if name == "telegram":
            assert "sendVoice" in calls


async def test_a_person_who_allows_no_voice_messages_gets_a_file(tmp_path: Path) -> None:
    async with listening("telegram", tmp_path) as (lab, _):
        ada = lab.platform.person("Ada")
        dm = lab.platform.direct(ada)
        await lab.platform.say(ada, dm, "/voice always")
        await lab.answer(dm)
        assert isinstance(lab.platform, TelegramSimulator)
        lab.platform.sending.without_voices.add(int(dm.id))
        await lab.platform.say(ada, dm, "hello")
        spoken = (await lab.answers(dm, 3))[2]
        assert [file.name for file in spoken.files] == ["answer.ogg"]
        assert "sendDocument" in [call.method for call in lab.platform.calls]


async def test_without_the_permission_discord_gets_a_file(tmp_path: Path) -> None:
    async with listening("discord", tmp_path) as (lab, _):
        ada = lab.platform.person("Ada")
        dm = lab.platform.direct(ada)
        await lab.platform.say(ada, dm, "/voice always")
        await lab.answer(dm)
        assert isinstance(lab.platform, DiscordSimulator)
        lab.platform.world.voices_refused = True
        await lab.platform.say(ada, dm, "hello")
        spoken = (await lab.answers(dm, 3))[2]
        assert [file.name for file in spoken.files] == ["answer.ogg"]


async def test_a_stop_while_it_listens_loses_nothing(tmp_path: Path) -> None:
    service, platform = OpenAISimulator(), TelegramSimulator()
    await service.start()
    voice = {"recogniser": "endpoint", "base_url": service.base_url, "api_key": "test-key"}
    names = {"telegram": platform}
    try:
        async with simulated(names) as port:
            ada = platform.person("Ada")
            dm = platform.direct(ada)
            async with app_on(names, tmp_path, port, {"voice": voice}) as app:
                service.faults.add(Fault("audio/transcriptions", "slow", delay=60))
                await platform.say(ada, dm, "", files=(RECORDED["telegram"],))
                await eventually(lambda: service.faults.waiting == 0)
                await app.stop(drain=0)
            assert by_bot(platform.shown(dm)) == []
            async with app_on(names, tmp_path, port, {"voice": voice}) as app:
                lab = Lab(app, platform)
                assert (await lab.answer(dm)).text.startswith("I heard: “hello”")
                assert len(await lab.quiet(dm)) == 1
    finally:
        await service.stop()
