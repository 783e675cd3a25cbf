"""The tenants that have written in a place, for events without a person."""

import asyncio
import hashlib
import json
from datetime import timedelta
from typing import Final

from gateway.errors import TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.latest import Latest
from gateway.message import Place
from gateway.ports import AdapterState

REMEMBERED: Final = timedelta(days=3650)
MAX_TENANTS: Final = 64
"""Stored tenants of one place, the latest."""
MAX_KNOWN: Final = 10_000
"""Places whose tenants this process has stored already."""


class PlaceTenants:
    """Stores the tenants of each place under its hash, so that it holds no id of a person."""

    def __init__(self, extensions: ExtensionRegistry, state: AdapterState) -> None:
        self._extensions = extensions
        self._state = state
        self._known: Latest[tuple[str, str], None] = Latest(MAX_KNOWN)
        self._writing = asyncio.Lock()

    async def note(self, place: Place, tenant: str) -> None:
        """Record that a person of this tenant wrote there. Raises `StoreUnavailable`."""
        if not self._extensions.has_tenants:
            return
        name = _name(place)
        if (name, tenant) not in self._known:
            async with self._writing:  # two concurrent writers would overwrite each other
                kept = [one for one in await self._kept(name) if one != tenant]
                await self._state.put(name, json.dumps([*kept, tenant][-MAX_TENANTS:]), REMEMBERED)
        self._known[name, tenant] = None

    async def of(self, place: Place) -> tuple[str, ...]:
        """Return the place's own tenant, if it has one, and those of all people who wrote there.
        Raises `TenantUnknown` if there is none, and `StoreUnavailable`."""
        unknown: TenantUnknown | None = None
        tenants: list[str] = []
        try:
            tenants.append(self._extensions.tenant_of(place, None))
        except TenantUnknown as error:
            unknown = error
        if self._extensions.has_tenants:
            tenants += await self._kept(_name(place))
        if not tenants and unknown is not None:
            raise unknown
        return tuple(dict.fromkeys(tenants))

    async def _kept(self, name: str) -> list[str]:
        kept = await self._state.get(name)
        return [str(one) for one in json.loads(kept)] if kept else []


def _name(place: Place) -> str:
    identity = json.dumps([place.platform, place.account, place.channel_id]).encode()
    return hashlib.blake2b(identity, digest_size=16).hexdigest()
