"""Bodies of webhooks as the platforms write them, and requests that no platform sent."""

import hashlib
import hmac
import io
import json
import time
from collections.abc import Mapping

import aiohttp

from simulators.slack import SlackSimulator, events
from simulators.slack.world import Message
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator, payloads
from tests.attacks.scene import Scene


def body_of(scene: Scene, name: str, text: str) -> bytes:
    """A direct message of a person, as the platform would report it."""
    person, place = scene.member(name), scene.direct(name)
    match scene.sim:
        case SlackSimulator() as slack:
            message = Message(slack.world.new_ts(), place.id, person.id, text)
            slack.world.add(message)
            event = events.written(slack.world, message, slack.server.base)
            whole: object = events.callback(slack.world, event)
        case TelegramSimulator() as telegram:
            number = telegram.world.next_message_id()
            whole = {
                "update_id": 900_000_000 + number,
                "message": {
                    "message_id": number,
                    "date": int(time.time()),
                    "chat": telegram.world.chats[int(place.id)].as_json(),
                    "from": telegram.world.user(person),
                    "text": text,
                },
            }
        case WhatsAppSimulator() as whatsapp:
            human = whatsapp.world.of(person)
            item = whatsapp._item(human, "text", {"body": text})
            whole = payloads.messages(whatsapp.world.number, human.sender(), [item])
        case other:
            raise NotImplementedError(other)
    return json.dumps(whole).encode()


def signed_slack(scene: Scene, body: bytes, at: float | None = None) -> dict[str, str]:
    """Slack's headers over a body, signed at a time in seconds since the epoch."""
    slack = scene.sim
    assert isinstance(slack, SlackSimulator)
    stamp = str(int(time.time() if at is None else at))
    base = b"v0:" + stamp.encode() + b":" + body
    digest = hmac.new(slack.signing_secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


async def post(scene: Scene, body: bytes, headers: Mapping[str, str]) -> int:
    """The status of a request to the platform's webhook."""
    url = f"{scene.stage.app.webhook_url}/webhook/{scene.platform}"
    sent = {"Content-Type": "application/json", **headers}
    async with scene.stage.http.post(url, data=io.BytesIO(body), headers=sent) as answer:
        return answer.status


async def post_anew(scene: Scene, body: bytes, headers: Mapping[str, str]) -> int:
    """The same over a connection of its own, 0 where there is none to be had."""
    url = f"{scene.stage.app.webhook_url}/webhook/{scene.platform}"
    sent = {"Content-Type": "application/json", **headers}
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=io.BytesIO(body), headers=sent) as answer,
        ):
            return answer.status
    except (OSError, aiohttp.ClientError):
        return 0


async def has_arrived(scene: Scene) -> bool:
    """Return True if a message with the scene's mark reached the model or is stored for a
    person."""
    await scene.fence(scene.sim)
    await scene.settled()
    question = any(scene.mark in json.dumps(dict(body)) for body in scene.stage.model.bodies)
    kept = [str(await scene.kept(name)) for name in scene.people]
    return question or any(scene.mark in text for text in kept)
