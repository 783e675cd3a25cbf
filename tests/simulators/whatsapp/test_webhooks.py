"""The simulator calls webhooks as Meta does: signed, again when refused, with statuses."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from gateway.ports import WebhookRequest, WebhookResponse
from parley.http.webhook_listener import WebhookListener
from simulators.whatsapp import UNSIGNED, WhatsAppSimulator


class Receiver:
    """A webhook that keeps what it got and answers as told."""

    def __init__(self) -> None:
        self.requests: list[WebhookRequest] = []
        self.answers: list[int] = []

    async def __call__(self, request: WebhookRequest) -> WebhookResponse:
        if request.method == "GET":
            return WebhookResponse(200, request.query.get("hub.challenge", ""))
        self.requests.append(request)
        return WebhookResponse(self.answers.pop(0) if self.answers else 200)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
async def sim(receiver: Receiver) -> AsyncIterator[WhatsAppSimulator]:
    simulator = WhatsAppSimulator(pauses=(0.01, 0.02))
    listener = WebhookListener()
    listener.add("/webhook/whatsapp", receiver, proof="Host")
    await listener.start()
    await simulator.start()
    simulator.attach(listener.base_url)
    await simulator.wait_connected()
    yield simulator
    await simulator.stop()
    await listener.stop()


def values(receiver: Receiver) -> list[dict[str, Any]]:
    """The value of each delivery's change."""
    return [json.loads(r.body)["entry"][0]["changes"][0]["value"] for r in receiver.requests]


async def test_the_raw_body_is_signed(sim: WhatsAppSimulator, receiver: Receiver) -> None:
    ada = sim.person("Ada")
    await sim.say(ada, sim.direct(ada), "Grüße / 👋")
    assert await sim.settled()
    (request,) = receiver.requests
    secret = str(sim.settings()["app_secret"]).encode()
    signature = "sha256=" + hmac.new(secret, request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-hub-signature-256"] == signature
    assert b"\\u00fc" in request.body
    assert b"\\/" in request.body, "Meta escapes slashes, so re-encoded JSON has another signature"


async def test_a_refused_delivery_is_repeated_a_limited_number_of_times(
    sim: WhatsAppSimulator, receiver: Receiver
) -> None:
    receiver.answers = [500, 503, 200]
    ada = sim.person("Ada")
    await sim.say(ada, sim.direct(ada), "again")
    assert await sim.settled()
    assert len({request.body for request in receiver.requests}) == 1
    assert len(receiver.requests) == 3
    receiver.answers = [500] * 5
    await sim.say(ada, sim.direct(ada), "never")
    assert await sim.settled()
    assert len(receiver.requests) == 6
    assert len(sim.webhooks.given_up) == 1


async def test_people_have_a_number_a_user_id_or_both(
    sim: WhatsAppSimulator, receiver: Receiver
) -> None:
    for person in (
        sim.person("Both"),
        sim.person_without_phone("Hidden"),
        sim.person_without_bsuid("Old"),
    ):
        await sim.say(person, sim.direct(person), "hi")
    assert await sim.settled()
    both, hidden, old = values(receiver)
    assert {"from", "from_user_id"} <= set(both["messages"][0])
    assert "from" not in hidden["messages"][0]
    assert "wa_id" not in hidden["contacts"][0]
    assert hidden["contacts"][0]["profile"]["username"] == "@hidden"
    assert "user_id" not in old["contacts"][0]


async def test_statuses_follow_a_message(sim: WhatsAppSimulator, receiver: Receiver) -> None:
    ada = sim.person("Ada")
    await sim.say(ada, sim.direct(ada), "hi")
    settings = sim.settings()
    async with httpx2.AsyncClient(trust_env=False) as http:
        await http.post(
            f"{settings['base_url']}/v25.0/{settings['phone_number_id']}/messages",
            headers={"Authorization": f"Bearer {settings['access_token']}"},
            json={
                "messaging_product": "whatsapp",
                "recipient": ada.id,
                "type": "text",
                "text": {"body": "hello"},
            },
        )
    assert await sim.settled()
    statuses = [value["statuses"][0]["status"] for value in values(receiver)[1:]]
    assert statuses == ["sent", "delivered"]


async def test_duplicates_and_forged_requests_can_be_sent(
    sim: WhatsAppSimulator, receiver: Receiver
) -> None:
    ada = sim.person("Ada")
    sim.duplicate_next()
    await sim.say(ada, sim.direct(ada), "twice")
    assert await sim.settled()
    assert receiver.requests[0].body == receiver.requests[1].body
    assert await sim.deliver({"x": 1}, UNSIGNED) == 200
    assert "x-hub-signature-256" not in receiver.requests[-1].headers
    assert await sim.deliver({"x": 1}, "sha256=wrong") == 200
    assert receiver.requests[-1].headers["x-hub-signature-256"] == "sha256=wrong"


async def test_a_missing_receiver_is_reported() -> None:
    simulator = WhatsAppSimulator()
    simulator.attach("http://127.0.0.1:9")
    assert await simulator.deliver({}) == 0
    assert not await simulator.webhooks.handshake()
    await simulator.stop()
