"""Live answers: visible while they are written, and complete once, under all failures."""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gateway.errors import ModelUnavailable
from gateway.policy.response_filter import REPLACEMENT
from simulators.base import Fault, PlatformSimulator, Shown, SimRoom
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import VARIANTS, only
from tests.e2e.harness import FAST, Lab, app_on, by_bot, simulated
from tests.support.held_model import HeldModel
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

GROWS: Final = only("discord", "slack-socket", "telegram-polling")
BEGUN: Final = "The whale is a mammal and no fish at all, "
MORE: Final = "which is why it has to come up for air, "
END: Final = "and why its tail goes up and down."
WHOLE: Final = BEGUN + MORE + END
SEND: Final = {
    "discord": "POST /channels/{id}/messages",
    "slack": "chat.postMessage",
    "telegram": "sendMessage",
}
EDIT: Final = {
    "discord": "PATCH /channels/{id}/messages/{id}",
    "slack": "chat.update",
    "telegram": "editMessageText",
}


@dataclass(frozen=True, slots=True)
class Scene:
    """A gateway with a model in a test's hands, in a public room."""

    lab: Lab
    model: HeldModel
    room: SimRoom

    @property
    def platform(self) -> PlatformSimulator:
        return self.lab.platform

    async def ask(self, text: str = "what is a whale?") -> str:
        ada = self.platform.person("Ada")
        mention = self.room.kind != "direct"
        return await self.platform.say(ada, self.room, text, mention=mention)

    async def begun(self) -> Shown:
        """The message that grows, once its beginning is shown."""
        self.model.write(BEGUN)
        (shown,) = await self.answers(lambda texts: len(texts) == 1 and BEGUN.strip() in texts[0])
        return shown

    async def answers(
        self, found: Callable[[list[str]], bool], timeout: float = PATIENCE
    ) -> list[Shown]:
        """Return the answers of the bot in the room, as soon as `found` accepts their texts."""
        shown = await self.platform.wait_for(
            self.room, lambda seen: found([m.text for m in by_bot(seen)]), timeout
        )
        return by_bot(shown)

    async def finish(self, *pieces: str) -> list[Shown]:
        """Let the model end; what the bot has said once nothing is left to do."""
        self.model.write(*pieces)
        self.model.end()
        await self.lab.answer(self.room)
        return await self.lab.quiet(self.room)

    def requests(self, method: str) -> int:
        return len([call for call in self.platform.calls if call.method == method])


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """People wait for the first sign; tests need not."""
    monkeypatch.setattr("gateway.turn.generate.FIRST_AFTER", 0.02)
    monkeypatch.setattr("gateway.outbound.live.answer.FIRST_AFTER", 0.1)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> HeldModel:
    held = HeldModel()
    monkeypatch.setattr("parley.wiring.model.build_provider", lambda *_: held)
    return held


@asynccontextmanager
async def in_a_room(
    variant: str,
    model: HeldModel,
    folder: Path,
    *,
    direct: bool = False,
    live: bool = True,
    section: Mapping[str, object] | None = None,
) -> AsyncIterator[Scene]:
    platform = VARIANTS[variant]()
    name = {platform.platform: platform}
    overrides: dict[str, object] = {"delivery": {**FAST, "live": live}}
    if section is not None:
        own = platform.settings
        platform.settings = lambda: {**own(), **section}  # type: ignore[method-assign]
    async with simulated(name) as port, app_on(name, folder, port, overrides) as app:
        ada = platform.person("Ada")
        room = platform.direct(ada) if direct else platform.room("general")
        yield Scene(Lab(app, platform), model, room)


@pytest.fixture
async def scene(variant: str, model: HeldModel, tmp_path: Path) -> AsyncIterator[Scene]:
    async with in_a_room(variant, model, tmp_path) as made:
        yield made


@GROWS
async def test_in_a_room_one_message_grows_into_the_answer(scene: Scene) -> None:
    await scene.ask()
    shown = await scene.begun()
    scene.model.write(MORE)
    await scene.answers(lambda texts: MORE.strip() in texts[0])
    (answer,) = await scene.finish(END)
    assert (answer.id, answer.text) == (shown.id, WHOLE)
    assert scene.requests(SEND[scene.platform.platform]) == 1


@only("discord", "slack-socket")
async def test_in_direct_messages_one_message_grows_into_the_answer(
    variant: str, model: HeldModel, tmp_path: Path
) -> None:
    async with in_a_room(variant, model, tmp_path, direct=True) as scene:
        await scene.ask()
        shown = await scene.begun()
        (answer,) = await scene.finish(MORE, END)
        assert (answer.id, answer.text) == (shown.id, WHOLE)


async def test_on_telegram_an_answer_in_a_direct_message_is_a_draft_first(
    model: HeldModel, tmp_path: Path
) -> None:
    async with in_a_room("telegram-polling", model, tmp_path, direct=True) as scene:
        telegram = scene.platform
        assert isinstance(telegram, TelegramSimulator)
        await scene.ask()
        drafts = telegram.sending.drafts
        model.write(BEGUN)
        await telegram.wait_until(lambda: BEGUN.strip() in drafts.values())
        model.write(MORE)
        await telegram.wait_until(lambda: (BEGUN + MORE).strip() in drafts.values())
        assert len(drafts) == 1
        assert by_bot(telegram.shown(scene.room)) == []
        (answer,) = await scene.finish(END)
        assert (answer.text, answer.edited) == (WHOLE, False)


@GROWS
async def test_a_quick_answer_is_sent_without_live_text(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.live.answer.FIRST_AFTER", PATIENCE)
    scene.model.write(BEGUN, MORE, END)
    scene.model.end()
    await scene.ask()
    await scene.lab.answer(scene.room)
    (answer,) = await scene.lab.quiet(scene.room)
    assert answer.text == WHOLE
    assert scene.requests(EDIT[scene.platform.platform]) == 0


@GROWS
async def test_the_setting_disables_live_answers(
    variant: str, model: HeldModel, tmp_path: Path
) -> None:
    async with in_a_room(variant, model, tmp_path, live=False) as scene:
        await scene.ask()
        model.write(BEGUN)
        await model.asked()
        (answer,) = await scene.finish(MORE, END)
        assert (answer.text, scene.requests(EDIT[scene.platform.platform])) == (WHOLE, 0)


@GROWS
async def test_a_rate_limit_stops_the_live_text_and_not_the_answer(scene: Scene) -> None:
    edit = EDIT[scene.platform.platform]
    await scene.ask()
    shown = await scene.begun()
    scene.platform.faults.add(Fault(edit, "rate_limit", retry_after=2.0))
    scene.model.write(MORE)
    await scene.lab.answered(edit, 429)
    (answer,) = await scene.finish(END)
    assert (answer.id, answer.text) == (shown.id, WHOLE)
    refused, allowed = [call.at for call in scene.platform.calls if call.method == edit][-2:]
    assert allowed - refused >= 2.0, "nothing is asked before the limit is over"


@GROWS
async def test_a_deleted_live_message_is_followed_by_a_new_one(scene: Scene) -> None:
    await scene.ask()
    shown = await scene.begun()
    await _taken_away(scene, shown)
    (answer,) = await scene.finish(MORE, END)
    assert answer.id != shown.id
    assert answer.text == WHOLE


@GROWS
@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
async def test_a_connection_cut_at_the_last_edit_neither_loses_nor_repeats_the_answer(
    scene: Scene, kind: str
) -> None:
    await scene.ask()
    shown = await scene.begun()
    scene.platform.faults.add(Fault(EDIT[scene.platform.platform], kind))  # type: ignore[arg-type]
    (answer,) = await scene.finish(MORE, END)
    assert (answer.id, answer.text) == (shown.id, WHOLE)


@GROWS
async def test_stop_closes_the_shown_text(variant: str, model: HeldModel, tmp_path: Path) -> None:
    async with in_a_room(variant, model, tmp_path, direct=variant == "slack-socket") as scene:
        await scene.ask()
        shown = await scene.begun()
        await scene.platform.command(scene.platform.person("Ada"), scene.room, "stop")
        reply = await scene.answers(lambda texts: any("(Stopped.)" in text for text in texts))
        closed = next(message for message in reply if message.id == shown.id)
        assert closed.text.split() == [*BEGUN.split(), "(Stopped.)"]
        reply = await scene.answers(lambda texts: "Stopped." in texts)
        assert len(reply) == 2


async def test_stop_keeps_the_text_of_a_draft(model: HeldModel, tmp_path: Path) -> None:
    async with in_a_room("telegram-polling", model, tmp_path, direct=True) as scene:
        telegram = scene.platform
        assert isinstance(telegram, TelegramSimulator)
        await scene.ask()
        model.write(BEGUN)
        await telegram.wait_until(lambda: BEGUN.strip() in telegram.sending.drafts.values())
        await telegram.command(telegram.person("Ada"), scene.room, "stop")
        reply = await scene.answers(lambda texts: len(texts) == 2)
        assert sorted(message.text for message in reply) == [
            "Stopped.",
            f"{BEGUN.strip()}\n\n(Stopped.)",
        ]


@GROWS
async def test_a_secret_in_two_chunks_is_never_shown_in_a_public_room(scene: Scene) -> None:
    key = "sk-ant-api03-" + "aB3dE5fG7hJ9kL2m" * 6
    await scene.ask()
    await scene.begun()
    scene.model.write(f"Here is the key you want: {key[:9]}", key[9:40])
    scene.model.write(key[40:], " and that is all there is to say about it. " * 3)
    (answer,) = await scene.finish()
    assert answer.text == REPLACEMENT.english
    bodies = [str(call.body) for call in scene.platform.calls]
    assert not any(key[:20] in body or key[-20:] in body for body in bodies)


@GROWS
async def test_a_long_answer_is_one_live_message_and_then_all_parts(scene: Scene) -> None:
    lines = [f"Line {number} of a long answer about whales.\n\n" for number in range(1, 500)]
    await scene.ask()
    shown = await scene.begun()
    scene.model.write("\n\n", *lines[:400])
    await scene.answers(lambda texts: "Line 20 " in texts[0])
    assert len(by_bot(scene.platform.shown(scene.room))) == 1
    parts = await scene.finish(*lines[400:])
    assert len(parts) > 1
    assert parts[0].id == shown.id
    numbers = [int(n) for part in parts for n in re.findall(r"Line (\d+)", part.text)]
    assert numbers == list(range(1, 500))


@GROWS
async def test_an_interrupted_answer_leaves_one_message_that_says_so(scene: Scene) -> None:
    await scene.ask()
    shown = await scene.begun()
    scene.model.fail(ModelUnavailable("the connection broke"))
    reply = await scene.answers(lambda texts: "was interrupted" in texts[0])
    assert [message.id for message in reply] == [shown.id]
    assert [m.id for m in await scene.lab.quiet(scene.room)] == [shown.id]


@GROWS
async def test_the_next_answer_is_a_new_message_below(scene: Scene) -> None:
    await scene.ask()
    first = await scene.begun()
    await scene.ask("and a shark?")
    scene.model.write(MORE, END)
    scene.model.end()
    await scene.answers(lambda texts: texts == [WHOLE])
    scene.model.write("A shark is a fish, with gills and everything that belongs to one.")
    reply = await scene.answers(lambda texts: len(texts) == 2 and "shark" in texts[1])
    assert reply[0].id == first.id
    assert reply[0].text == WHOLE
    scene.model.end()
    assert len(await scene.lab.quiet(scene.room)) == 2


@GROWS
async def test_after_a_restart_the_same_message_becomes_the_answer(
    variant: str, model: HeldModel, tmp_path: Path
) -> None:
    platform = VARIANTS[variant]()
    name = {platform.platform: platform}
    room = platform.room("general")
    overrides = {"delivery": FAST}
    async with simulated(name) as port:
        async with app_on(name, tmp_path, port, overrides) as app:
            scene = Scene(Lab(app, platform), model, room)
            await scene.ask()
            shown = await scene.begun()
            await app.stop(drain=0)
        model.write(WHOLE)
        model.end()
        async with app_on(name, tmp_path, port, overrides) as app:
            scene = Scene(Lab(app, platform), model, room)
            reply = await scene.answers(lambda texts: WHOLE in texts)
            assert [message.id for message in reply] == [shown.id]
            assert [m.id for m in await scene.lab.quiet(room)] == [shown.id]


async def growing_in_a_thread(direct: Scene) -> Scene:
    """A thread of a direct conversation, in which most of an answer is shown."""
    ada = direct.platform.person("Ada")
    thread = await direct.platform.open_thread(ada, direct.room, "whales")
    direct.model.write("I am listening.")
    direct.model.end()
    await direct.lab.answer(direct.room)
    await direct.lab.idle()
    scene = Scene(direct.lab, direct.model, thread)
    await scene.ask()
    for part in (BEGUN, MORE):
        scene.model.write(part)
        await scene.answers(lambda texts, part=part: any(part.strip() in text for text in texts))  # type: ignore[misc]
    return scene


async def test_on_slack_answers_are_streamed_in_threads_of_direct_messages(
    model: HeldModel, tmp_path: Path
) -> None:
    async with in_a_room("slack-socket", model, tmp_path, direct=True) as direct:
        scene = await growing_in_a_thread(direct)
        await scene.finish(END)
        replies = [m for m in by_bot(scene.platform.shown(scene.room)) if "whale" in m.text]
        assert [message.text for message in replies] == [WHOLE]
        counts = [scene.requests(f"chat.{name}Stream") for name in ("start", "append", "stop")]
        assert counts[0] == counts[2] == 1
        assert counts[1] >= 1


async def test_a_stream_ended_by_slack_continues_as_an_edited_message(
    model: HeldModel, tmp_path: Path
) -> None:
    async with in_a_room("slack-socket", model, tmp_path, direct=True) as direct:
        slack = direct.platform
        assert isinstance(slack, SlackSimulator)
        slack.world.stream_seconds = 0.5
        scene = await growing_in_a_thread(direct)
        assert scene.requests("chat.update") == 1
        await scene.finish(END)
        replies = [m for m in by_bot(slack.shown(scene.room)) if "whale" in m.text]
        assert [message.text for message in replies] == [WHOLE]


async def test_in_slacks_agent_view_a_direct_message_is_answered_by_a_stream(
    model: HeldModel, tmp_path: Path
) -> None:
    more = {"agent_view": True}
    async with in_a_room("slack-socket", model, tmp_path, direct=True, section=more) as scene:
        await scene.ask()
        await scene.begun()
        model.write(MORE)
        await scene.answers(lambda texts: MORE.strip() in texts[0])
        (answer,) = await scene.finish(END)
        assert answer.text == WHOLE
        assert scene.requests("chat.startStream") == scene.requests("chat.stopStream") == 1
        assert scene.requests("chat.postMessage") == 0


async def test_on_whatsapp_the_typing_indicator_precedes_the_complete_answer(
    model: HeldModel, tmp_path: Path
) -> None:
    async with in_a_room("whatsapp", model, tmp_path, direct=True) as scene:
        await scene.ask()
        model.write(BEGUN)
        await scene.lab.answered("read", 200)
        assert by_bot(scene.platform.shown(scene.room)) == []
        (answer,) = await scene.finish(MORE, END)
        assert answer.text == WHOLE


async def test_the_answer_to_a_slash_command_grows_in_place(
    model: HeldModel, tmp_path: Path
) -> None:
    async with in_a_room("discord", model, tmp_path) as scene:
        ada = scene.platform.person("Ada")
        await scene.platform.command(ada, scene.room, "ask", "what is a whale?")
        model.write(BEGUN)
        await scene.answers(lambda texts: texts == [BEGUN.strip()])
        (answer,) = await scene.finish(MORE, END)
        assert answer.text == WHOLE


async def _taken_away(scene: Scene, shown: Shown) -> None:
    """Somebody who may deletes a message of the bot."""
    match scene.platform:
        case DiscordSimulator() as discord:
            message = discord.world.message(shown.room_id, shown.id)
            assert message is not None
            discord.announcer.delete(discord.world.channels[shown.room_id], [message])
        case SlackSimulator() as slack:
            matches = slack.world.find(shown.room_id, shown.id)
            assert matches is not None
            matches.deleted = True
        case TelegramSimulator() as telegram:
            telegram.world.messages[int(shown.id)].deleted = True
        case other:
            raise AssertionError(other)


def _without_privacy(scene: Scene) -> None:
    """In a group, Telegram hands over the edit: the new text does not mention the bot."""
    if isinstance(scene.platform, TelegramSimulator):
        scene.platform.api.privacy = False


@GROWS
async def test_a_question_edited_before_its_answer_is_shown_is_answered_as_edited(
    scene: Scene,
) -> None:
    _without_privacy(scene)
    asked = await scene.ask("what is a wale?")
    await scene.model.asked()
    ada = scene.platform.person("Ada")
    await scene.platform.edit(ada, scene.room, asked, "what is a whale?")
    await eventually(lambda: len(scene.model.requests) == 2)
    (answer,) = await scene.finish(WHOLE)
    assert answer.text == WHOLE
    assert "whale?" in str(scene.model.requests[-1].messages[-1])


@GROWS
async def test_a_question_edited_after_its_answer_is_shown_gets_a_note(scene: Scene) -> None:
    _without_privacy(scene)
    asked = await scene.ask("what is a wale?")
    shown = await scene.begun()
    ada = scene.platform.person("Ada")
    await scene.platform.edit(ada, scene.room, asked, "what is a whale?")
    await scene.lab.waits("message", "edit")
    (answer,) = await scene.finish(END)
    assert answer.id == shown.id
    assert "before you edited it" in answer.text
    assert len(scene.model.requests) == 1
