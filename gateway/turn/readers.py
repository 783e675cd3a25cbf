"""The language, time zone and quiet hours of each reader of the assistant's own sentences."""

from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from gateway.immutable import replace
from gateway.languages.installed import Languages
from gateway.languages.negotiation import language_of_reader
from gateway.latest import Latest
from gateway.message import Place
from gateway.people import Audience
from gateway.policy.access import named_channel
from gateway.ports.clock import Clock
from gateway.stores.people_languages import PeopleLanguages, PersonLanguages
from gateway.stores.place_zones import PlaceZones
from gateway.text import Language
from gateway.zones import TimePolicy, first_zone, place_zone, zone_named

KEPT_SECONDS: Final = 60.0
"""The longest time until a choice in another process counts."""
MAX_KEPT: Final = 10_000
RENEWED_AFTER: Final = timedelta(days=30)
"""The age from which a stored language is stored again when its person writes."""
_NOTHING: Final = PersonLanguages()


class Readers:
    """Finds the languages and time zones of people. Without a store nothing is known but what an
    event tells. Every method that waits raises `StoreUnavailable`."""

    def __init__(
        self,
        store: PeopleLanguages | None = None,
        clock: Clock | None = None,
        places: PlaceZones | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._places = places
        self._kept: Latest[tuple[str, str], tuple[PersonLanguages, float]] = Latest(MAX_KEPT)
        self._kept_places: Latest[tuple[str, ...], tuple[str, float]] = Latest(MAX_KEPT)

    async def known(self, tenant: str, person: str) -> PersonLanguages:
        """Return what is known of a `str(PersonId)`: one read a minute and person."""
        if self._store is None or self._clock is None:
            return _NOTHING
        kept, until = self._kept.get((tenant, person), (_NOTHING, 0.0))
        if until > self._clock.monotonic():
            return kept
        found = await self._store.of(tenant, person)
        self._keep(tenant, person, found)
        return found

    async def language(
        self, languages: Languages, tenant: str, person: str, place: Place, told: str = ""
    ) -> Language:
        """Return the language in which a person reads at a place; `told` is what their platform
        tells now, empty if that is nothing."""
        known = await self.known(tenant, person)
        told = languages.fitting(told) or known.told
        name = language_of_reader(
            known.chosen,
            told,
            place_language(languages, place),
            languages.default,
            languages.offered,
        )
        return await languages.loaded(name)

    async def note(self, languages: Languages, tenant: str, person: str, told: str) -> None:
        """Store what a person's platform tells, where that is news: their next notice may come when
        nobody tells it."""
        if self._clock is None:
            return
        known = await self.known(tenant, person)
        told = languages.fitting(told) or known.told
        if known.at is None and told in ("", languages.default):
            return
        old = known.at is None or self._clock.now() - known.at > RENEWED_AFTER
        if old or told != known.told:
            await self._put(tenant, person, known.chosen, told)

    async def zone(
        self, times: TimePolicy, tenant: str, person: str, place: Place, told: str = ""
    ) -> ZoneInfo:
        """Return the time zone of a person at a place; `told` is the name that their platform tells
        now, empty if that is nothing."""
        known = await self.known(tenant, person)
        told = told if zone_named(told) is not None else known.zone_told
        own = zone_named(known.zone) or zone_named(told)
        return own or await self.zone_of_place(times, tenant, place)

    async def zone_of_place(self, times: TimePolicy, tenant: str, place: Place) -> ZoneInfo:
        """Return the time zone of people at a place of whom no zone is known."""
        was_set = await self.zone_set(tenant, place)
        return first_zone(was_set, place_zone(times, place), times.default)

    async def zone_set(self, tenant: str, place: Place) -> str:
        """Return the zone that was set for a place with a command, "" for none: one read a minute
        and place."""
        if self._places is None or self._clock is None or place.audience is Audience.DIRECT:
            return ""
        key = _of_place(tenant, place)
        kept, until = self._kept_places.get(key, ("", 0.0))
        if until > self._clock.monotonic():
            return kept
        found = await self._places.of(tenant, place)
        self._kept_places[key] = (found, self._clock.monotonic() + KEPT_SECONDS)
        return found

    async def set_zone(self, tenant: str, place: Place, zone: str) -> None:
        """Set the time zone of a place; an empty one takes the setting back."""
        if self._places is None or self._clock is None:
            return
        await self._places.put(tenant, place, zone, self._clock.now())
        until = self._clock.monotonic() + KEPT_SECONDS
        self._kept_places[_of_place(tenant, place)] = (zone, until)

    async def note_zone(self, tenant: str, person: str, told: str) -> bool:
        """Store the time zone that a person's platform tells, where that is news; True if it is."""
        known = await self.known(tenant, person)
        if zone_named(told) is None or told == known.zone_told:
            return False
        await self._put_zones(tenant, person, known.zone, told)
        return True

    async def choose_zone(self, tenant: str, person: str, zone: str) -> None:
        """Store the time zone that a person chose; an empty one takes the choice back."""
        known = await self.known(tenant, person)
        if zone or known.at is not None:
            await self._put_zones(tenant, person, zone, known.zone_told)

    async def choose_quiet(self, tenant: str, person: str, quiet: str) -> None:
        """Store the quiet hours that a person chose; an empty text takes the choice back."""
        known = await self.known(tenant, person)
        if self._store is None or self._clock is None or not (quiet or known.at is not None):
            return
        now = self._clock.now()
        await self._store.put_quiet(tenant, person, quiet, now)
        self._keep(tenant, person, replace(known, quiet=quiet, at=now))

    async def choose(self, tenant: str, person: str, language: str) -> None:
        """Store the choice of a person; an empty one takes it back."""
        known = await self.known(tenant, person)
        if language or known.at is not None:
            await self._put(tenant, person, language, known.told)

    async def choose_voice(self, tenant: str, person: str, voice: str) -> None:
        """Store the answers that a person wants spoken; an empty value takes the choice back."""
        known = await self.known(tenant, person)
        if self._store is None or self._clock is None or not (voice or known.at is not None):
            return
        now = self._clock.now()
        await self._store.put_voice(tenant, person, voice, now)
        self._keep(tenant, person, replace(known, voice=voice, at=now))

    def forget(self, tenant: str, person: str) -> None:
        """Forget what was read of a person, after their erasure."""
        self._kept.pop((tenant, person), None)

    async def _put(self, tenant: str, person: str, chosen: str, told: str) -> None:
        if self._store is None or self._clock is None:
            return
        now = self._clock.now()
        await self._store.put(tenant, person, chosen, told, now)
        known = await self.known(tenant, person)
        self._keep(tenant, person, replace(known, chosen=chosen, told=told, at=now))

    async def _put_zones(self, tenant: str, person: str, zone: str, told: str) -> None:
        if self._store is None or self._clock is None:
            return
        known, now = await self.known(tenant, person), self._clock.now()
        await self._store.put_zones(tenant, person, zone, told, now)
        self._keep(tenant, person, replace(known, zone=zone, zone_told=told, at=now))

    def _keep(self, tenant: str, person: str, known: PersonLanguages) -> None:
        if self._clock is not None:
            self._kept[tenant, person] = (known, self._clock.monotonic() + KEPT_SECONDS)


def _of_place(tenant: str, place: Place) -> tuple[str, ...]:
    return (tenant, place.platform, place.account, place.channel_id)


def place_language(languages: Languages, place: Place) -> str:
    """Return the name of the language that is set for a channel, or for its workspace; "" for
    none."""
    places, platform = languages.places, place.platform
    if not places:
        return ""
    return (
        named_channel(places, platform, place.channel_ids)
        or named_channel(places, platform, (place.workspace_id,))
        or ""
    )
