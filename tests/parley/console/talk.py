"""Conversations in the stores of a running program, as finished turns leave them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gateway.authorship import Material
from gateway.conversation import key_of
from gateway.immutable import replace
from gateway.message import Attachment, Outbound, Place
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.conversations import StoredTurn
from gateway.ports.traces import Duration, Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import UsageRow
from parley.app import App
from tests.parley.console.kit import OTHER, PERSON, person_named

ROOM = Place("web", "main", "general", Audience.PUBLIC_ROOM, "guild")
USAGE = Usage(100, 50, 30, 20)
DECISIONS = (Decision("access", True, "open"), Decision("model", True, "answered", "offline"))

_RECALLED = {"items": [("abc12345", "preference", "user", 0.875, {"bm25": 2, "vector": 1})]}
_BLOCK = {"kind": "project", "tokens": 10, "budget": 20, "needed": 100, "allotted": 20}
_LOST = {"losses": [{"what": "bible", "why": "left_out", "tokens": 90}], "more": 3}
_PROMPT = {"window": 1000, "reserved": 300, "blocks": [{**_BLOCK, **_LOST}]}
HANDLED = (
    Decision("access", True, "open"),
    Decision("recall", True, "recalled", "1 found", data=_RECALLED),
    Decision("context", True, "blocks", "10 of 20 tokens", data=_PROMPT),
    Decision("tool", False, "web_get", "timed out", data={"seconds": 30.0}),
    Decision("model", True, "answered", "model-a"),
)
"""Decisions with all data that a trace can hold."""
LASTED: tuple[Duration, ...] = (
    ("queue", "waited", -4000, 4000, "ok"),
    ("stage", "check_access", 0, 1500, "open"),
    ("model", "model-a", 2000, 900_000, "ok", (100, 50, 30, 20, 5)),
)


def direct(name: str) -> Place:
    """The direct conversation of a person."""
    return Place("web", "main", name, Audience.DIRECT)


@dataclass(slots=True)
class Talk:
    """Writes finished turns, one second after the other."""

    app: App
    begin: datetime = field(default_factory=lambda: SystemClock().now() - timedelta(hours=1))
    number: int = 0

    async def __call__(
        self,
        place: Place,
        person: str,
        question: str,
        answer: str = "yes",
        *,
        outcome: str = "answered",
        micros: int = 5,
        usage: Usage = USAGE,
        tenant: str = "default",
        decisions: Sequence[Decision] = DECISIONS,
        durations: Sequence[Duration] = (),
        material: tuple[Material, ...] = (),
        files: tuple[Attachment, ...] = (),
        outbound: Sequence[Outbound] = (),
    ) -> str:
        """Store one exchange; return the id of its turn."""
        self.number += 1
        id_, message = f"{self.number:016x}", f"m{self.number}"
        at = self.begin + timedelta(seconds=self.number)
        key, who = key_of(tenant, place), person_named(person) if person else ""
        asked = StoredTurn(message, "user", question, at, who, person.title(), material, files)
        turns = (asked, StoredTurn(message, "assistant", answer, at))
        trace = Trace(
            *(id_, message, place.platform, place.account, str(key), "message", at),
            *(tuple(decisions), outcome, 20.0),
            durations=tuple(durations),
            audience=place.audience,
        )
        row = UsageRow(tenant, who, "W1", "model-a", usage, micros, at)
        stored = turns if outcome == "answered" else ()
        sends = tuple(replace(one, key=f"{id_}:{n}", person=who) for n, one in enumerate(outbound))
        done = CompletedTurn(key, stored, (row,), (), trace, (), sends)
        await self.app.storage.stores.unit_of_work.complete(done)
        return id_


@dataclass(frozen=True, slots=True)
class World:
    """Turns of two people: each in a direct conversation, both in a room."""

    talk: Talk
    adas: str
    eves: str
    room_ada: str
    room_eve: str


async def world_in(app: App) -> World:
    """Write the world into a program."""
    talk = Talk(app)
    return World(
        talk,
        await talk(direct(PERSON), PERSON, "my secret garden", "roses in the garden"),
        await talk(direct(OTHER), OTHER, "my garden is small", "tulips"),
        await talk(ROOM, PERSON, "the garden of the office", "is green"),
        await talk(ROOM, OTHER, "who waters the garden", "nobody", micros=20_000),
    )
