"""Finds the id under which the chat knows a person.

Most platforms give a person one id. Where one gives several, its adapter chooses the right one, so
that the command line reaches the same memory as the chat.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Final, TypeAlias, cast

from gateway.errors import UsageError
from gateway.people import PersonId
from gateway.platforms import discover
from gateway.ports import AdapterState
from gateway.ports.adapter import AdapterStates
from gateway.ports.clock import SystemClock
from parley.cli.stores import opened
from parley.config import Settings
from parley.config.sections import MEMORY
from parley.wiring.storage import Storage

Identify: TypeAlias = Callable[[AdapterState, str], Awaitable[tuple[str, ...]]]
"""The function that `AdapterManifest.identify` names. It returns the ids in the chat of every
person that this id may mean; none for a person who has not written yet. Raises
`StoreUnavailable`."""
NOT_SEEN: Final = (
    "No person with the id {person} has written to the assistant yet, and this platform uses "
    "several ids for a person. Ask the person to write once, then try again."
)


async def resolve_person(person: PersonId, states: AdapterStates) -> PersonId | None:
    """The person with the id of the chat, None for a person who has not written yet.

    Raises `BadInput` for an id that may mean several people, `StoreUnavailable`.
    """
    identify = _identify_of(person.platform)
    if identify is None:
        return person
    ids = await identify(states.of(person.platform, person.account), person.id)
    people = [PersonId(person.platform, person.account, id_) for id_ in ids]
    if len(people) > 1:
        names = " or ".join(str(one) for one in people)
        raise UsageError(f"{person} may be {names}: write the one that you mean.")
    return people[0] if people else None


async def seen_person(person: PersonId, states: AdapterStates) -> PersonId:
    """The same. Raises `BadInput` also for a person who has not written yet."""
    known = await resolve_person(person, states)
    if known is None:
        raise UsageError(NOT_SEEN.format(person=person))
    return known


async def resolve_stored_person(person: PersonId, settings: Settings) -> PersonId:
    """The same, from the configured store; unchanged where only the running program can read it."""
    if _identify_of(person.platform) is None or settings.storage_url == MEMORY:
        return person
    async with opened(Storage(settings, SystemClock())) as storage:
        return await seen_person(person, storage.stores.states)


def check_account(settings: Settings, person: PersonId) -> None:
    """Raise `BadInput` for a person of an account that is not configured."""
    ours = [f"{each.platform}:{each.name}" for each in settings.accounts()]
    named = f"{person.platform}:{person.account}"
    if named not in ours:
        listed = ", ".join(ours) or "none"
        raise UsageError(f"There is no account {named} here. The accounts are: {listed}.")


def _identify_of(platform: str) -> Identify | None:
    manifest = discover().manifests.get(platform)
    if manifest is None or not manifest.identify:
        return None
    module, _, name = manifest.identify.partition(":")
    return cast("Identify", getattr(import_module(module), name))
