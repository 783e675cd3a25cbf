"""The chat command `/console`: a link that signs one browser in, in a direct message only."""

from dataclasses import dataclass, field
from typing import Final

from gateway.commands.catalogue import CONSOLE
from gateway.message import Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller, CommandSet
from parley.console.sessions import Sessions

IN_PRIVATE: Final = (
    "I send this link privately only: write `/console` to me in a direct message. Whoever opens "
    "the link is signed in as you."
)
LINK: Final = (
    "{link}\n\nThis link signs one browser in as you, once, within {minutes} minutes. Do not pass "
    "it on."
)
LOCAL: Final = (
    " It leads to the machine on which I run: to open it elsewhere, the operator sets "
    "`console.url`."
)


@dataclass(frozen=True, slots=True)
class ConsoleCommands:
    """A `CommandSet`: the commands of `others`, and `/console`."""

    others: CommandSet
    sessions: Sessions
    specs: tuple[CommandSpec, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "specs", (*self.others.specs, CONSOLE))

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        """Run a command and return the answer. Raises `BadInput` with words for the person."""
        if name != CONSOLE.name:
            return await self.others.run(name, arguments, caller)
        if caller.place.audience is not Audience.DIRECT:
            return Reply(IN_PRIVATE)
        who, rules = caller.principal, self.sessions.rules
        link = await self.sessions.link(who.tenant, str(who.person))
        text = LINK.format(link=link, minutes=rules.link_minutes)
        return Reply(text + ("" if rules.url else LOCAL))

    def owns(self, value: str) -> bool:
        """Return True for the value of a button of the other commands."""
        return self.others.owns(value)

    async def press(self, value: str, caller: Caller) -> Reply:
        """Run the action of a button of the other commands."""
        return await self.others.press(value, caller)
