"""Binds rooms to projects: people read the repositories of the project there.

Only operators bind, and every change is in the audit. A binding changes nothing in memory.
"""

from collections.abc import Sequence
from typing import Final

from gateway.errors import BadInput
from gateway.message import Place
from gateway.people import Role
from gateway.ports import Clock
from gateway.text import Text, text
from memory.knowledge.access import channel_name
from memory.model.scope import RequestScope
from memory.stores.audit import Audit
from memory.stores.room_bindings import MAX_BINDINGS, RoomBinding, RoomBindingStore

MAX_PROJECT: Final = 300
ONLY_ROOMS: Final = text("Write that in the channel or group that you want to bind to a project.")
ONLY_OPERATORS: Final = text("Only operators bind a channel or group to a project.")
OUTSIDERS: Final = text(
    "People of other companies read along here, so this channel cannot be bound to a project."
)
BAD_PROJECT: Final = text(
    "A project is written as `slack:main:T0123`: platform, account, and the workspace, server or "
    "group, without spaces."
)
BAD_CHANNEL: Final = text(
    "A channel is written as `slack:main:T0123:C0456`: platform, account, workspace (empty where "
    "the platform has none, as in `telegram:main::-100`) and channel, without spaces."
)
TOO_MANY: Final = text("{most} channels are bound already, the maximum.").of(most=MAX_BINDINGS)


class RoomBindings:
    """The bindings of rooms. Every method raises `StoreUnavailable`."""

    def __init__(self, store: RoomBindingStore, audit: Audit, clock: Clock) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock

    async def project(self, tenant: str, channel: str) -> str:
        """Return the project of a channel, empty for none."""
        return await self._store.project(tenant, channel)

    async def of_place(self, tenant: str, place: Place) -> str:
        """Return the project that a place is bound to, empty for none."""
        channel = channel_name(place)
        return await self._store.project(tenant, channel) if channel else ""

    async def bind_here(self, request: RequestScope, project: str) -> None:
        """Bind the room of a request. Raises `BadInput`."""
        channel = self._allowed(request)
        tenant, person = request.principal.tenant, str(request.principal.person)
        await self.bind(tenant, channel, project, by=person)

    async def unbind_here(self, request: RequestScope) -> str:
        """Unbind the room of a request; return its project, empty if it had none. Raises
        `BadInput`."""
        channel = self._allowed(request)
        tenant, person = request.principal.tenant, str(request.principal.person)
        return await self.unbind(tenant, channel, by=person)

    async def bind(self, tenant: str, channel: str, project: str, *, by: str = "") -> None:
        """Bind a channel. `by` is the acting `str(PersonId)`, empty for the command line. Raises
        `BadInput`."""
        check_project(project)
        check_channel(channel)
        if not await self._store.bind(tenant, channel, project, self._clock.now()):
            raise BadInput(TOO_MANY)
        await self._audit.append(
            "room_binding", tenant, by, step="bound", channel=channel, project=project
        )

    async def unbind(self, tenant: str, channel: str, *, by: str = "") -> str:
        """Unbind a channel; return its project, empty if it had none."""
        project = await self._store.unbind(tenant, channel)
        if project:
            await self._audit.append(
                "room_binding", tenant, by, step="unbound", channel=channel, project=project
            )
        return project

    async def all(self, tenant: str) -> Sequence[RoomBinding]:
        """Return the bindings of a tenant by channel."""
        return await self._store.all(tenant)

    def _allowed(self, request: RequestScope) -> str:
        """Return the channel that this person may bind. Raises `BadInput`."""
        channel = channel_name(request.place)
        if not channel:
            raise BadInput(ONLY_ROOMS)
        if request.principal.outside or not request.principal.role.at_least(Role.OPERATOR):
            raise BadInput(ONLY_OPERATORS)
        if request.place.outsiders:
            raise BadInput(OUTSIDERS)
        return channel


def check_project(text: str) -> None:
    """Raise `BadInput` for what no project can be called."""
    _check(text, 3, BAD_PROJECT)


def check_channel(text: str) -> None:
    """Raise `BadInput` for what no channel, and no closed thread of one, can be called."""
    _check(text, 4, BAD_CHANNEL)


def _check(text: str, parts: int, problem: Text) -> None:
    pieces = text.split(":", parts - 1)
    whole = len(pieces) == parts and pieces[0] and pieces[1] and pieces[-1]
    if not whole or len(text) > MAX_PROJECT or not text.isprintable() or " " in text:
        raise BadInput(problem)
