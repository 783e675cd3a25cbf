"""The simulated Telegram, used by the unchanged python-telegram-bot."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from telegram import Bot, BotCommand, InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken
from telegram.ext import Application, ApplicationBuilder, ContextTypes, MessageHandler, filters

from simulators.base import Fault, NotSupported, PlatformSimulator, SimFile
from simulators.telegram import TelegramSimulator
from simulators.telegram.limits import FloodControl
from simulators.telegram.params import ApiError
from simulators.telegram.world import Chat


@pytest.fixture
async def sim() -> AsyncIterator[TelegramSimulator]:
    simulator = TelegramSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def bot(sim: TelegramSimulator) -> AsyncIterator[Bot]:
    async with Bot(sim.token, f"{sim.url}/bot", f"{sim.url}/file/bot") as made:
        yield made


async def call(sim: TelegramSimulator, method: str, body: Any = None, **how: Any) -> dict[str, Any]:
    url = f"{sim.url}/bot{how.pop('token', sim.token)}/{method}"
    how |= {"json": body} if body is not None else {}
    async with aiohttp.ClientSession() as session, session.post(url, **how) as answer:
        result: dict[str, Any] = await answer.json()
        assert answer.status == result.get("error_code", 200)
        return result


async def test_it_implements_the_protocol(sim: TelegramSimulator) -> None:
    checked: PlatformSimulator = sim
    assert checked.platform == "telegram"


async def test_an_unmodified_echo_bot_works(sim: TelegramSimulator) -> None:
    async def echo(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
        assert update.message is not None
        await update.message.reply_html(f"<i>{update.message.text}</i>", do_quote=True)

    application: Application[Any, Any, Any, Any, Any, Any] = (
        ApplicationBuilder().token(sim.token).base_url(f"{sim.url}/bot").build()
    )
    application.add_handler(MessageHandler(filters.TEXT, echo))
    async with application:
        await application.start()
        assert application.updater is not None
        await application.updater.start_polling()
        await sim.wait_connected()
        ann = sim.person("Ann")
        message_id = await sim.say(ann, sim.direct(ann), "hello 😀")
        shown = await sim.wait_for(sim.direct(ann), lambda all_: len(all_) == 2)
        assert (shown[1].text, shown[1].html) == ("hello 😀", "<i>hello 😀</i>")
        assert shown[1].reply_to_id == message_id
        await application.updater.stop()
        await application.stop()
    assert not sim.queue.waiting


async def test_updates_stay_until_an_offset_confirms_them(sim: TelegramSimulator, bot: Bot) -> None:
    ann = sim.person("Ann")
    for text in ("one", "two"):
        await sim.say(ann, sim.direct(ann), text)
    first = await bot.get_updates(timeout=0)
    assert [one.update_id for one in await bot.get_updates(timeout=0)] == [
        one.update_id for one in first
    ]
    (second,) = await bot.get_updates(offset=first[0].update_id + 1, timeout=0)
    assert second.message is not None
    assert second.message.text == "two"
    assert await bot.get_updates(offset=second.update_id + 1, timeout=0) == ()


async def test_a_second_poll_ends_the_first(sim: TelegramSimulator, bot: Bot) -> None:
    other = Bot(sim.token, f"{sim.url}/bot")
    await other.initialize()
    waiting = asyncio.create_task(other.get_updates(timeout=20))
    await sim.wait_connected()
    assert await bot.get_updates(timeout=0) == ()
    with pytest.raises(Conflict, match="only one bot instance"):
        await waiting
    await other.shutdown()


async def test_polling_is_refused_while_a_webhook_is_set(sim: TelegramSimulator, bot: Bot) -> None:
    await bot.set_webhook("https://a.example/webhook/telegram", secret_token="s")
    with pytest.raises(Conflict, match="webhook is active"):
        await bot.get_updates()
    assert (await bot.get_webhook_info()).url == "https://a.example/webhook/telegram"
    await bot.delete_webhook()
    assert await bot.get_updates(timeout=0) == ()


async def test_only_requested_update_types_arrive(sim: TelegramSimulator, bot: Bot) -> None:
    ann = sim.person("Ann")
    room = sim.direct(ann)
    message_id = await sim.say(ann, room, "one")
    await sim.react(ann, room, message_id, "👍")
    assert len(await bot.get_updates(timeout=0)) == 1
    await bot.get_updates(timeout=0, allowed_updates=["message_reaction"])
    await sim.react(ann, room, message_id, "👍")
    await sim.say(ann, room, "two")
    kinds = [one.message_reaction is not None for one in await bot.get_updates(timeout=0)]
    assert kinds == [False, True]


async def test_privacy_mode_delivers_messages_for_the_bot_only(
    sim: TelegramSimulator, bot: Bot
) -> None:
    ann, room = sim.person("Ann"), sim.room("Team")
    sent = await bot.send_message(int(room.id), "I am here")
    await sim.say(ann, room, "nothing")
    await sim.say(ann, room, "mentioned", mention=True)
    await sim.command(ann, room, "ask", "x")
    await sim.say(ann, room, "/other@another_bot")
    await sim.say(ann, room, "reply", reply_to=str(sent.message_id))
    texts = [one.message.text for one in await bot.get_updates(timeout=0) if one.message]
    assert texts == ["@parley_sim_bot mentioned", "/ask@parley_sim_bot x", "reply"]
    assert not (await bot.get_me()).can_read_all_group_messages
    sim.api.privacy = False
    await sim.say(ann, room, "everything")
    assert len(await bot.get_updates(timeout=0)) == 4


@pytest.mark.parametrize(
    ("body", "description"),
    [
        ({"text": ""}, "Bad Request: message text is empty"),
        ({"text": " \n "}, "Bad Request: message text is empty"),
        ({"text": "x" * 4097}, "Bad Request: message is too long"),
        ({"text": "😀" * 2049}, "Bad Request: message is too long"),
        ({"text": "<b>", "parse_mode": "HTML"}, "Bad Request: can't parse entities: "),
        ({"text": "x", "message_thread_id": 1}, "Bad Request: message thread not found"),
        (
            {"text": "x", "reply_parameters": {"message_id": 999}},
            "Bad Request: message to be replied not found",
        ),
        (
            {
                "text": "x",
                "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": ""}]]},
            },
            "Bad Request: BUTTON_DATA_INVALID",
        ),
        (
            {
                "text": "x",
                "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "ä" * 33}]]},
            },
            "Bad Request: BUTTON_DATA_INVALID",
        ),
        ({"chat_id": 1, "text": "x"}, "Bad Request: chat not found"),
        ({"chat_id": "", "text": "x"}, "Bad Request: chat_id is empty"),
    ],
)
async def test_limits_of_messages_are_enforced(
    sim: TelegramSimulator, body: dict[str, Any], description: str
) -> None:
    room = sim.direct(sim.person("Ann"))
    answer = await call(sim, "sendMessage", {"chat_id": int(room.id), **body})
    assert answer["ok"] is False
    assert answer["description"].startswith(description)
    assert sim.shown(room) == []


async def test_the_length_is_measured_without_markup(sim: TelegramSimulator, bot: Bot) -> None:
    room = sim.direct(sim.person("Ann"))
    await bot.send_message(int(room.id), f"<b>{'x' * 4096}</b>", parse_mode="HTML")
    await bot.send_message(int(room.id), "😀" * 2048)


async def test_edits_and_deletions_work(sim: TelegramSimulator, bot: Bot) -> None:
    ann = sim.person("Ann")
    room = sim.direct(ann)
    message_id = await sim.say(ann, room, "mine")
    sent = await bot.send_message(int(room.id), "one")
    await bot.edit_message_text("two", int(room.id), sent.message_id)
    with pytest.raises(BadRequest, match="not modified"):
        await bot.edit_message_text("two", int(room.id), sent.message_id)
    with pytest.raises(BadRequest, match="can't be edited"):
        await bot.edit_message_text("x", int(room.id), int(message_id))
    await bot.delete_message(int(room.id), sent.message_id)
    with pytest.raises(BadRequest, match="not found"):
        await bot.delete_message(int(room.id), sent.message_id)
    assert [(one.text, one.edited, one.deleted) for one in sim.shown(room)] == [
        ("mine", False, False),
        ("two", True, True),
    ]


async def test_buttons_are_pressed_answered_and_removed(sim: TelegramSimulator, bot: Bot) -> None:
    ann = sim.person("Ann")
    room = sim.direct(ann)
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])
    sent = await bot.send_message(int(room.id), "Sure?", reply_markup=keyboard)
    with pytest.raises(NotSupported, match="there are: Yes"):
        await sim.press(ann, room, str(sent.message_id), "No")
    await sim.press(ann, room, str(sent.message_id), "Yes")
    (update,) = await bot.get_updates(timeout=0)
    assert update.callback_query is not None
    assert update.callback_query.data == "y"
    await update.callback_query.answer("ok")
    with pytest.raises(BadRequest, match="Query is too old"):
        await update.callback_query.answer("again")


async def test_files_commands_reactions_and_drafts_work(sim: TelegramSimulator, bot: Bot) -> None:
    ann = sim.person("Ann")
    room, chat = sim.direct(ann), int(sim.direct(ann).id)
    await sim.say(ann, room, "", files=(SimFile("a.txt", "text/plain", b"abc"),))
    (update,) = await bot.get_updates(timeout=0)
    assert update.message is not None
    assert update.message.document is not None
    file = await bot.get_file(update.message.document.file_id)
    assert bytes(await file.download_as_bytearray()) == b"abc"
    with pytest.raises(BadRequest):
        await bot.get_file("nothing")
    await bot.set_my_commands([BotCommand("ask", "Ask")])
    assert [one.command for one in await bot.get_my_commands()] == ["ask"]
    with pytest.raises(BadRequest):
        await bot.set_my_commands([BotCommand("Ask me", "Ask")])
    await bot.set_message_reaction(chat, update.message.message_id, "👍")
    with pytest.raises(BadRequest, match=r"(?i)reaction_invalid"):
        await bot.set_message_reaction(chat, update.message.message_id, "🧀")
    await bot.send_message_draft(chat, 7, "thinking")
    assert sim.sending.drafts == {(chat, 7): "thinking"}
    with pytest.raises(BadRequest, match="private chats"):
        await bot.send_message_draft(int(sim.room("Team").id), 7, "thinking")
    with pytest.raises(BadRequest, match=r"(?i)image_process_failed"):
        await bot.send_photo(chat, b"no picture")


async def test_wrong_tokens_and_methods_are_refused(sim: TelegramSimulator, bot: Bot) -> None:
    assert (await call(sim, "getMe", token="1:wrong"))["error_code"] == 401
    assert (await call(sim, "noSuchMethod"))["error_code"] == 404
    assert (await call(sim, "GETME"))["ok"] is True
    with pytest.raises(InvalidToken):
        await Bot("1:wrong", f"{sim.url}/bot", request=bot.request).get_me()


@pytest.mark.parametrize("how", [{"data": b"{", "headers": {"Content-Type": "application/json"}}])
async def test_invalid_bodies_are_refused(sim: TelegramSimulator, how: dict[str, Any]) -> None:
    assert (await call(sim, "sendMessage", **how))["error_code"] == 400


async def test_a_blocked_bot_gets_an_error(sim: TelegramSimulator, bot: Bot) -> None:
    room = sim.direct(sim.person("Ann"))
    sim.block(room)
    with pytest.raises(Forbidden, match="blocked by the user"):
        await bot.send_message(int(room.id), "hello?")
    (update,) = await bot.get_updates(timeout=0)
    assert update.my_chat_member is not None


async def test_faults_occur_as_often_as_requested(sim: TelegramSimulator) -> None:
    sim.faults.add(Fault("getMe", "rate_limit", times=2, retry_after=7))
    for _ in range(2):
        answer = await call(sim, "getMe")
        assert (answer["error_code"], answer["parameters"]) == (429, {"retry_after": 7})
    assert (await call(sim, "getMe"))["ok"] is True
    sim.faults.add(Fault("getMe", "drop_before"))
    with pytest.raises(aiohttp.ClientError):
        await call(sim, "getMe")
    assert [one.status for one in sim.calls] == [429, 429, 200]


async def test_an_album_is_several_messages_with_one_group_id(
    sim: TelegramSimulator, bot: Bot
) -> None:
    ann = sim.person("Ann")
    files = tuple(SimFile(f"{n}.png", "image/png", b"\x89PNG") for n in range(3))
    await sim.say(ann, sim.direct(ann), "three", files=files)
    messages = [one.message for one in await bot.get_updates(timeout=0)]
    assert len({one.media_group_id for one in messages if one}) == 1
    assert [one.caption for one in messages if one] == ["three", None, None]


async def test_impossible_actions_of_people_are_reported(sim: TelegramSimulator) -> None:
    ann = sim.person("Ann")
    with pytest.raises(NotSupported):
        await sim.say(ann, sim.direct(ann), "x" * 5000)
    with pytest.raises(NotSupported):
        await sim.open_thread(ann, sim.direct(ann), "Topic")
    with pytest.raises(TimeoutError, match="shows nothing"):
        await sim.wait_for(sim.direct(ann), bool, timeout=0.01)


async def test_many_messages_are_counted() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "simulators.telegram", "--messages", "30", "--chats", "3"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    where = json.loads(await process.stdout.readline())
    async with Bot(where["token"], f"{where['url']}/bot") as bot:
        updates = await bot.get_updates(timeout=0)
        for update in updates:
            assert update.message is not None
            await update.message.reply_text(update.message.text or "")
        result = json.loads(await process.stdout.readline())
    assert await process.wait() == 0
    assert (result["answered"], result["lost"], result["doubled"], result["out_of_order"]) == (
        30,
        0,
        0,
        0,
    )


def test_flood_control_counts_chats_groups_and_the_bot() -> None:
    now = [0.0]
    flood = FloodControl(True, lambda: now[0])
    ann, team = Chat(1, "private"), Chat(-2, "supergroup")

    def refused(chat: Chat) -> int:
        try:
            flood.check(chat)
        except ApiError as problem:
            return int(str((problem.parameters or {})["retry_after"]))
        return 0

    assert [refused(ann) for _ in range(4)] == [0, 0, 0, 3]
    now[0] = 2.5
    assert refused(ann) == 1
    now[0] = 3.0
    assert refused(ann) == 0
    assert [refused(team) for _ in range(21)][-2:] == [0, 60]
    now[0] = 10.0
    others = [refused(Chat(number, "private")) for number in range(100, 131)]
    assert others == [0] * 30 + [1]


async def test_too_many_messages_are_answered_with_429() -> None:
    sim = TelegramSimulator(flood_control=True)
    sim.sending._flood._now = lambda: 0.0
    await sim.start()
    room = sim.direct(sim.person("Ann"))
    codes = []
    for number in range(4):
        answer = await call(sim, "sendMessage", {"chat_id": int(room.id), "text": str(number)})
        codes.append(answer.get("error_code", 200))
    assert codes == [200, 200, 200, 429]
    await sim.stop()
