"""Requests that do not come from the platform, at the real public listener."""

import json
import time
from collections.abc import Mapping

import aiohttp
import pytest

from simulators.slack import SlackSimulator
from simulators.telegram.simulator import SECRET
from tests.e2e.conftest import only
from tests.e2e.harness import Lab

PATHS = {
    "slack": "/webhook/slack",
    "telegram": "/webhook/telegram",
    "whatsapp": "/webhook/whatsapp",
}
WEBHOOKS = only("slack-http", "telegram-webhook", "whatsapp")


def forged(platform: str) -> dict[str, object]:
    """A direct message as this platform would report it, of somebody who never wrote it."""
    if platform == "slack":
        event = {
            "type": "message",
            "channel": "D0FORGED",
            "channel_type": "im",
            "user": "U0MALLORY",
            "text": "let me in",
            "ts": "1795000000.000100",
        }
        return {"type": "event_callback", "event_id": "Ev0FORGED", "team_id": "T0", "event": event}
    if platform == "telegram":
        person = {"id": 666, "is_bot": False, "first_name": "Mallory"}
        chat = {"id": 666, "type": "private", "first_name": "Mallory"}
        message = {"message_id": 1, "date": int(time.time()), "chat": chat, "from": person}
        return {"update_id": 1, "message": {**message, "text": "let me in"}}
    text = {"from": "49151", "id": "wamid.x", "timestamp": "1795000000", "type": "text"}
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"phone_number_id": "106540352242922", "display_phone_number": "1"},
        "messages": [{**text, "text": {"body": "let me in"}}],
    }
    change = {"field": "messages", "value": value}
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}


async def post(lab: Lab, body: bytes, headers: Mapping[str, str]) -> int:
    """Return the status of the listener's response to this request."""
    url = lab.app.webhook_url + PATHS[lab.platform.platform]
    async with aiohttp.ClientSession() as session:
        sent = {"Content-Type": "application/json", **headers}
        async with session.post(url, data=body, headers=sent) as answer:
            return answer.status


async def rows(lab: Lab) -> int:
    """The number of stored events and turns."""
    tables = ("inbox", "turns", "traces", "outbox")
    counted = " + ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    result = await lab.app.storage.long_lived.run_job(
        lambda db: db.execute(f"SELECT {counted}").fetchone()
    )
    return int(result[0])


@WEBHOOKS
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {
            "X-Slack-Signature": "v0=" + "0" * 64,
            "X-Slack-Request-Timestamp": "{now}",
            "X-Telegram-Bot-Api-Secret-Token": "guessed",
            "X-Hub-Signature-256": "sha256=" + "0" * 64,
        },
        {
            "X-Slack-Signature": "",
            "X-Slack-Request-Timestamp": "soon",
            "X-Telegram-Bot-Api-Secret-Token": "",
            "X-Hub-Signature-256": "sha256=ä",
        },
    ],
    ids=["missing", "wrong", "broken"],
)
async def test_a_wrong_signature_is_refused_and_nothing_is_stored(
    lab: Lab, headers: Mapping[str, str]
) -> None:
    now = str(int(time.time()))
    sent = {name: value.replace("{now}", now) for name, value in headers.items()}
    assert await post(lab, json.dumps(forged(lab.platform.platform)).encode(), sent) == 401
    await lab.idle()
    assert await rows(lab) == 0
    ada = lab.platform.person("Ada")
    await lab.platform.say(ada, lab.platform.direct(ada), "but I may")
    await lab.answer(lab.platform.direct(ada))


@only("slack-http")
async def test_a_recorded_request_cannot_be_repeated_later(lab: Lab) -> None:
    slack = lab.platform
    assert isinstance(slack, SlackSimulator)
    body = json.dumps(forged("slack")).encode()
    slack.http.now = lambda: time.time() - 6 * 60
    status, _ = await slack.http.post(body, {"Content-Type": "application/json"})
    assert status == 401
    slack.http.now = time.time
    status, _ = await slack.http.post(body, {"Content-Type": "application/json"})
    assert status == 200, "the signature itself was right"


@WEBHOOKS
async def test_the_forged_events_are_valid_with_the_right_signature(lab: Lab) -> None:
    """Otherwise the tests above would prove nothing."""
    name = lab.platform.platform
    body = json.dumps(forged(name))
    match name:
        case "slack":
            assert isinstance(lab.platform, SlackSimulator)
            kind = {"Content-Type": "application/json"}
            status, _ = await lab.platform.http.post(body.encode(), kind)
        case "telegram":
            header = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
            status = await post(lab, body.encode(), header)
        case _:
            status = await lab.platform.deliver(forged(name))  # type: ignore[attr-defined]
    assert status == 200
    assert await rows(lab) > 0


@WEBHOOKS
async def test_the_public_listener_serves_nothing_else(lab: Lab) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("/", "/healthz", "/metrics", "/chat/", "/webhook/discord"):
            async with session.get(lab.app.webhook_url + path) as answer:
                assert answer.status == 404, path
