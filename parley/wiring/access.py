"""Builds what decides who may write. The command line uses the same parts as the program."""

from msgspec import Struct

from gateway.pairing.admissions import Admissions, OwnerClaims, OwnerCodes
from gateway.pairing.requests import Pairing
from gateway.ports import AlarmClock
from parley.config import Settings
from parley.wiring.observe import AuditSink
from parley.wiring.storage import Storage


class AccessControl(Struct, frozen=True):
    """The parts that decide who may write."""

    admissions: Admissions
    pairing: Pairing
    claims: OwnerClaims
    owner_codes: OwnerCodes


def wire_access(settings: Settings, storage: Storage, clock: AlarmClock) -> AccessControl:
    """Return the parts over an opened or unopened storage; every change is in the audit log."""
    store, buckets = storage.admissions, storage.stores.buckets
    links = storage.memory.links

    async def linked(tenant: str, person: str) -> list[str]:
        return [one.side.person for one in await links.linked(tenant, person)]

    audit, admissions = AuditSink(settings, storage, clock), Admissions(store, clock)
    return AccessControl(
        admissions,
        Pairing(store, buckets, clock, audit, admissions, linked),
        OwnerClaims(store, buckets, clock, audit, admissions),
        OwnerCodes(store, clock, audit),
    )
