"""Measures the share of the prompt that comes from the service's cache, over twenty turns.

    python -m benchmarks.caching                 one speaker in private, three in a room
    python -m benchmarks.caching --rhythms       cost at several rhythms, by the cache's duration

A whole Parley in this process with the Telegram simulator, an Anthropic simulator and SQLite. The
project has a BIBLE, the people have memories; every third answer stores a memory, so that memory
and history grow. What is cached is counted from the requests by the service's own rules (prefixes
of `--minimum` tokens at least, five minutes, four marks), with half a minute between two turns.
The first turn does not count. A fresh installation says little: below 4,096 tokens, which some
models ask for, nothing of it is cached, while the present ones cache from 512 on;
`--bare --minimum 512` shows that.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.llm.anthropic.provider import DEFAULT_MODEL
from gateway.llm.anthropic.request import HOUR_MARK, MARK, pays_for_hour
from gateway.llm.prices import DEFAULT_PRICES, cost
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.memory import Caller
from gateway.turn.assemble import MAX_GAPS
from memory.model.record import Draft, Kind, Scope
from parley.app import App
from parley.config import from_mapping
from simulators.anthropic import Answer, AnthropicSimulator, UseTool
from simulators.anthropic.prompt_cache import MINIMUM, PromptCache
from simulators.base import Shown, SimPerson, SimRoom
from simulators.telegram import TelegramSimulator

PROMISED: Final = 0.85
TURNS: Final = 20
PAUSE: Final = 30.0
"""Seconds between two turns, by the cache's clock."""
LIFTED: Final = {"user_per_minute": 0, "channel_per_minute": 0, "workspace_per_minute": 0}
TOPICS: Final = (
    "the harbour lights and when they are repainted",
    "which ferry takes bicycles on a Sunday",
    "what the museum asks for a guided tour",
    "how the library lends out its old maps",
    "where the market sets up when it rains",
)
BIBLE: Final = "".join(
    f"The town keeps rule {n} of its harbour: boats of class {n % 7} moor at pier {n % 11} and "
    f"leave before {6 + n % 5} in the morning, unless the master says otherwise. "
    for n in range(64)
)
SOUL: Final = "".join(
    f"Likes point {n} of an answer put plainly, with the reason behind it and no more. "
    for n in range(60)
)


@dataclass(frozen=True, slots=True)
class Figures:
    """Tokens of all requests after the first turn, by what they were billed as."""

    requests: int
    fresh: int
    read: int
    written: int
    first_prompt: int
    last_prompt: int

    @property
    def share(self) -> float:
        """The part that was read from the cache."""
        return self.read / max(1, self.fresh + self.read + self.written)


def billed(bodies: Sequence[Sequence[Mapping[str, Any]]], minimum: int) -> Figures:
    """Return the bill of a service that caches from `minimum` tokens on, turn by turn."""
    now = 0.0
    cache = PromptCache(lambda: now, minimum)
    splits = []
    sizes = []
    for turn in bodies:
        now += PAUSE
        some = [cache.split(body) for body in turn]
        splits.append(some)
        sizes.append(sum((some[-1].fresh, some[-1].read, some[-1].written)))
    counted = [split for some in splits[1:] for split in some]
    return Figures(
        len(counted),
        sum(split.fresh for split in counted),
        sum(split.read for split in counted),
        sum(split.written for split in counted),
        sizes[0],
        sizes[-1],
    )


async def measure(
    speakers: int, *, bare: bool = False, turns: int = TURNS, minimum: int = MINIMUM
) -> Figures:
    """Twenty turns of so many speakers: one in private, several in a room."""
    return billed(await requests_of(speakers, bare=bare, turns=turns), minimum)


async def requests_of(
    speakers: int, *, bare: bool = False, turns: int = TURNS
) -> list[list[Mapping[str, Any]]]:
    """The requests of each turn."""
    with tempfile.TemporaryDirectory() as folder:
        async with _running(Path(folder)) as (app, telegram, model):
            await app.load_libraries()
            people = [telegram.person(f"Speaker {n}") for n in range(speakers)]
            harbour = telegram.room("harbour")
            room = telegram.direct(people[0]) if speakers == 1 else harbour
            if not bare:
                await telegram.say(people[0], harbour, "hello")  # which makes them a member
                await _prepare(app, people, harbour)
            bodies: list[list[Mapping[str, Any]]] = []
            for n in range(turns):
                seen = len(model.bodies)
                await _ask(app, telegram, people[n % speakers], room, n)
                bodies.append(list(model.bodies[seen:]))
            return bodies


MINUTE: Final = 60.0
RHYTHMS: Final[Mapping[str, Sequence[float]]] = {
    "half a minute": (0.5,),
    "4 minutes": (4,),
    "20 minutes": (20,),
    "50 minutes": (50,),
    "90 minutes": (90,),
    "two together, then 20 minutes": (0.5, 20),
    "five together, then 40 minutes": (0.5, 0.5, 0.5, 0.5, 40),
    "nine together, then 2 hours": (*(0.5,) * 8, 120),
    "of all kinds": (1, 12, 0.5, 3, 45, 2, 90, 6),
}
"""Minutes between two turns, which repeat."""


def cost_of(
    bodies: Sequence[Sequence[Mapping[str, Any]]],
    minutes: Sequence[float],
    minimum: int,
    duration: str,
) -> int:
    """Return the cost of these turns in millionths of a dollar with marks of one duration, "5m" or
    "1h", or with those that Parley chooses from the gaps so far."""
    now, sum_ = 0.0, 0
    cache, gaps = PromptCache(lambda: now, minimum), list[float]()
    price = DEFAULT_PRICES[DEFAULT_MODEL]
    for number, turn in enumerate(bodies):
        if number:
            gaps.append(MINUTE * minutes[(number - 1) % len(minutes)])
            now += gaps[-1]
        hour = duration == "1h" or (duration == "chosen" and pays_for_hour(gaps[-MAX_GAPS:], price))
        for body in turn:
            split = cache.split(_marked(body, HOUR_MARK if hour else MARK))
            used = Usage(split.fresh, 0, split.read, split.written, split.written_hour)
            sum_ += cost(used, price)
    return sum_


def _marked(value: Any, mark: Mapping[str, str]) -> Any:
    """The same request with this mark wherever it has one."""
    if isinstance(value, Mapping):
        return {k: mark if k == "cache_control" else _marked(v, mark) for k, v in value.items()}
    return [_marked(each, mark) for each in value] if isinstance(value, list) else value


async def _ask(
    app: App, telegram: TelegramSimulator, person: SimPerson, room: SimRoom, n: int
) -> None:
    topic = TOPICS[n % len(TOPICS)]
    before = len(_by_bot(telegram.shown(room)))
    text = f"Question {n}: please tell me {topic}, and what else I should know about it."
    await telegram.say(person, room, text, mention=True)
    await telegram.wait_for(room, lambda shown: len(_by_bot(shown)) > before, 20)
    async with asyncio.timeout(20):
        while not app.settled():  # noqa: ASYNC110 - the app tells nobody when it is done
            await asyncio.sleep(0.01)


def _by_bot(shown: Sequence[Shown]) -> list[Shown]:
    return [message for message in shown if message.by_bot and not message.deleted]


@asynccontextmanager
async def _running(
    folder: Path,
) -> AsyncIterator[tuple[App, TelegramSimulator, AnthropicSimulator]]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    telegram, model = TelegramSimulator(), AnthropicSimulator(reply=_Guide())
    await model.start()
    await telegram.start()
    settings = {
        "model": {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url},
        "platforms": {"telegram": telegram.settings()},
        "limits": LIFTED,
        "delivery": {"live": False, "chat_per_second": 500, "platform_per_second": 1_000},
        "database": {"url": f"sqlite:///{folder}/parley.db"},
        "server": {"port": 0},
        "webhooks": {"port": 0},
    }
    app = App(from_mapping(settings))
    try:
        await app.start()
        yield app, telegram, model
    finally:
        await app.stop(1)
        await telegram.stop()
        await model.stop()


class _Guide:
    """A model that answers at some length and stores a memory with every third answer."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def __call__(self, body: Mapping[str, object]) -> Answer | str:
        tools = body.get("tools")
        if not tools:
            return "They asked about the town; harbour, ferry and museum were explained."
        number = next(self._numbers)
        words = f"Answer {number}. The harbour office has the times, and the guide at pier four "
        words += "knows the rest; ask before noon, because it closes early out of season. "
        if number % 4 == 3:
            insight = {"type": "fact", "content": f"Asked about the harbour for the {number}. time"}
            return Answer("", (UseTool("memory_store", insight),))
        return words * (1 + number % 3)


async def _prepare(app: App, people: Sequence[SimPerson], room: SimRoom) -> None:
    """A project with a BIBLE, figures and memories of its own; people with a SOUL and memories."""
    memory, documents = app.memory.memory, app.memory.documents
    assert memory is not None
    assert documents is not None
    hall = Place("telegram", "main", room.id, Audience.PUBLIC_ROOM)
    operator = await memory.for_principal(_asker(people[0], hall, Role.OPERATOR))
    await operator.documents.write("bible", BIBLE)
    await documents.set_heartbeat(
        "default", operator.access.project, "142 boats, 3 more.", SystemClock().now()
    )
    for number in range(45):
        fact = f"Pier {number} has room for {number + 3} boats of the harbour's own, and water and "
        fact += f"light for {number + 1} of them until ten in the evening"
        await operator.write.remember(Draft(fact, Kind.FACT, scope=Scope.PROJECT))
    for n, person in enumerate(people):
        home = Place("telegram", "main", person.id, Audience.DIRECT)
        private = await memory.for_principal(_asker(person, home))
        await private.documents.write("soul", SOUL)
        for number in range(15):
            await private.write.remember(
                Draft(f"Has visited pier {number} with guest {n}", Kind.FACT)
            )
        if len(people) == 1:
            known, project = app.storage.memory.people, operator.access.project
            await known.note_seen("default", private.access.person, project, project)
            await known.choose_project("default", private.access.person, project)


def _asker(person: SimPerson, place: Place, role: Role = Role.MEMBER) -> Caller:
    principal = Principal("default", PersonId("telegram", "main", person.id), role)
    return Caller("prepare", principal, person.name, place, "prepare", SystemClock().now())


def _print_rhythms(minimum: int) -> int:
    """Print the cost at each rhythm; return 1 if the choice ever costs more than five minutes."""
    bodies = asyncio.run(requests_of(3))
    held = True
    for name, minutes in RHYTHMS.items():
        costs = {way: cost_of(bodies, minutes, minimum, way) for way in ("5m", "1h", "chosen")}
        held = held and costs["chosen"] <= 1.02 * costs["5m"]
        print(json.dumps({"rhythm": name, **costs}), flush=True)
    return 0 if held else 1


def main() -> int:
    """Run the command line; return 1 if the guarantee is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.caching")
    parser.add_argument("--bare", action="store_true", help="nothing is written down before")
    parser.add_argument(
        "--minimum", type=int, default=MINIMUM, help="tokens from which on the model caches"
    )
    parser.add_argument("--rhythms", action="store_true", help="cost by rhythm and duration")
    arguments = parser.parse_args()
    if arguments.rhythms:
        return _print_rhythms(arguments.minimum)
    bare = arguments.bare
    held = True
    for speakers in (1, 3):
        figures = asyncio.run(measure(speakers, bare=bare, minimum=arguments.minimum))
        held = held and figures.share >= PROMISED
        row = {
            "speakers": speakers,
            "cache_read_share": round(figures.share, 3),
            "requests": figures.requests,
            "fresh": figures.fresh,
            "read": figures.read,
            "written": figures.written,
            "first_prompt": figures.first_prompt,
            "last_prompt": figures.last_prompt,
        }
        print(json.dumps(row), flush=True)
    print(json.dumps({"promised": PROMISED, "held": held or bare}), flush=True)
    return 0 if held or bare else 1


if __name__ == "__main__":
    sys.exit(main())
