"""One attack in progress: its people, their actions, and the data that each of them could read."""

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from string import Template
from typing import Any, Final

from gateway.message import Place
from gateway.observe.logs import configure_logs
from gateway.people import DEFAULT_TENANT, Audience, PersonId, Principal, Role
from gateway.ports.clock import SystemClock
from gateway.ports.memory import Caller
from gateway.ports.rights import EVERY_SCOPE, TokenScope
from memory.model.record import Record
from memory.ports.memories import Filter
from memory.service.handle import MemoryHandle
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue
from simulators.base import PlatformSimulator, Shown, SimFile, SimPerson, SimRoom
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.attacks.model import whole_text
from tests.attacks.stage import MEMBERS, OPERATOR, OWNER, Stage
from tests.e2e.harness import by_bot
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

SILENT_AFTER: Final = 0.15
"""Seconds without an answer after which another person's message shows that nothing is to come."""
HANDED_OVER_WITHIN: Final = 2.0
"""Seconds for which the suite waits for a platform to hand over what was written."""
EVERYBODY: Final = "*"


class GotThrough(AssertionError):
    """The attack reached its goal."""


def hold(condition: bool, told: str) -> None:
    """Raises `GotThrough` with what happened, unless the condition holds."""
    if not condition:
        raise GotThrough(told)


@dataclass(frozen=True, slots=True)
class Reading:
    """A readable text and its reader: a name of the scene, or everybody."""

    by: str
    where: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Canary:
    """A unique string. `owners` are the names of those who may read it."""

    value: str
    owners: frozenset[str]
    what: str


def _holds(sim: PlatformSimulator) -> bool:
    """Return True while a platform has not delivered everything; Discord delivers in order."""
    match sim:
        case TelegramSimulator():
            return sim.mode == "webhook" and bool(sim.queue.waiting)
        case WhatsAppSimulator():
            return not sim.webhooks.idle
        case SlackSimulator():
            return bool(sim.deliveries._tasks)
        case _:
            return False


class Scene:
    """People of one platform, new for each attack. "mallory" attacks; everybody else does not."""

    def __init__(self, stage: Stage, platform: str) -> None:
        self.stage = stage
        self.platform = platform
        self.sim: PlatformSimulator = stage.platforms[platform]
        stage.scenes += 1
        self.tag = f"{stage.scenes}x{secrets.token_hex(4)}"
        self.mark = f"mark{self.tag}"
        self.attackers: set[str] = {"mallory"}
        self.people: dict[str, tuple[PlatformSimulator, SimPerson]] = {}
        self.rooms: dict[str, SimRoom] = {}
        self.canaries: list[Canary] = []
        self.readings: list[Reading] = []
        self.outside: set[str] = set()
        self.words: dict[str, str] = {"mark": self.mark, "tag": self.tag}
        self._log_from = 0

    # --- people and places ----------------------------------------------------------------------

    def member(self, name: str, platform: str = "") -> SimPerson:
        """The member of that name; on another platform than the attack's if one is given."""
        if name not in self.people:
            sim = self.stage.platforms[platform] if platform else self.sim
            assert self.stage.members < MEMBERS, "the next person would be a guest"
            self.people[name] = (sim, sim.person(f"member {self.stage.members}"))
            self.stage.members += 1
            self.words[f"{name}_id"] = self.people[name][1].id
        return self.people[name][1]

    def guest(self, name: str, shown_as: str = "") -> SimPerson:
        """A person without a role; `shown_as` is the name that the platform shows."""
        if name not in self.people:
            person = self.sim.person(shown_as or f"{name} {self.tag}")
            self.people[name] = (self.sim, person)
            self.words[f"{name}_id"] = person.id
        return self.people[name][1]

    def operator(self, name: str = "olga") -> SimPerson:
        """The operator of this platform."""
        self.people[name] = (self.sim, self.sim.person(OPERATOR))
        return self.people[name][1]

    def owner(self, name: str = "oona") -> SimPerson:
        """The configured owner of Telegram, under this name."""
        person = self.stage.platforms["telegram"].person(OWNER)
        self.people[name] = (self.stage.platforms["telegram"], person)
        return person

    def sim_of(self, name: str) -> PlatformSimulator:
        """The platform that a person is on."""
        self.member(name)
        return self.people[name][0]

    def room(self, title: str) -> SimRoom:
        """A public room of this scene, by a title of its own; empty for none."""
        if title not in self.rooms:
            self.rooms[title] = self.sim.room(f"{title} {self.tag}")
        return self.rooms[title]

    def direct(self, name: str) -> SimRoom:
        """The direct conversation of a person."""
        return self.sim_of(name).direct(self.member(name))

    def _place(self, name: str, room: str) -> SimRoom:
        return self.room(room) if room else self.direct(name)

    def filled(self, text: str) -> str:
        """A text with `$mark`, `$ada_id`, `$ada_memory` and so on replaced."""
        return Template(text).safe_substitute(self.words)

    # --- what people do -------------------------------------------------------------------------

    async def say(
        self,
        name: str,
        text: str,
        room: str = "",
        *,
        files: tuple[SimFile, ...] = (),
        reply_to: str = "",
    ) -> str:
        """Write to the assistant, and wait until nothing is left to do; the message's id."""
        sim, place = self.sim_of(name), self._place(name, room)
        done = self._begun(sim, place)
        message_id = await sim.say(
            self.member(name), place, self.filled(text), mention=bool(room), files=files,
            reply_to=reply_to,
        )  # fmt: skip
        await self._ended(name, room, sim, place, done)
        return message_id

    async def command(self, name: str, command: str, arguments: str = "", room: str = "") -> str:
        """Use a command; the text of the answer, empty where there is none."""
        sim, place = self.sim_of(name), self._place(name, room)
        done = self._begun(sim, place)
        await sim.command(self.member(name), place, command, self.filled(arguments))
        await self._ended(name, room, sim, place, done)
        new = by_bot(sim.shown(place))[done[0] :]
        return new[-1].text if new else ""

    async def press(self, name: str, under: Shown, label: str, room: str = "") -> None:
        """Press a button that the person sees."""
        sim, place = self.sim_of(name), self._place(name, room)
        done = self._begun(sim, place)
        await sim.press(self.member(name), place, under.id, label)
        await self._ended(name, room, sim, place, done)

    async def press_all(self, name: str, rounds: int = 4) -> None:
        """Press the first button under every answer, as somebody does who does not read."""
        pressed: set[str] = set()
        for _ in range(rounds):
            sim, place = self.sim_of(name), self.direct(name)
            questions = [m for m in by_bot(sim.shown(place)) if m.buttons and m.id not in pressed]
            if not questions:
                return
            for message in questions:
                pressed.add(message.id)
                await self.press(name, message, message.buttons[0].label)

    def page(self, text: str) -> str:
        """An order to read a page that says this; the words are not in the order."""
        name = f"page{len(self.words)}{self.tag}"
        self.words[name] = name
        (self.stage.folder / name).write_text(self.filled(text), "utf-8")
        return f'read it. CALL hostile__page {{"name": "{name}"}}'

    def bodies_from(self, start: int) -> list[Mapping[str, Any]]:
        """The requests to the model since there were `start`."""
        return self.stage.model.bodies[start:]

    def _begun(self, sim: PlatformSimulator, place: SimRoom) -> tuple[int, int]:
        return len(by_bot(sim.shown(place))), len(self.stage.model.bodies)

    async def _ended(
        self, name: str, room: str, sim: PlatformSimulator, place: SimRoom, done: tuple[int, int]
    ) -> None:
        """Wait for the answer, or for the proof that there is none; note what was read."""
        shown, question = done
        try:
            await sim.wait_for(place, lambda seen: len(by_bot(seen)) > shown, SILENT_AFTER)
        except TimeoutError:
            await self.fence(sim)
        await self.settled()
        for body in self.bodies_from(question):
            by = EVERYBODY if room else name
            self.readings.append(Reading(by, "prompt", whole_text(body)))

    async def fence(self, sim: PlatformSimulator) -> None:
        """Another person writes and is answered: what was delivered before has arrived."""
        await self._delivered(sim)
        witness = sim.person("member 0")
        place = sim.direct(witness)
        before = len(by_bot(sim.shown(place)))
        await sim.say(witness, place, "are you there?")
        await sim.wait_for(place, lambda seen: len(by_bot(seen)) > before, PATIENCE)

    async def _delivered(self, sim: PlatformSimulator) -> None:
        """Return once the platform has handed over what it holds: other chats do not wait for it.
        What the program refuses is handed over again and again, so that this wait has an end."""
        until = asyncio.get_running_loop().time() + HANDED_OVER_WITHIN
        while _holds(sim) and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.005)

    async def settled(self) -> None:
        """Return once everything that was accepted is answered and sent."""
        await eventually(self.stage.app.settled)

    # --- canaries -------------------------------------------------------------------------------

    def canary(self, what: str, *owners: str) -> str:
        """A new string that only these may read."""
        value = f"canary{what}{secrets.token_hex(8)}"
        self.canaries.append(Canary(value, frozenset(owners), what))
        self.words[what] = value
        return value

    async def plant(self, name: str = "ada") -> None:
        """Give a person a private memory, a private turn and a SOUL with canaries in them."""
        memory, turn, soul = (self.canary(f"{name}_{what}", name) for what in _PRIVATE)
        await self.command(name, "remember", f"I keep {memory} in the drawer")
        await self.say(name, f"my dog is called {turn}")
        await self.command(name, "soul", f"Call me {soul}.")
        records = await self.records(name)
        self.words[f"{name}_record"] = next(r.id for r in records if memory in r.content)
        assert any(turn in record.content for record in records), "the turn is kept"

    async def handle(self, name: str, tenant: str = DEFAULT_TENANT) -> MemoryHandle:
        """A person's memory in their direct conversation, as the program itself reaches it."""
        memory = self.stage.app.memory.memory
        assert memory is not None
        person = self.person_id(name)
        place = Place(person.platform, person.account, person.id, Audience.DIRECT)
        who = Principal(tenant, person, Role.MEMBER)
        caller = Caller(f"check {self.tag}", who, name, place, f"check {name}", SystemClock().now())
        return await memory.for_principal(caller)

    async def records(self, name: str) -> list[Record]:
        """Everything that is kept of a person as memory, turns included."""
        handle = await self.handle(name)
        filters = Filter(own_only=True, superseded=True, limit=200)
        return [match.record for match in await handle.read.search(filters)]

    async def remembered(self, name: str) -> str:
        """Return a person's memories, except turns, as one text."""
        return "\n".join(record.content for record in await self.records(name) if not record.role)

    async def kept(self, name: str) -> list[dict[str, object]]:
        """Every row of a person, as `/privacy export` gives them out."""
        return await (await self.handle(name)).privacy.export_all(audited=False)

    def person_id(self, name: str) -> PersonId:
        """The identity of a person."""
        sim, person = self.people[name]
        return PersonId(sim.platform, "main", person.id)

    # --- HTTP -----------------------------------------------------------------------------------

    def token(
        self,
        name: str,
        *,
        tenant: str = DEFAULT_TENANT,
        days: float = 1,
        scopes: frozenset[TokenScope] = EVERY_SCOPE,
        agent: str = "",
    ) -> str:
        """A person's token for the API, or one of an agent, as `parley token` prints it."""
        key = token_key(self.stage.app.settings).get_or_create()
        until = SystemClock().now() + timedelta(days=days)
        person = self.person_id(name)
        return issue(key, TokenClaims(person, tenant, until, scopes=scopes, agent=agent))

    async def http(
        self, method: str, path: str, *, by: str = "mallory", token: str = "", **more: Any
    ) -> tuple[int, str]:
        """A request to the local listener; status and body, which is noted as read."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= more.pop("headers", {})
        url = self.stage.app.local.base_url + self.filled(path)
        more.setdefault("allow_redirects", False)
        async with self.stage.http.request(method, url, headers=headers, **more) as answer:
            text = await answer.text(errors="replace")
        self.readings.append(Reading(by, f"{method} {path}", text))
        return answer.status, text

    async def api(
        self, method: str, path: str, body: object = None, *, by: str = "mallory", **more: Any
    ) -> tuple[int, str]:
        """A request to the memory API with the person's own token."""
        if body is not None:
            more |= {"data": self.filled(json.dumps(body))}
            more["headers"] = {"Content-Type": "application/json", **more.get("headers", {})}
        token = more.pop("token", None) or self.token(by)
        return await self.http(method, f"/api/v1/brain{path}", by=by, token=token, **more)

    # --- the verdict ----------------------------------------------------------------------------

    def begin(self) -> None:
        """Send the log of this attack where the suite reads it."""
        configure_logs("json", logging.INFO, stream=self.stage.log)
        self._log_from = self.stage.log.tell()

    def log(self) -> str:
        """What this attack wrote into the log so far."""
        self.stage.log.seek(self._log_from)
        return self.stage.log.read()

    def shown_to(self, name: str) -> list[Shown]:
        """The messages of the assistant that a person sees, in their own chat and in rooms."""
        sim, person = self.people[name]
        inside = sim is self.sim and name not in self.outside
        rooms = [sim.direct(person), *(self.rooms.values() if inside else ())]
        return [
            message
            for room in rooms
            for message in sim.shown(room)
            if message.by_bot and message.only_for in ("", person.id)
        ]

    def read_by(self, name: str) -> list[Reading]:
        """Everything that a person could read in this scene."""
        by = {name} if name in self.outside else {name, EVERYBODY}
        results = [reading for reading in self.readings if reading.by in by]
        if name in self.people:
            for message in self.shown_to(name):
                files = "".join(file.data.decode("utf-8", "replace") for file in message.files)
                payload = json.dumps(dict(message.payload), ensure_ascii=False, default=str)
                results.append(Reading(name, "message", f"{message.text}\n{payload}\n{files}"))
        return results

    def judge(self) -> None:
        """Raises `GotThrough` where an attacker could read what is not theirs."""
        for attacker in self.attackers:
            forbidden = [one for one in self.canaries if attacker not in one.owners]
            for reading in self.read_by(attacker):
                for canary in forbidden:
                    hold(
                        canary.value not in reading.text,
                        f"{attacker} read {canary.what} in {reading.where}",
                    )
                for secret in self.stage.secrets:
                    hold(secret not in reading.text, f"{attacker} read a secret: {reading.where}")
        log = self.log()
        for secret in (*self.stage.secrets, *(one.value for one in self.canaries)):
            hold(secret not in log, "the log holds a secret or somebody's words")


_PRIVATE: Final = ("memory", "turn", "soul")
