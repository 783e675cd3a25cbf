"""Event webhooks: signed requests in order, retries, dead events, no private addresses."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from ipaddress import ip_network

import pytest
from aiohttp import web

from memory.agents.model import AgentEvent, EventKind
from memory.agents.stores.events import SqlAgentEvents, SqlWebhooks
from memory.agents.webhook_signature import body_of, key_of
from memory.agents.webhooks import AT_ONCE, PAUSES, EventReceiver, WebhookDelivery
from safety.http.addresses import AllowedHost
from safety.http.client import GuardedClient, OutboundPolicy
from tests.memory.agents.making import ADA, AT, BOB
from tests.support.clock import FakeClock
from tests.support.databases import Engine

KEY = b"a key of at least 24 bytes"


@dataclass
class Receiver:
    """A server that answers with the next of its statuses; the last one stays."""

    port: int = 0
    statuses: list[int] = field(default_factory=lambda: [204])
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    location: str = ""

    async def take(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.got.append((headers, await request.read()))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return web.Response(
            status=status, headers={"Location": self.location} if self.location else {}
        )

    @property
    def kinds(self) -> list[str]:
        return [str(json.loads(body)["type"]) for _, body in self.got]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    state = Receiver()
    app = web.Application()
    app.router.add_post("/hook", state.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    state.port = runner.addresses[0][1]
    yield state
    await runner.cleanup()


@dataclass
class Rig:
    """A webhook to the receiver."""

    engine: Engine
    clock: FakeClock
    receiver: Receiver
    store: SqlWebhooks
    events: SqlAgentEvents
    delivery: WebhookDelivery

    async def happens(self, *kinds: EventKind, tenant: str = "t") -> None:
        await self.events.add(
            [AgentEvent(kind, tenant, AT, agent="a1", person=ADA, other=BOB) for kind in kinds]
        )


def delivery_to(
    engine: Engine,
    clock: FakeClock,
    receiver: Receiver,
    *,
    private: bool = True,
    **rest: frozenset[str],
) -> WebhookDelivery:
    url = f"http://127.0.0.1:{receiver.port}/hook"
    networks = frozenset({ip_network("127.0.0.0/8")}) if private else frozenset()
    policy = OutboundPolicy(
        (AllowedHost.parse(f"127.0.0.1:{receiver.port}"),), networks, max_redirects=0
    )
    webhook = EventReceiver("ops", url, KEY, "t", **rest)
    clients = {"ops": GuardedClient(policy)}
    return WebhookDelivery([webhook], clients, SqlWebhooks(engine), SqlAgentEvents(engine), clock)


@pytest.fixture
async def rig(engine: Engine, clock: FakeClock, receiver: Receiver) -> Rig:
    delivery = delivery_to(engine, clock, receiver)
    await delivery.step()  # begins after what happened before
    return Rig(engine, clock, receiver, SqlWebhooks(engine), SqlAgentEvents(engine), delivery)


async def test_events_arrive_in_order_signed_and_once(rig: Rig) -> None:
    await rig.happens(EventKind.POOL_SHARED, EventKind.HANDOFF_INITIATED)
    await rig.happens(EventKind.POOL_LEFT, tenant="u")
    assert await rig.delivery.step() == 2
    assert await rig.delivery.step() == 0
    assert rig.receiver.kinds == ["pool.shared", "handoff.initiated"]
    headers, body = rig.receiver.got[0]
    seconds = headers["webhook-timestamp"]
    assert int(seconds) == int(rig.clock.now().timestamp())
    signed = f"{headers['webhook-id']}.{seconds}.".encode() + body
    expected = base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == {
        "type": "pool.shared",
        "timestamp": AT.isoformat(),
        "data": {"number": 1, "agent": "a1", "pool": "", "handoff": "", "memory": ""},
    }
    assert ADA not in body.decode()


async def test_a_failed_event_is_repeated_with_its_id_before_the_next_one(rig: Rig) -> None:
    rig.receiver.statuses = [500, 503, 204]
    await rig.happens(EventKind.POOL_SHARED, EventKind.POOL_LEFT)
    assert await rig.delivery.step() == 0
    assert await rig.delivery.step() == 0, "not before its pause"
    assert rig.receiver.kinds == ["pool.shared"]
    rig.clock.skip(PAUSES[0])
    assert await rig.delivery.step() == 0
    rig.clock.skip(PAUSES[1])
    assert await rig.delivery.step() == 2
    assert rig.receiver.kinds == ["pool.shared"] * 3 + ["pool.left"]
    assert len({headers["webhook-id"] for headers, _ in rig.receiver.got[:3]}) == 1
    (state,) = await rig.store.states()
    assert (state.attempts, state.dead, state.error) == (0, 0, "")


async def test_an_event_that_fails_too_often_is_dead_and_the_next_one_is_sent(rig: Rig) -> None:
    rig.receiver.statuses = [500] * (len(PAUSES) + 1) + [204]
    await rig.happens(EventKind.POOL_SHARED, EventKind.POOL_LEFT)
    for pause in PAUSES:
        assert await rig.delivery.step() == 0
        rig.clock.skip(pause)
    assert await rig.delivery.step() == 0
    (state,) = await rig.store.states()
    assert (state.dead, state.error) == (1, "HTTP status 500")
    assert await rig.delivery.step() == 1
    assert rig.receiver.kinds[-1] == "pool.left"


async def test_only_wanted_kinds_are_sent_and_others_are_passed(
    engine: Engine, clock: FakeClock, receiver: Receiver
) -> None:
    delivery = delivery_to(engine, clock, receiver, kinds=frozenset({"pool.left"}))
    await delivery.step()
    events = SqlAgentEvents(engine)
    kinds = [EventKind.POOL_SHARED, EventKind.POOL_LEFT] * AT_ONCE
    await events.add([AgentEvent(kind, "t", AT) for kind in kinds])
    for _ in range(3):
        await delivery.step()
    assert receiver.kinds == ["pool.left"] * AT_ONCE


async def test_a_redirect_and_a_private_address_are_refused(
    engine: Engine, clock: FakeClock, rig: Rig
) -> None:
    await rig.happens(EventKind.POOL_SHARED)
    rig.receiver.statuses, rig.receiver.location = [307], "http://127.0.0.1:1/else"
    await rig.delivery.step()
    (state,) = await rig.store.states()
    assert "redirect" in state.error
    clock.skip(PAUSES[0])
    await delivery_to(engine, clock, rig.receiver, private=False).step()
    (state,) = await rig.store.states()
    assert "not a public address" in state.error
    assert len(rig.receiver.got) == 1


@pytest.mark.both_engines
async def test_two_processes_do_not_send_an_event_twice(
    rig: Rig, second_engine: Engine, clock: FakeClock
) -> None:
    await rig.happens(*[EventKind.POOL_SHARED] * 10)
    other = delivery_to(second_engine, clock, rig.receiver)
    assert sum(await asyncio.gather(rig.delivery.step(), other.step())) == 10
    assert len(rig.receiver.got) == 10


def test_a_secret_is_text_or_base64() -> None:
    assert key_of("plain text") == b"plain text"
    assert key_of("whsec_" + base64.b64encode(KEY).decode()) == KEY
    with pytest.raises(ValueError, match="base64"):
        key_of("whsec_%%%")


def test_a_body_has_no_person() -> None:
    event = AgentEvent(EventKind.HANDOFF_ACCEPTED, "t", AT, handoff="h", person=ADA, other=BOB)
    assert ADA not in body_of(event).decode()
