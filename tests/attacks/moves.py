"""Moves that the simulators' people lack: forged presses, forwards, leaving, other teams.

Each writes a payload in the platform's own words and lets the simulator deliver it as any other.
"""

import inspect
import json
import time
from collections.abc import Mapping
from typing import Any, Self

from simulators.base import SimPerson, SimRoom
from simulators.discord import DiscordSimulator
from simulators.discord.payloads import user_json
from simulators.discord.world import COMPONENT
from simulators.slack import SlackSimulator, events
from simulators.slack.world import Message
from simulators.telegram import TelegramSimulator
from simulators.telegram.entities import find_entities
from simulators.telegram.world import Posted
from simulators.whatsapp import WhatsAppSimulator, payloads
from tests.attacks.model import whole_text
from tests.attacks.scene import EVERYBODY, Reading, Scene
from tests.e2e.harness import by_bot


async def _after(scene: Scene, name: str, room: str = "") -> None:
    """Wait for what an event brings about, and note the prompts that came of it."""
    sim = scene.sim_of(name)
    await scene.fence(sim)
    await scene.settled()
    del room


class Noted:
    """Notes the prompts of the turns that happen within it, as read by a person or everybody."""

    def __init__(self, scene: Scene, by: str) -> None:
        self._scene, self._by = scene, by
        self._start = len(scene.stage.model.bodies)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for body in self._scene.bodies_from(self._start):
            self._scene.readings.append(Reading(self._by, "prompt", whole_text(body)))


def take_ids(scene: Scene, name: str, of: str) -> None:
    """WhatsApp reports that a person changed to the ids of another one."""
    sim, (person, other) = scene.sim, (scene.member(name), scene.member(of))
    assert isinstance(sim, WhatsAppSimulator)
    before, target = sim.world.of(person), sim.world.of(other)
    own = before.phone, before.bsuid
    sim.change_number(person, target.phone, target.bsuid)
    before.phone, before.bsuid = own


def write_with_contact(scene: Scene, name: str, of: str, text: str) -> None:
    """A webhook has a message of one person, by the number alone, and the contact of another."""
    sim, (person, other) = scene.sim, (scene.member(name), scene.member(of))
    assert isinstance(sim, WhatsAppSimulator)
    human, target = sim.world.of(person), sim.world.of(other)
    item = {**sim._item(human, "text", {"body": scene.filled(text)})}
    item.pop("from_user_id", None)
    contact = target.sender().contact()
    human.wrote_at = sim.world.now()
    value = {"contacts": [contact], "messages": [item]}
    sim._send(payloads.envelope(sim.world.number, value))


async def forward(scene: Scene, name: str, text: str) -> None:
    """A person forwards somebody else's message into their direct conversation."""
    text, person, place = scene.filled(text), scene.member(name), scene.direct(name)
    match scene.sim_of(name):
        case DiscordSimulator() as discord:
            await discord.forward(person, place, text)
        case TelegramSimulator() as telegram:
            posted = _posted(telegram, person, place, text)
            origin = {"type": "hidden_user", "sender_user_name": "Mallory", "date": posted.date}
            _deliver(telegram, posted, {"forward_origin": origin, "forward_date": posted.date})
        case WhatsAppSimulator() as whatsapp:
            human = whatsapp.world.of(person)
            item = whatsapp._item(human, "text", {"body": text})
            whatsapp._post(human, [{**item, "context": {"forwarded": True}}], wrote=True)
        case SlackSimulator() as slack:
            shared = {
                "is_share": True,
                "is_msg_unfurl": True,
                "text": text,
                "fallback": text,
                "author_id": "U0MALLORY",
                "author_name": "mallory",
                "ts": slack.world.new_ts(),
            }
            message = Message(slack.world.new_ts(), place.id, person.id, "")
            slack.world.add(message)
            event = events.written(slack.world, message, slack.server.base)
            slack._event({**event, "attachments": [shared]})
        case other:
            raise NotImplementedError(other)
    await _after(scene, name)


async def forge_press(scene: Scene, name: str, value: str, room: str = "") -> None:
    """A press whose value the person made up, under the latest message of the assistant there."""
    value, person = scene.filled(value), scene.member(name)
    place = scene.room(room) if room else scene.direct(name)
    with Noted(scene, EVERYBODY if room else name):
        match scene.sim_of(name):
            case DiscordSimulator() as discord:
                under = by_bot(discord.shown(place))[-1].id
                data: dict[str, object] = {"component_type": 2, "custom_id": value, "id": 1}
                discord._interact(COMPONENT, discord._channel(place), person, data, under)
            case TelegramSimulator() as telegram:
                under = by_bot(telegram.shown(place))[-1].id
                _press_on_telegram(telegram, person, place, under, value)
            case WhatsAppSimulator() as whatsapp:
                reply = {"id": value, "title": "Yes"}
                content = {"type": "button_reply", "button_reply": reply}
                await whatsapp.send_raw(person, "interactive", content)
            case SlackSimulator() as slack:
                matches = slack.world.find(place.id, by_bot(slack.shown(place))[-1].id)
                assert matches is not None
                url = f"{slack.server.base}/response/none"
                action = {"type": "button", "action_id": "parley:0", "value": value}
                pressed = events.pressed(
                    slack.world, matches, person.id, action, url, slack.server.base
                )
                slack._deliver("interactive", place.id, pressed)
            case other:
                raise NotImplementedError(other)
        await _after(scene, name)


def _press_on_telegram(
    telegram: TelegramSimulator, person: SimPerson, place: SimRoom, under: str, value: str
) -> None:
    message = telegram.people.message(place, under)
    number = f"forged-{time.monotonic_ns()}"
    telegram.api.callback_queries[number] = False
    body: dict[str, object] = {
        "id": number,
        "from": telegram.world.user(person),
        "message": message.as_json(telegram.world.me),
        "chat_instance": str(message.chat.id),
        "data": value,
    }
    telegram.people._deliver("callback_query", message.chat.id, body)


async def leave(scene: Scene, name: str, room: str) -> None:
    """A person leaves the room, and the server or workspace with it."""
    person, place = scene.member(name), scene.room(room)
    match scene.sim_of(name):
        case DiscordSimulator() as discord:
            removed = user_json(discord.world.users[person.id])
            await _tell(discord, "leave", person)
            left: dict[str, object] = {"guild_id": discord.world.guild_id, "user": removed}
            discord.announcer.raw("GUILD_MEMBER_REMOVE", left)
        case TelegramSimulator() as telegram:
            await _tell(telegram, "leave", person, place)
            _left_telegram(telegram, person, place)
        case SlackSimulator() as slack:
            await _tell(slack, "deactivate", person)
            slack._event(events.membership(slack.world, place.id, person.id, joined=False))
            user: dict[str, object] = {
                "id": person.id,
                "team_id": slack.world.team,
                "deleted": True,
                "name": person.name,
            }
            gone: dict[str, object] = {"type": "user_change", "user": user}
            slack._deliver("events_api", place.id, events.callback(slack.world, gone))
        case other:
            raise NotImplementedError(other)
    await _after(scene, "witness of the leaving")


async def forward_card(scene: Scene, name: str, text: str) -> None:
    """A person forwards a bot's message whose text stands in components and an embed."""
    sim, place, text = scene.sim, scene.direct(name), scene.filled(text)
    assert isinstance(sim, DiscordSimulator)
    message = sim._message(scene.member(name), place, "")
    message.forwarded = "look"
    message.components = [{"type": 17, "components": [{"type": 10, "content": text}]}]
    message.embeds = [{"type": "rich", "title": text, "url": "https://x.example"}]
    before = len(scene.stage.model.bodies)
    sim.announcer.post(message)
    await _after(scene, name)
    assert any(scene.mark in str(body) for body in scene.bodies_from(before)), "it was not read"


async def pose_as_upgrade(scene: Scene, name: str, group: str, of: str) -> None:
    """A person sends what they can of Telegram's notice of an upgrade, as if their group were the
    supergroup of another one: a forwarded, a quoted and an edited notice."""
    sim, person = scene.sim, scene.member(name)
    assert isinstance(sim, TelegramSimulator)
    chat = sim.world.chats[int(scene.room(group).id)]
    notice = {"migrate_from_chat_id": int(scene.room(of).id)}
    posed = _posted(sim, person, scene.room(group), "look").as_json(sim.world.me)
    origin = {"type": "user", "date": int(time.time()), "sender_user": sim.world.user(person)}
    for kind, body in (
        ("message", {**posed, **notice, "forward_origin": origin}),
        ("message", {**posed, "reply_to_message": {**posed, **notice}}),
        ("message", {**posed, "text": json.dumps(notice)}),
        ("edited_message", {**posed, **notice}),
    ):
        sim.people._deliver(kind, chat.id, body)
    await _after(scene, f"witness of {name}")


async def _tell(sim: object, method: str, *arguments: object) -> None:
    """Change the simulator's own state, where it knows of such a thing."""
    answer = getattr(sim, method, None)
    result = answer(*arguments) if answer is not None else None
    if inspect.isawaitable(result):
        await result


def _left_telegram(telegram: TelegramSimulator, person: SimPerson, place: SimRoom) -> None:
    chat = telegram.world.chats[int(place.id)]
    user = telegram.world.user(person)
    posted = _posted(telegram, person, place, "")
    posted.service = True
    _deliver(telegram, posted, {"left_chat_member": user})
    body: dict[str, object] = {
        "chat": chat.as_json(),
        "from": user,
        "date": posted.date,
        "old_chat_member": {"user": user, "status": "member"},
        "new_chat_member": {"user": user, "status": "left"},
    }
    telegram.people._deliver("chat_member", chat.id, body)


async def connected_outsider(scene: Scene, name: str, text: str, room: str = "") -> None:
    """A person of another Slack team writes, in a channel that both share or directly."""
    slack, text = scene.sim, scene.filled(text)
    assert isinstance(slack, SlackSimulator)
    person = scene.member(name)
    place = scene.room(room) if room else scene.direct(name)
    getattr(slack.world, "teams", {})[person.id] = "T0FOREIGN"
    if room:
        await _tell(slack, "share", place)
    words = f"<@{slack.world.bot_user}> {text}" if room else text
    message = slack.world.add(Message(slack.world.new_ts(), place.id, person.id, words))
    foreign = {"user_team": "T0FOREIGN", "source_team": "T0FOREIGN", "team": "T0FOREIGN"}
    event = {**events.written(slack.world, message, slack.server.base), **foreign}
    with Noted(scene, name):
        whole = {**events.callback(slack.world, event), "is_ext_shared_channel": True}
        slack._deliver("events_api", place.id, whole)
        await _after(scene, name)


async def send_as_channel(
    scene: Scene, name: str, room: str, texts: list[str], channels: int
) -> None:
    """A person writes in the names of channels that they own, one after the other."""
    telegram = scene.sim
    assert isinstance(telegram, TelegramSimulator)
    place = scene.room(room)
    for number, text in enumerate(texts):
        words = f"@{telegram.world.username} {scene.filled(text)}"
        posted = _posted(telegram, scene.member(name), place, words)
        channel = {
            "id": -1_000_000_000_000 - 77_000 - number % channels,
            "type": "channel",
            "title": f"Channel {number % channels}",
        }
        posted.author = {"id": 136817688, "is_bot": True, "first_name": "Channel"}
        _deliver(telegram, posted, {"sender_chat": channel})
    await _after(scene, name)


async def channel_topic(scene: Scene, name: str, text: str) -> None:
    """A person writes to a channel directly: every person has a topic of their own there."""
    telegram = scene.sim
    assert isinstance(telegram, TelegramSimulator)
    person, text = scene.member(name), scene.filled(text)
    place = scene.room("channel messages")
    chat = telegram.world.chats[int(place.id)]
    posted = _posted(telegram, person, place, f"@{telegram.world.username} {text}")
    described = {**chat.as_json(), "is_direct_messages": True}
    topic = {"topic_id": int(person.id), "user": telegram.world.user(person)}
    with Noted(scene, name):
        _deliver(telegram, posted, {"direct_messages_topic": topic, "chat": described})
        await _after(scene, name)


def _posted(telegram: TelegramSimulator, person: SimPerson, place: SimRoom, text: str) -> Posted:
    chat = telegram.world.chats[int(place.id)]
    return telegram.world.post(
        Posted(
            id=telegram.world.next_message_id(),
            chat=chat,
            author=telegram.world.user(person),
            date=int(time.time()),
            text=text,
            entities=find_entities(text),
        )
    )


def _deliver(telegram: TelegramSimulator, posted: Posted, more: Mapping[str, Any]) -> None:
    body = {**posted.as_json(telegram.world.me), **more}
    telegram.people._deliver("message", posted.chat.id, json.loads(json.dumps(body)))
