"""The demo's people, rooms and threads on every simulated platform, and actions of people that a
platform does not show as messages: commands, presses, reactions."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.text import Text, text, verbatim
from simulators.base import NotSupported, PlatformSimulator, RoomKind, Shown, SimPerson, SimRoom

PEOPLE: Final = ("Ada", "Ben", "Cleo")
DIRECT: Final = "direct"
ROOMS: Final[Mapping[str, RoomKind]] = {"general": "public", "team": "private"}
TITLES: Final = {
    "discord": "Discord",
    "slack": "Slack",
    "telegram": "Telegram",
    "whatsapp": "WhatsApp",
}
THREADS_UNDER_MESSAGES: Final = frozenset({"slack"})
"""Platforms on which every message can start a thread, which is shown below it."""

MAX_THREADS: Final = 40
MAX_SHOWN: Final = 150
"""Messages of a room that the page shows; older ones stay in the simulator."""

MAX_INTERACTIONS: Final = 500
MAX_REACTED: Final = 2_000
"""Messages with reactions."""
UNSHOWN_COMMANDS: Final = frozenset({"discord", "slack"})
UNSHOWN_PRESSES: Final = frozenset({"discord", "slack", "telegram"})


class Interaction(Struct, frozen=True):
    """A command or a press, shown below the message `after`, which is empty at the beginning.
    `text` is what was typed, or the label of the button; `room` names a room or a thread."""

    id: str
    room: str
    person: str
    verb: str
    text: str
    after: str


class Reaction(Struct, frozen=True):
    """An emoji under a message, with the names of those who chose it."""

    emoji: str
    people: tuple[str, ...]


class Interactions:
    """The latest interactions on all platforms."""

    def __init__(self) -> None:
        self._interactions: deque[Interaction] = deque(maxlen=MAX_INTERACTIONS)
        self._reactions: OrderedDict[tuple[str, str], dict[str, list[str]]] = OrderedDict()
        self._count = 0

    def note(self, room: str, person: str, verb: str, text: str, after: str) -> None:
        """Record a command or a press."""
        self._count += 1
        self._interactions.append(
            Interaction(f"interaction-{self._count}", room, person, verb, text, after)
        )

    def below(self, room: str, after: str) -> list[Interaction]:
        """The interactions below a message of a room, oldest first."""
        return [
            interaction
            for interaction in self._interactions
            if (interaction.room, interaction.after) == (room, after)
        ]

    def react(self, platform: str, message_id: str, person: str, emoji: str) -> None:
        """Record a reaction; a second one with the same emoji changes nothing."""
        chosen = self._reactions.setdefault((platform, message_id), {})
        people = chosen.setdefault(emoji, [])
        if person not in people:
            people.append(person)
        while len(self._reactions) > MAX_REACTED:
            self._reactions.popitem(last=False)

    def reactions(self, platform: str, message_id: str) -> list[Reaction]:
        """The reactions to a message, in the order in which they came."""
        chosen = self._reactions.get((platform, message_id), {})
        return [Reaction(emoji, tuple(people)) for emoji, people in chosen.items()]


class DemoRefused(Exception):
    """A request for an unknown platform, room, person or message, or for nothing."""

    def __init__(self, words: Text) -> None:
        super().__init__(words.english)
        self.text = words


class Where(Struct, frozen=True):
    """A place on the page. `thread` is the first message of the thread, or empty."""

    platform: str
    room: str
    person: str
    thread: str = ""


class RoomEntry(Struct, frozen=True):
    """A room, or a thread in the room `parent`, in the list of the page."""

    key: str
    title: str
    kind: RoomKind
    parent: str = ""


class Seen(Struct, frozen=True):
    """A message as one person sees it; `root` is the message above a thread shown inline."""

    shown: Shown
    author: str
    root: str = ""


class World:
    """All simulators, with the names of their rooms, threads and people in the script and the
    page."""

    def __init__(self, simulators: Mapping[str, PlatformSimulator]) -> None:
        self.interactions = Interactions()
        self._simulators = dict(simulators)
        self._threads: dict[tuple[str, str], tuple[RoomEntry, SimRoom]] = {}
        self._rooms: dict[str, dict[str, SimRoom]] = {}
        for platform, simulator in self._simulators.items():
            self._rooms[platform] = _make_rooms(simulator)

    @property
    def platforms(self) -> list[str]:
        """Their names, in the order of the page."""
        return list(self._simulators)

    def simulator(self, platform: str) -> PlatformSimulator:
        """Raises `DemoRefused`."""
        try:
            return self._simulators[platform]
        except KeyError:
            raise DemoRefused(text("no platform {name}", name=verbatim(repr(platform)))) from None

    def person(self, platform: str, name: str) -> SimPerson:
        """Raises `DemoRefused`."""
        if name not in PEOPLE:
            raise DemoRefused(text("nobody is called {name}", name=verbatim(repr(name))))
        return self.simulator(platform).person(name)

    def entries(self, platform: str) -> list[RoomEntry]:
        """The rooms of a platform, each followed by its threads; the direct one first."""
        self.simulator(platform)
        entries = [RoomEntry(DIRECT, "Direct message", "direct")]
        for key in self._rooms[platform]:
            entries.append(RoomEntry(key, key, ROOMS[key]))
            entries += [
                entry
                for (where, _), (entry, _) in self._threads.items()
                if where == platform and entry.parent == key
            ]
        return entries

    def room(self, where: Where) -> SimRoom:
        """Raises `DemoRefused`."""
        room = self._top(where)
        if where.thread and where.platform in THREADS_UNDER_MESSAGES and not room.thread_id:
            return replace(room, thread_id=where.thread)
        return room

    async def open_thread(self, where: Where, title: str) -> str:
        """Start a thread and return its key.

        Raises `DemoRefused`, and `NotSupported` where there are no threads, or too many.
        """
        if len(self._threads) >= MAX_THREADS:
            raise NotSupported(f"the demo keeps {MAX_THREADS} threads")
        person = self.person(where.platform, where.person)
        simulator = self.simulator(where.platform)
        if where.room not in self._rooms[where.platform]:
            raise NotSupported("threads are opened in rooms")
        room = await simulator.open_thread(person, self._top(where), title)
        key = f"{where.room}/{len(self._threads) + 1}"
        entry = RoomEntry(key, title, room.kind, where.room)
        self._threads[where.platform, key] = (entry, room)
        return key

    async def command(self, where: Where, name: str, arguments: str = "") -> None:
        """Use a slash command. Raises `LookupError` where the bot has no such command."""
        simulator, room = self.simulator(where.platform), self.room(where)
        seen = self.seen(where)
        await simulator.command(self.person(where.platform, where.person), room, name, arguments)
        if where.platform in UNSHOWN_COMMANDS:
            after = seen[-1].shown.id if seen else ""
            typed = f"/{name} {arguments}".strip()
            self.interactions.note(
                self._interaction_room(where), where.person, "used", typed, after
            )

    async def press(self, where: Where, message_id: str, label: str) -> None:
        """Press a button."""
        person = self.person(where.platform, where.person)
        await self.simulator(where.platform).press(person, self.room(where), message_id, label)
        if where.platform in UNSHOWN_PRESSES:
            self.interactions.note(
                self._interaction_room(where), where.person, "pressed", label, message_id
            )

    def interactions_below(self, where: Where, message_id: str) -> list[Interaction]:
        """The commands and presses below a message; with an empty id those before all messages."""
        return self.interactions.below(self._interaction_room(where), message_id)

    def _interaction_room(self, where: Where) -> str:
        top = self._top(where)
        return f"{where.platform}/{top.id}/{top.thread_id}"

    async def react(self, where: Where, message_id: str, emoji: str) -> None:
        """React to a message."""
        person = self.person(where.platform, where.person)
        await self.simulator(where.platform).react(person, self.room(where), message_id, emoji)
        self.interactions.react(where.platform, message_id, where.person, emoji)

    def seen(self, where: Where) -> list[Seen]:
        """The messages that this person sees there, oldest first, threads below their messages."""
        me = self.person(where.platform, where.person)
        shown = self.simulator(where.platform).shown(self._top(where))
        mine = [message for message in shown if message.only_for in ("", me.id)]
        if where.platform in THREADS_UNDER_MESSAGES:
            return self._with_threads(where.platform, mine)
        return [self._seen(where.platform, message) for message in mine[-MAX_SHOWN:]]

    async def changed(self, where: Where, seen: list[Seen], timeout: float) -> bool:
        """True as soon as the person sees a change from `seen`, False after `timeout`."""
        simulator = self.simulator(where.platform)
        before = _fingerprint(seen)

        def differs(_shown: list[Shown]) -> bool:
            return _fingerprint(self.seen(where)) != before

        with suppress(TimeoutError):
            await simulator.wait_for(self._top(where), differs, timeout)
            return True
        return False

    async def settled(self, where: Where, quiet: float, timeout: float) -> list[Seen]:
        """The messages after `quiet` seconds without a change, at the latest after `timeout`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while await self.changed(where, self.seen(where), quiet):
                    pass
        return self.seen(where)

    def _top(self, where: Where) -> SimRoom:
        simulator = self.simulator(where.platform)
        if where.room == DIRECT:
            return simulator.direct(self.person(where.platform, where.person))
        room = self._rooms[where.platform].get(where.room)
        if room is not None:
            return room
        thread = self._threads.get((where.platform, where.room))
        if thread is None:
            raise DemoRefused(
                text(
                    "no room {name} on {platform}",
                    name=verbatim(repr(where.room)),
                    platform=verbatim(where.platform),
                )
            )
        return thread[1]

    def _with_threads(self, platform: str, shown: list[Shown]) -> list[Seen]:
        """Every message followed by its thread; a thread without its first message is included."""
        ids = {message.id for message in shown}
        below: dict[str, list[Shown]] = {}
        tops = []
        for message in shown:
            if message.thread_id in ("", message.id) or message.thread_id not in ids:
                tops.append(message)
            else:
                below.setdefault(message.thread_id, []).append(message)
        entries = []
        for top in tops[-MAX_SHOWN:]:
            entries.append(self._seen(platform, top))
            inside = below.get(top.id, [])[-MAX_SHOWN:]
            entries += [self._seen(platform, reply, root=top.id) for reply in inside]
        return entries

    def _seen(self, platform: str, message: Shown, root: str = "") -> Seen:
        if message.by_bot:
            return Seen(message, "", root)
        simulator = self.simulator(platform)
        names = {simulator.person(name).id: name for name in PEOPLE}
        return Seen(message, names.get(message.author_id, "somebody"), root)


def _make_rooms(simulator: PlatformSimulator) -> dict[str, SimRoom]:
    """The rooms of `ROOMS`; none on platforms without rooms."""
    rooms: dict[str, SimRoom] = {}
    with suppress(NotSupported):
        for title, kind in ROOMS.items():
            rooms[title] = simulator.room(title, kind)
    return rooms


def _fingerprint(seen: list[Seen]) -> list[tuple[object, ...]]:
    return [
        (s.id, s.html, s.text, s.edited, s.deleted, s.buttons, len(s.files))
        for s in (one.shown for one in seen)
    ]
