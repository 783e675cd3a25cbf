"""A simulated platform, the people who write on it, and the messages that they see."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from benchmarks.burst import is_note
from benchmarks.faults.verdict import NOTE, Answers, Handed
from simulators.base import PlatformSimulator, SimRoom
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator

SLACK_PAUSES: Final = (0.0, 5.0, 25.0)
"""Slack repeats at once, after one minute and after five; here the minutes are shorter."""

META_PAUSES: Final = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, *[30.0] * 100)
"""Meta repeats for days; on a slow machine the program may be away for minutes on end."""

PLATFORMS: Final[Mapping[str, Callable[[], PlatformSimulator]]] = {
    "telegram": TelegramSimulator,
    "slack": lambda: SlackSimulator(retry_after=SLACK_PAUSES),
    "discord": DiscordSimulator,
    "whatsapp": lambda: WhatsAppSimulator(pauses=META_PAUSES),
}
SEND: Final[Mapping[str, str]] = {
    "telegram": "sendMessage",
    "slack": "chat.postMessage",
    "discord": "POST /channels/{id}/messages",
    "whatsapp": "messages",
}
"""The platforms' names of the request that sends."""
CHATS: Final = 50
MARK: Final = re.compile(r"n(\d{6})")


@dataclass
class World:
    """People in `CHATS` direct conversations with the bot. Each message has a number, which its
    answer repeats."""

    platform: PlatformSimulator
    rooms: list[SimRoom] = field(default_factory=list)
    written: int = 0

    async def write(self) -> None:
        """One message more; the chats take turns."""
        who = self.written % CHATS
        person = self.platform.person(f"Person {who}")
        if who == len(self.rooms):
            self.rooms.append(self.platform.direct(person))
        await self.platform.say(person, self.rooms[who], f"this is n{self.written:06d}")
        self.written += 1

    def answers(self) -> Answers:
        """The numbers in the bot's messages, by chat, as they stand there, and `NOTE`."""
        return {
            room.id: [
                number
                for message in self.platform.shown(room)
                if message.by_bot and not message.deleted
                for number in ([NOTE] if is_note(message) else marks(message.text)[:1])
            ]
            for room in self.rooms
        }

    def answered(self) -> int:
        """The number of messages with an answer."""
        return len({number for numbers in self.answers().values() for number in numbers} - {NOTE})

    def messages(self) -> int:
        """The number of the bot's messages."""
        return sum(map(len, self.answers().values()))

    def sends(self) -> int:
        """The number of answered requests to send, of the latest that are remembered."""
        method = SEND[self.platform.platform]
        return sum(call.method == method for call in self.platform.calls)

    def handed(self) -> Mapping[int, Handed]:
        """The time at which each message was handed over, in the platform's terms.

        Telegram and Discord hand over in the order of writing. Slack and WhatsApp give a message
        again later when nobody confirmed it, and newer ones meanwhile.
        """
        if isinstance(self.platform, SlackSimulator):
            return first_taken(
                (a.payload, a.acknowledged, True, a.began, a.ended)
                for a in self.platform.sockets.attempts
            )
        if isinstance(self.platform, WhatsAppSimulator):
            return first_taken(
                (d.payload, d.status == 200, d.reached and not d.status, d.began, d.ended)
                for d in self.platform.webhooks.deliveries
            )
        return {number: Handed(number, number) for number in range(self.written)}


def first_taken(
    attempts: Iterable[tuple[Mapping[str, object], bool, bool, float, float]],
) -> dict[int, Handed]:
    """From attempts (payload, confirmed, may have arrived without a confirmation, began, ended), in
    the order they ended, to when each message was handed over."""
    began: dict[int, float] = {}
    taken: dict[int, Handed] = {}
    for payload, confirmed, perhaps, at, ended in attempts:
        for number in marks(json.dumps(payload))[:1]:
            if confirmed or perhaps:
                began[number] = min(at, began.get(number, at))
            if confirmed:
                taken.setdefault(number, Handed(began[number], ended))
    return taken


def marks(text: str) -> list[int]:
    """The numbers of messages in a text."""
    return [int(number) for number in MARK.findall(text)]
