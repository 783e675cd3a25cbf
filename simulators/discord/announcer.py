"""Changes to the simulated world, together with the gateway events that tell of them."""

from collections.abc import Callable

from simulators.base import ChangeSignal
from simulators.discord.gateway import Gateway
from simulators.discord.payloads import Json, channel_json, gateway_message_json, member_json
from simulators.discord.world import DM, EPHEMERAL, THREADS, Channel, Message, User, World


class Announcer:
    """The one place where the world changes and everybody connected hears of it."""

    def __init__(
        self, world: World, gateway: Gateway, signal: ChangeSignal, cdn: Callable[[], str]
    ) -> None:
        self.world = world
        self.signal = signal
        self.cdn = cdn
        self._gateway = gateway
        self._repeat_next = 0

    def repeat_next(self, times: int) -> None:
        """Deliver the next event of a person `times` more often."""
        self._repeat_next = times

    def post(self, message: Message) -> Message:
        """A new message."""
        self.world.add_message(message)
        if not message.flags & EPHEMERAL:
            self._tell("MESSAGE_CREATE", message)
        self.signal.notify()
        return message

    def change(self, message: Message) -> None:
        """A message reads differently now."""
        if not message.flags & EPHEMERAL:
            self._tell("MESSAGE_UPDATE", message)
        self.signal.notify()

    def delete(self, channel: Channel, messages: list[Message]) -> None:
        """Messages are gone; several at once make one bulk event."""
        for message in messages:
            message.deleted = True
        ids = [message.id for message in messages if not message.flags & EPHEMERAL]
        where: Json = {"channel_id": channel.id}
        if channel.in_guild:
            where["guild_id"] = self.world.guild_id
        if len(ids) == 1:
            self._emit("MESSAGE_DELETE", {"id": ids[0], **where}, channel)
        elif ids:
            self._emit("MESSAGE_DELETE_BULK", {"ids": ids, **where}, channel)
        self.signal.notify()

    def react(self, channel: Channel, message: Message, user: User, emoji: str, add: bool) -> None:
        """A reaction comes or goes."""
        users = message.reactions.setdefault(emoji, set())
        if add == (user.id in users):
            return
        if add:
            users.add(user.id)
        else:
            users.discard(user.id)
        data: Json = {
            "user_id": user.id,
            "channel_id": channel.id,
            "message_id": message.id,
            "message_author_id": message.author_id,
            "emoji": {"id": None, "name": emoji},
            "burst": False,
            "type": 0,
        }
        if channel.in_guild:
            data["guild_id"] = self.world.guild_id
            if add:
                data["member"] = member_json(self.world, user)
        self._emit("MESSAGE_REACTION_ADD" if add else "MESSAGE_REACTION_REMOVE", data, channel)
        self.signal.notify()

    def open_channel(self, channel: Channel) -> None:
        """A channel or thread was created."""
        if channel.type == DM:
            return
        data = channel_json(self.world, channel)
        if channel.type in THREADS:
            self._gateway.dispatch("THREAD_CREATE", data | {"newly_created": True})
        else:
            self._gateway.dispatch("CHANNEL_CREATE", data)

    def interaction(self, payload: Json, channel: Channel) -> None:
        """A person used a command or a button."""
        self._emit("INTERACTION_CREATE", payload, channel)

    def raw(self, event: str, data: Json) -> None:
        """Send any event of the platform unchanged."""
        self._gateway.dispatch(event, data)

    def _tell(self, event: str, message: Message) -> None:
        channel = self.world.channels[message.channel_id]
        by_bot = message.author_id == self.world.bot.id
        data = gateway_message_json(self.world, message, self.cdn())
        self._emit(event, data, channel, repeatable=not by_bot)

    def _emit(self, event: str, data: Json, channel: Channel, repeatable: bool = True) -> None:
        if channel.hidden_from_bot:
            return
        times = 1
        if repeatable:
            times, self._repeat_next = 1 + self._repeat_next, 0
        self._gateway.dispatch(event, data, direct=not channel.in_guild, times=times)
