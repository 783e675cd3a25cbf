"""Which tenants have written in a place, for events in which the platform names nobody.

Where people of several tenants write in one place, a deletion concerns whichever of them the
message was stored for. Without a tenant provider nothing of this is asked or kept.
"""

import asyncio
import hashlib
import json
from collections import OrderedDict
from datetime import timedelta
from typing import Final

from gateway.errors import TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.message import Place
from gateway.ports import AdapterState

REMEMBERED: Final = timedelta(days=3650)
MAX_TENANTS: Final = 64
"""Tenants of one place that are kept, the latest."""
MAX_KNOWN: Final = 10_000
"""Places whose tenants this process knows to be kept."""


class PlaceTenants:
    """Keeps the tenants of each place under a hash of it, so that no id of a person is in it."""

    def __init__(self, extensions: ExtensionRegistry, state: AdapterState) -> None:
        self._extensions = extensions
        self._state = state
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._writing = asyncio.Lock()

    async def note(self, place: Place, tenant: str) -> None:
        """Somebody of this tenant wrote there. Raises `StoreUnavailable`."""
        if not self._extensions.has_tenants:
            return
        name = _name(place)
        if (name, tenant) not in self._known:
            async with self._writing:  # two that begin at once would each keep themselves alone
                kept = [one for one in await self._kept(name) if one != tenant]
                await self._state.put(name, json.dumps([*kept, tenant][-MAX_TENANTS:]), REMEMBERED)
        self._known[name, tenant] = None
        self._known.move_to_end((name, tenant))
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)

    async def of(self, place: Place) -> tuple[str, ...]:
        """The place's own tenant, if it has one, and those of everybody who wrote there. Raises
        `TenantUnknown` where there is none at all, `StoreUnavailable`."""
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
    text = json.dumps([place.platform, place.account, place.channel_id]).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()
