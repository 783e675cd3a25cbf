"""From an id that somebody types to the id under which the chat knows the person.

Most platforms give a person one id. Where one gives several, its adapter says who is
meant, so that the terminal and HTTP reach the same memory as the chat.
"""

from importlib import import_module
from typing import Protocol, cast

from gateway.errors import BadInput
from gateway.people import PersonId
from gateway.ports import AdapterState
from gateway.ports.adapter import AdapterStates
from gateway.ports.clock import SystemClock
from parley.config import Settings
from parley.config.platforms import discover
from parley.config.sections import MEMORY
from parley.wiring.storage import Storage


class Identify(Protocol):
    """What `AdapterManifest.identify` names."""

    async def __call__(self, state: AdapterState, id_: str, /) -> tuple[str, ...]:
        """The ids under which the chat knows whom this id may name; none where nobody wrote
        yet. Raises `StoreUnavailable`."""
        ...


async def resolve_person(person: PersonId, states: AdapterStates) -> PersonId | None:
    """The person as the chat knows them, None where nobody of this id has written yet.

    Raises `BadInput` for an id that may name several people, `StoreUnavailable`.
    """
    manifest = discover().manifests.get(person.platform)
    if manifest is None or not manifest.identify:
        return person
    module, _, name = manifest.identify.partition(":")
    identify = cast("Identify", getattr(import_module(module), name))
    found = await identify(states.of(person.platform, person.account), person.id)
    if len(found) > 1:
        names = " or ".join(str(PersonId(person.platform, person.account, one)) for one in found)
        raise BadInput(f"{person} may be {names}: write the one that you mean.")
    return PersonId(person.platform, person.account, found[0]) if found else None


async def resolve_stored_person(person: PersonId, settings: Settings) -> PersonId | None:
    """The same, from the configured store; as it is typed where that is nobody's but the running
    program's."""
    manifest = discover().manifests.get(person.platform)
    if manifest is None or not manifest.identify or settings.storage_url == MEMORY:
        return person
    storage = Storage(settings, SystemClock())
    try:
        await storage.start(exclusive=False)
        return await resolve_person(person, storage.stores.states)
    finally:
        await storage.stop()
