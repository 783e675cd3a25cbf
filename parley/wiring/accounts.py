"""The accounts of a configuration, each with its adapter, and the stored conversations of one
person for adapters that show them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from gateway.commands.catalogue import (
    APPROVE,
    CATCHUP,
    COMMANDS,
    CONSOLE,
    REGISTERED,
    REMINDERS,
    VOICE,
)
from gateway.extensions import ExtensionRegistry
from gateway.languages.installed import Languages
from gateway.markdown.text_renderer import Renderer
from gateway.message import Part, Place
from gateway.observe.logs import errors_only
from gateway.people import PersonId
from gateway.platforms import ConnectedAccount, adapter_class, discover, renderer_of
from gateway.ports import AdapterContext, Clock, CommandSpec, Counter, WebhookRoutes
from gateway.ports.adapter import AdapterStates, CommandLanguages, LanguageOfReader
from gateway.ports.conversations import MessageName, OwnConversation, OwnMessage, StoredTurn
from gateway.ports.identities import noted_conflicts
from gateway.ports.work_guard import WorkGuard
from gateway.render import render_off_loop
from gateway.stores.history import SqlOwnConversations
from gateway.stores.long_lived_states import LongLivedStates
from gateway.text import ENGLISH, Language, Moment, Text, counted, verbatim
from memory.commands.command_set import SPECS
from parley.config import MAIN, Settings

if TYPE_CHECKING:
    from gateway.stores.redis.hot_state import RedisHotState


MAX_SHOWN: Final = 400_000
"""Characters of one conversation that are read and rendered; older messages are left out."""


def account_name(key: tuple[str, str]) -> str:
    """The name of an account: "telegram" for the main one, "telegram/second" for another."""
    platform, account = key
    return platform if account == MAIN else f"{platform}/{account}"


def account_names(settings: Settings) -> tuple[str, ...]:
    """The names of all accounts of the configuration that have their credentials."""
    return tuple(account_name((one.platform, one.name)) for one in settings.accounts())


CONFLICTS: Final = counted(
    "{account} reported {count} change of a number or id that belongs to somebody else, the latest "
    "at {at}. Both people keep their own memories. The log names the ids (`identity_conflict`); if "
    "they are one person, `parley memory export` and `parley memory import` carry the memories "
    "over.",
    "{account} reported {count} changes of a number or id that belongs to somebody else, the "
    "latest at {at}. Both people keep their own memories. The log names the ids "
    "(`identity_conflict`); if they are one person, `parley memory export` and `parley memory "
    "import` carry the memories over.",
)


async def identity_conflicts(settings: Settings, states: AdapterStates) -> list[Text]:
    """Return the accounts whose platform reported changes of ids that would have mixed two people.
    Raises `StoreUnavailable`."""
    found: list[Text] = []
    for account in settings.accounts():
        noted = await noted_conflicts(states.of(account.platform, account.name))
        if noted is not None:
            name = account_name((account.platform, account.name))
            at = Moment(noted.latest)
            found.append(CONFLICTS.of(account=verbatim(name), count=noted.number, at=at))
    return found


def local_accounts(
    settings: Settings,
    only: str,
    states: AdapterStates,
    long_lived: LongLivedStates,
    webhooks: WebhookRoutes,
    clock: Clock,
    count: Counter,
    guard: WorkGuard,
    own: SqlOwnConversations,
    extensions: ExtensionRegistry,
    language_of: LanguageOfReader,
) -> dict[tuple[str, str], ConnectedAccount]:
    """The accounts of this process with their adapters, not connected yet; `only` restricts them to
    one platform."""
    manifests = discover().manifests
    connected = {}
    for account in settings.accounts():
        if only and account.platform != only:
            continue
        manifest = manifests[account.platform]
        context = AdapterContext(
            account=account.name,
            assistant_name=settings.assistant.name,
            clock=clock,
            state=states.of(account.platform, account.name),
            long_lived=long_lived.of(account.platform, account.name),
            webhooks=webhooks,
            count=count,
            commands=commands_of(settings),
            command_languages=command_languages(settings),
            guard=guard,
            own_conversations=ShownConversations(own, extensions, partial(renderer_of, manifest)),
            language_of=language_of,
            voice_seconds=settings.voice.max_seconds if settings.voice.recogniser != "none" else 0,
        )
        adapter = adapter_class(manifest)(account.settings, context)
        connected[account.platform, account.name] = ConnectedAccount.of(manifest, adapter)
        errors_only(manifest.loggers)
    return connected


def remote_accounts(
    settings: Settings, shared: "RedisHotState"
) -> dict[tuple[str, str], ConnectedAccount]:
    """The accounts that adapter processes keep connected."""
    from gateway.stores.redis.rpc import RpcClient  # noqa: PLC0415 - only where configured
    from parley.runtime.remote_adapter import RemoteAdapter  # noqa: PLC0415 - only where configured

    manifests = discover().manifests
    keys = [(account.platform, account.name) for account in settings.accounts()]
    return {
        key: RemoteAdapter(manifests[key[0]], key[1], RpcClient(shared.client, key)).connected()
        for key in keys
    }


_Part: TypeAlias = tuple[Callable[[Settings], bool], Sequence[CommandSpec]]
_OF_GATEWAY: Final[Sequence[_Part]] = (
    (lambda settings: settings.appointments.enabled, (REMINDERS,)),
    (lambda settings: settings.catchup.enabled, (CATCHUP,)),
    (lambda settings: settings.voice.speech.base_url is not None, (VOICE,)),
    (lambda settings: settings.access.admission == "approved", (APPROVE,)),
)
"""The gateway's commands that can be off."""
_OF_OTHERS: Final[Sequence[_Part]] = (
    (lambda settings: settings.memory.enabled, SPECS),
    (lambda settings: settings.console.enabled, (CONSOLE,)),
)


def _those_on(parts: Sequence[_Part], settings: Settings) -> Iterator[CommandSpec]:
    for is_on, commands in parts:
        if is_on(settings):
            yield from commands


def handled_commands(settings: Settings) -> tuple[CommandSpec, ...]:
    """The commands that the gateway handles itself."""
    return (*COMMANDS, *_those_on(_OF_GATEWAY, settings))


def commands_of(settings: Settings) -> tuple[CommandSpec, ...]:
    """The commands to register with the platforms of a configuration, in English."""
    return _shown_in(settings, ENGLISH)


def _commands_of(settings: Settings) -> tuple[CommandSpec, ...]:
    return (*REGISTERED, *_those_on((*_OF_GATEWAY, *_OF_OTHERS), settings))


def every_command() -> tuple[CommandSpec, ...]:
    """The commands to register with the platforms if every part is on, in English."""
    commands = (*REGISTERED, *(one for _, part in (*_OF_GATEWAY, *_OF_OTHERS) for one in part))
    return tuple(command.shown(ENGLISH) for command in commands)


def command_languages(settings: Settings) -> CommandLanguages:
    """Return the commands of a configuration in its languages, read when a platform asks."""

    def languages() -> Languages:
        # Of its own: the catalogues are needed once, and are not kept in memory.
        return Languages(settings.languages, Path(settings.languages.folder))

    def mark() -> str:
        spoken = repr((languages().digest(), commands_of(settings)))
        return hashlib.sha256(spoken.encode()).hexdigest()[:32]

    def load() -> Mapping[str, tuple[CommandSpec, ...]]:
        spoken, english = languages(), commands_of(settings)
        words = {name: _shown_in(settings, spoken.of_commands(name)) for name in spoken.offered}
        return {name: shown for name, shown in words.items() if shown != english}

    return CommandLanguages(mark, load)


def _shown_in(settings: Settings, language: Language) -> tuple[CommandSpec, ...]:
    return tuple(command.shown(language) for command in _commands_of(settings))


class ShownConversations:
    """Implements `gateway.ports.conversations.OwnConversations` with an adapter's renderer."""

    def __init__(
        self,
        store: SqlOwnConversations,
        extensions: ExtensionRegistry,
        renderer: Callable[[], Renderer],
    ) -> None:
        self._store = store
        self._extensions = extensions
        self._renderer = renderer

    async def listed(self, place: Place, person: str, limit: int) -> list[OwnConversation]:
        return await self._store.listed(self._tenant(place, person), place, person, limit)

    async def names(self, place: Place, person: str, limit: int) -> list[MessageName]:
        return await self._store.names(self._tenant(place, person), place, person, limit)

    async def messages(self, place: Place, person: str, limit: int) -> list[OwnMessage]:
        turns = await self._store.turns(self._tenant(place, person), place, person, limit)
        return [await self._shown(turn) for turn in _within_bounds(turns)]

    async def _shown(self, turn: StoredTurn) -> OwnMessage:
        if turn.role == "user":
            return OwnMessage(MessageName(turn.message_id, "person"), turn.at, turn.text)
        parts: list[Part] = await render_off_loop(turn.text, self._renderer())
        name = MessageName(turn.message_id, "assistant")
        return OwnMessage(name, turn.at, turn.text, tuple(parts))

    def _tenant(self, place: Place, person: str) -> str:
        return self._extensions.tenant_of(place, PersonId(place.platform, place.account, person))


def _within_bounds(turns: list[StoredTurn]) -> list[StoredTurn]:
    """Return the latest turns that have at most `MAX_SHOWN` characters together."""
    left = MAX_SHOWN
    kept: list[StoredTurn] = []
    for turn in reversed(turns):
        left -= len(turn.text)
        if left < 0:
            break
        kept.append(turn)
    return kept[::-1]
