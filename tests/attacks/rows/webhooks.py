"""Event webhooks: addresses that lead inwards, receivers that attack, repeated requests."""

import asyncio
import gzip
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from aiohttp.abc import AbstractResolver, ResolveResult

from memory.agents.model import SharedScope
from parley.config import SettingsError
from tests.attacks.receivers import (
    OWN,
    SECRET,
    Answers,
    Request,
    accepts,
    delivering,
    happens,
    receiving,
)
from tests.attacks.rows.outbound import HOSTS, INSIDE
from tests.attacks.scene import Scene, hold
from tests.attacks.spying import watched_loop
from tests.attacks.steps import does, nobody_called
from tests.attacks.table import Attack
from tests.support.patience import PATIENCE

FORGE = "have an event believed that Parley did not send"
DELAY = "keep the program or other receivers from their events"
READ = "read words, people or secrets in the request to a webhook"
ONE = ("telegram",)
OF_RECEIVER: Final = "receiver of a webhook"
LINK_LOCAL = (
    "169.254.169.254", "169.254.1.1", "[fe80::1]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]",
)  # fmt: skip
SHORT: Final = 0.5
"""Seconds that a request may take in these rows."""
HELD: Final = 0.2
"""Seconds for which nothing may hold the event loop. The receivers that attack run in it too."""
PAGE: Final = Path(__file__).parents[3] / "docs" / "how-to" / "receive-agent-events.md"


async def _inwards(scene: Scene) -> None:
    """Addresses of the operator's own network in every notation, the local listener, and metadata
    services, which are refused in a permitted network as well."""
    port = scene.stage.hits.port
    local = scene.stage.app.local.base_url
    hosts = (*HOSTS[:-2], *LINK_LOCAL)
    addresses = {
        f"inwards{number}": f"http://{host}:{port}/{scene.tag}/{number}"
        for number, host in enumerate(hosts)
    }
    inwards = await delivering(scene, {**addresses, "local": f"{local}/api/v1/brain"})
    metadata = {"metadata": f"http://169.254.169.254:{port}/{scene.tag}"}
    permitted = await delivering(scene, metadata, ["169.254.0.0/16"])
    await happens(scene)
    hold(await inwards.delivery.step() == 0, "an event was accepted inside")
    hold(await permitted.delivery.step() == 0, "a metadata service accepted an event")
    states = await inwards.states()
    assert len(states) == len(addresses) + 2
    for name, state in states.items():
        hold(state.error.startswith("Forbidden"), f"{name} was tried: {state.error}")


class Changing(AbstractResolver):
    """Answers each question about a name with the next of its lists of addresses."""

    def __init__(self, answers: Iterator[list[str]]) -> None:
        self._answers = answers

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=one, port=port, family=family, proto=0, flags=0)
            for one in next(self._answers)
        ]

    async def close(self) -> None:
        """Nothing is open."""


async def _changing_name(scene: Scene) -> None:
    """A name that leads outside when it is configured, and inside when the request is sent."""
    answers = iter((["198.51.101.7", "127.0.0.1"], ["127.0.0.1"], ["::1"], ["169.254.169.254"]))
    names = [f"changing{number}" for number in range(4)]
    port = scene.stage.hits.port
    address = f"http://hook.example.org:{port}/{scene.tag}"
    changing = await delivering(scene, dict.fromkeys(names, address))
    await happens(scene)
    with patch("safety.http.client.aiohttp.ThreadedResolver", lambda: Changing(answers)):
        hold(await changing.delivery.step() == 0, "an event was accepted inside")
    hold(next(answers, None) is None, "a name was not resolved again for its request")
    for name, state in (await changing.states()).items():
        hold(state.error.startswith("Forbidden"), f"{name} was tried: {state.error}")


async def _redirects(scene: Scene) -> None:
    """A permitted receiver answers with redirects inwards."""

    async def redirects(path: str, writer: asyncio.StreamWriter) -> None:
        to = f"http://127.0.0.1:{scene.stage.hits.port}/{scene.tag}{path}"
        writer.write(f"HTTP/1.1 {path[1:]} Onward\r\nLocation: {to}\r\n\r\n".encode())

    async with receiving(redirects) as receiver:
        base = f"http://127.0.0.1:{receiver.port}"
        onward = {f"to{status}": f"{base}/{status}" for status in (301, 302, 303, 307, 308)}
        deliveries = await delivering(scene, onward, OWN)
        await happens(scene)
        hold(await deliveries.delivery.step() == 0, "a redirect was a success")
        hold(len(receiver.got) == len(onward), "a redirect was followed")


def _answer(*parts: bytes, forever: bool = False) -> Answers:
    """Write these parts, the last one again and again."""

    async def answer(_: str, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
        while forever:
            writer.write(parts[-1])
            await writer.drain()

    return answer


async def _drips(_: str, writer: asyncio.StreamWriter) -> None:
    """Write a byte of the answer now and then, and never its end."""
    writer.write(b"HTTP/1.1 204 No Content\r\nX-Slow: ")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(SHORT / 10)


BOMB: Final = gzip.compress(bytes(50_000_000), 1)
FLOODS: Final[Mapping[str, Answers]] = {
    "endless": _answer(b"HTTP/1.1 500 No\r\n\r\n", b"x" * 65_536, forever=True),
    "headers": _answer(b"HTTP/1.1 204 OK\r\n", b"X-More: " + b"y" * 2_000 + b"\r\n", forever=True),
    "line": _answer(b"HTTP/1.1 204 OK\r\nX-Long: ", b"z" * 65_536, forever=True),
    "continue": _answer(b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000, forever=True),
    "chunks": _answer(
        b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\nx\r\n" * 1_000,
        forever=True,
    ),
    "bomb": _answer(
        b"HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB), BOMB
    ),
    "garbage": _answer(b"\x00\xff\r\n\r\n"),
    "lengths": _answer(b"HTTP/1.1 204 OK\r\nContent-Length: -1\r\nContent-Length: 9\r\n\r\n"),
    "nothing": _answer(),
    "drips": _drips,
}  # fmt: skip


async def _floods(scene: Scene) -> None:
    """Answers that are huge, endless, slow or broken: each is one failure, soon."""
    by_path = {f"/{name}": answer for name, answer in FLOODS.items()}

    async def answer(path: str, writer: asyncio.StreamWriter) -> None:
        await by_path[path](path, writer)

    with _short_requests():
        async with receiving(answer) as receiver:
            base = f"http://127.0.0.1:{receiver.port}"
            named = {name: f"{base}/{name}" for name in FLOODS}
            deliveries = await delivering(scene, named, OWN)
            await happens(scene)
            with watched_loop() as watch:
                async with asyncio.timeout(PATIENCE):
                    hold(await deliveries.delivery.step() == 0, "a flood was a success")
    hold(watch.longest < HELD, f"an answer held the event loop for {watch.longest:.2f} s")
    for name, state in (await deliveries.states()).items():
        hold(state.attempts == 1, f"{name} is not to be tried again: {state}")
        hold(len(state.error) <= 200, f"{name} is kept whole")


async def _slow(scene: Scene) -> None:
    """A receiver answers only after another one has its event."""
    others = asyncio.Event()

    async def answer(path: str, writer: asyncio.StreamWriter) -> None:
        if path == "/slow":
            await others.wait()
        else:
            others.set()
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    with _short_requests(4 * SHORT):
        async with receiving(answer) as receiver:
            base = f"http://127.0.0.1:{receiver.port}"
            names = {"a-slow": f"{base}/slow", "b-other": f"{base}/other"}
            deliveries = await delivering(scene, names, OWN)
            await happens(scene)
            await deliveries.delivery.step()
    slow = (await deliveries.states())["a-slow"]
    hold(not slow.error, "one receiver waited for another one, which was slow")


@contextmanager
def _short_requests(seconds: float = SHORT) -> Iterator[None]:
    with patch("parley.wiring.agents.WEBHOOK_SECONDS", seconds):
        yield


def documented_check() -> Callable[..., bool]:
    """The check of a request that the documentation gives to receivers."""
    (code,) = re.findall(r"```python\n(.*?def genuine.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    check: Callable[..., bool] = names["genuine"]

    def believes(*arguments: object) -> bool:
        try:
            return check(*arguments)
        except ValueError:
            return False

    return believes


async def _replays(scene: Scene) -> None:
    """Mallory has recorded two requests, and sends their parts to the receiver again."""
    check, key = documented_check(), SECRET.encode()
    async with receiving(accepts) as receiver:
        names = {name: f"http://127.0.0.1:{receiver.port}/{name}" for name in ("one", "two")}
        deliveries = await delivering(scene, names, OWN)
        await happens(scene, "first")
        await happens(scene, "second")
        hold(await deliveries.delivery.step() == 4, "not every event arrived")
    now = int(time.time())
    first, second = [one for one in receiver.got if one.path == "/one"]
    other = next(one for one in receiver.got if one.path == "/two")
    hold(all(check(one.headers, one.body, key, now) for one in receiver.got), "a real one fails")
    for forged in _forged(first, second, other):
        hold(not check(forged.headers, forged.body, key, now), f"believed: {forged}")
    hold(not check(first.headers, first.body, b"another secret of 24 bytes", now), "another secret")
    hold(not check(first.headers, first.body, key, now + 3_600), "an old request was believed")
    hold(not check(first.headers, first.body, key, now - 3_600), "a later request was believed")
    ids = [one.headers["webhook-id"] for one in receiver.got]
    hold(len(set(ids)) == len(ids), "two events have one id")


def _forged(first: Request, second: Request, other: Request) -> Iterator[Request]:
    """The first request with one part changed."""
    yield Request(first.path, first.headers, second.body)
    yield Request(first.path, first.headers, first.body + b" ")
    for name in ("webhook-id", "webhook-signature"):
        for source in (second, other):
            changed = {**first.headers, name: source.headers[name]}
            yield Request(first.path, changed, first.body)
    later = str(int(first.headers["webhook-timestamp"]) + 1)
    yield Request(first.path, {**first.headers, "webhook-timestamp": later}, first.body)
    # The parts end at other points: the signed text is the same.
    begin, _, end = first.body.partition(b".")
    longer = f"{first.headers['webhook-timestamp']}.{begin.decode()}"
    yield Request(first.path, {**first.headers, "webhook-timestamp": longer}, end)
    for signature in ("", "v1,", "v1", "v2," + first.headers["webhook-signature"][3:]):
        yield Request(first.path, {**first.headers, "webhook-signature": signature}, first.body)


async def _contents(scene: Scene) -> None:
    """Ada's words stand in every field that an event could carry."""
    words = scene.canary("ada_words", "ada")
    agents = scene.stage.app.memory.agents
    assert agents is not None
    async with receiving(accepts) as receiver:
        names = {"reads": f"http://127.0.0.1:{receiver.port}/"}
        deliveries = await delivering(scene, names, OWN)
        scene.member("ada")
        request = (await scene.handle("ada")).request
        source = await happens(scene, f"coder {words}")
        target = await happens(scene, f"tester {words}")
        await agents.pools.create_pool(request, f"pool {words}", SharedScope.USER)
        context = {"task_description": words, "current_state": {"words": words}}
        for reason in ("rejected", "completed"):
            made = await agents.handoffs.initiate_handoff(request, source, target, context)
            assert made is not None
            if reason == "rejected":
                await agents.handoffs.reject_handoff(request, made.id, target, words)
            else:
                await agents.handoffs.accept_handoff(request, made.id, target)
                await agents.handoffs.complete_handoff(request, made.id, target, {"words": words})
        hold(await deliveries.delivery.step() >= 7, "not every event arrived")
    texts = "\n".join(one.text for one in receiver.got)
    forbidden = {words, str(scene.person_id("ada")), SECRET, *scene.stage.secrets}
    for text in forbidden:
        hold(text not in texts, "the request to a webhook has words, a person or a secret")


async def _addresses_with_names(scene: Scene) -> None:
    """Addresses with a user, a password, or a host that is read in two ways."""
    for url in (
        "https://user@hooks.example.org/", "https://user:word@hooks.example.org/",
        "https://:word@hooks.example.org/", "https://127.0.0.1@hooks.example.org/",
        "https://hooks..example.org/", "https://hooks_.-example-/", "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_x", "http://1.2.3.4.5/",
    ):  # fmt: skip
        try:
            await delivering(scene, {"names": url})
        except SettingsError as error:
            hold("word" not in str(error), "the password of an address is shown")
        else:
            hold(False, f"the configuration takes {url}")


WEBHOOKS = (
    Attack("webhooks-inwards", OF_RECEIVER, INSIDE, ONE, (does(_inwards), nobody_called())),
    Attack("webhooks-changing-name", OF_RECEIVER, INSIDE, ONE,
           (does(_changing_name), nobody_called())),
    Attack("webhooks-redirects", OF_RECEIVER, INSIDE, ONE, (does(_redirects), nobody_called())),
    Attack("webhooks-addresses", OF_RECEIVER, INSIDE, ONE, (does(_addresses_with_names),)),
    Attack("webhooks-floods", OF_RECEIVER, DELAY, ONE, (does(_floods),)),
    Attack("webhooks-slow", OF_RECEIVER, DELAY, ONE, (does(_slow),)),
    Attack("webhooks-replayed", OF_RECEIVER, FORGE, ONE, (does(_replays),)),
    Attack("webhooks-contents", OF_RECEIVER, READ, ONE, (does(_contents),)),
)  # fmt: skip
