"""Adds the console to the program. Its pages, templates and models are loaded with the first
request."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.types import ASGIApp

from gateway.outbound.pictures import Pictures
from gateway.outbound.room_names import RoomNames
from gateway.people import identity_of
from gateway.ports import Clock
from gateway.ports.memory import CommandSet
from gateway.stores.usage import Payer
from gateway.text import counted, joined, text, verbatim
from gateway.turn.services import Services
from parley.config import Settings
from parley.console.jobs import ConsoleJobs
from parley.console.playgrounds import PlaygroundOwner, Playgrounds
from parley.console.sessions import PREFIX, Sessions
from parley.http.api import PREFIX as API
from parley.http.api.authentication import Authenticator
from parley.http.asgi import LateApp
from parley.http.local_listener import LocalListener
from parley.runtime.health import HealthMonitor, RecentActivity
from parley.runtime.restart import Restart
from parley.security.keys import token_key
from parley.wiring.live_configuration import LiveConfiguration
from parley.wiring.memory import WiredMemory
from parley.wiring.observe import AuditSink
from parley.wiring.recall import RecallModels
from parley.wiring.storage import Storage
from safety.http.addresses import is_loopback_name

if TYPE_CHECKING:
    from parley.console.services import ConsoleServices
    from parley.console.sessions import Viewers
    from parley.http.api.operations import Operation
    from parley.wiring.sandbox import Sandbox
from dataclasses import dataclass, field

from gateway.commands.catalogue import CONSOLE
from gateway.message import Reply
from gateway.people import Audience, Role
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller

IN_PRIVATE: Final = text(
    "I send this link privately only: write `/console` to me in a direct message. Whoever opens "
    "the link is signed in as you."
)
LINK: Final = counted(
    "This link signs one browser in as you, once, within {count} minute. Do not pass it on.",
    "This link signs one browser in as you, once, within {count} minutes. Do not pass it on.",
)
LINK_HERE: Final = counted(
    "This link signs one browser in as you, once, within {count} minute. Do not pass it on. It "
    "leads to the machine on which I run: to open it elsewhere, the operator sets `console.url`.",
    "This link signs one browser in as you, once, within {count} minutes. Do not pass it on. It "
    "leads to the machine on which I run: to open it elsewhere, the operator sets `console.url`.",
)
NOT_REACHABLE: Final = text(
    "You cannot open the console: only a browser on the machine on which I run can. The people who "
    "run me can change that with the setting `console.url`. In this chat, `/memories` shows what I "
    "remember of you, and `/privacy` exports or erases your data."
)
WEB: Final = "web"
"""The platform whose page is at the same address as the console."""


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
        is_local = is_loopback_name(urlsplit(self.sessions.page).hostname or "")
        is_elsewhere = is_local and caller.place.platform != WEB
        if is_elsewhere and not who.role.at_least(Role.OPERATOR):
            return Reply(NOT_REACHABLE)
        link = await self.sessions.link(who.tenant, str(who.person))
        means = (LINK_HERE if is_elsewhere else LINK).of(count=rules.link_minutes)
        return Reply(joined((verbatim(link), means), "\n\n"))

    def owns(self, value: str) -> bool:
        """Return True for the value of a button of the other commands."""
        return self.others.owns(value)

    async def press(self, value: str, caller: Caller) -> Reply:
        """Run the action of a button of the other commands."""
        return await self.others.press(value, caller)


PAID_IN: Final = "console:playground:"
"""The workspace that rows of usage name for what a playground cost."""
API_PREFIX: Final = f"{API}/console"


class ConsoleParts(Struct, frozen=True):
    """The parts of the running program that the console shows and changes."""

    settings: Settings
    services: Services
    storage: Storage
    memory: WiredMemory
    health: HealthMonitor
    activity: RecentActivity
    sessions: Sessions
    playgrounds: Playgrounds
    configuration: LiveConfiguration
    jobs: ConsoleJobs
    pictures: Pictures
    restart: Restart | None = None


def playgrounds_of(
    settings: Settings, services: Services, models: RecallModels, sessions: Sessions
) -> Playgrounds:
    """Return the playgrounds of this process, none of them open."""

    async def opened(owner: PlaygroundOwner) -> "Sandbox":
        from parley.wiring.sandbox import Sandbox  # noqa: PLC0415 - loaded with the first use

        sender = await services.identities.human(owner.tenant, identity_of(owner.person))
        payer = Payer(owner.tenant, owner.person, sender, PAID_IN)
        sandbox = Sandbox(settings, services.clock, models, payer)
        await sandbox.start()
        return sandbox

    async def valid(owner: PlaygroundOwner) -> bool:
        found = await sessions.of_person(owner.tenant, owner.person)
        return not owner.session or any(one.id == owner.session for one in found)

    return Playgrounds(services.clock, opened, valid)


def sessions_of(
    settings: Settings, storage: Storage, clock: Clock, address: Callable[[], str]
) -> Sessions:
    """Return the sessions of a configuration; `address` returns the local listener's."""
    return Sessions(storage.console_sessions, settings.console, clock, address)


def with_console(commands: CommandSet, sessions: Sessions) -> CommandSet:
    """Return the commands with `/console`, where the console is on."""
    return ConsoleCommands(commands, sessions) if sessions.rules.enabled else commands


def mount_console(listener: LocalListener, parts: ConsoleParts) -> None:
    """Serve the console and its API, where it is on. Called before the API is mounted, because
    the first matching prefix serves a request."""
    if not parts.settings.console.enabled:
        return

    def pages() -> ASGIApp:
        from parley.console.app import ConsoleApp  # noqa: PLC0415 - loaded with the first request
        from parley.console.pages import PageTemplates  # noqa: PLC0415 - loaded with the first request
        from parley.console.routes import ROUTES  # noqa: PLC0415 - loaded with the first request

        services, identity = _built(parts)
        pages = PageTemplates(services.pictures.may_have_portrait)
        return ConsoleApp(ROUTES, services, identity, pages).app()

    def api() -> ASGIApp:
        from parley.console.api import ConsoleApi  # noqa: PLC0415 - loaded with the first request
        from parley.console.routes import ROUTES  # noqa: PLC0415 - loaded with the first request

        services, identity = _built(parts)
        return ConsoleApi(ROUTES, services, identity).app()

    listener.mount_app(API_PREFIX, lambda: LateApp(api))
    listener.mount_app(PREFIX, lambda: LateApp(pages))


def described_operations(settings: Settings) -> "Sequence[Operation]":
    """Return the operations of the console for the OpenAPI description."""
    if not settings.console.enabled:
        return ()
    from parley.console.api import operations_of  # noqa: PLC0415 - loaded with the first request
    from parley.console.routes import ROUTES  # noqa: PLC0415 - loaded with the first request

    return operations_of(ROUTES)


def _built(parts: ConsoleParts) -> "tuple[ConsoleServices, Viewers]":
    from parley.console.services import ConsoleServices  # noqa: PLC0415 - loaded with the first request
    from parley.console.sessions import Viewers  # noqa: PLC0415 - loaded with the first request

    settings, services = parts.settings, parts.services
    stores = parts.storage.memory
    authenticator = Authenticator(token_key(settings), stores.tokens, stores.agents, services)
    identity = Viewers(authenticator, services.memory, parts.sessions, settings.console)
    console = ConsoleServices(
        settings,
        services,
        parts.storage,
        parts.memory,
        parts.health,
        parts.activity,
        parts.sessions,
        AuditSink(settings, parts.storage, services.clock),
        parts.playgrounds,
        parts.configuration,
        parts.jobs,
        RoomNames(services.connected, services.clock),
        parts.pictures,
        parts.restart,
    )
    return console, identity
