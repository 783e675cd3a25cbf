"""The languages and time zones of people who read the sentences of adapters and of local pages."""

from db.errors import StoreUnavailable
from gateway.errors import TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.message import Outbound, Place
from gateway.people import Audience, PersonId, identity_of
from gateway.text import Language
from gateway.turn.readers import Readers, place_language
from gateway.turn.services import CurrentPolicies


class ReaderLanguages:
    """Finds the language of a reader: the one they chose, or the one that their browser tells.
    Its methods never raise."""

    def __init__(
        self, readers: Readers, policies: CurrentPolicies, extensions: ExtensionRegistry
    ) -> None:
        self._readers = readers
        self._policies = policies
        self._extensions = extensions

    async def __call__(self, place: Place, person: str, told: str) -> Language:
        """Return the language of a person at a place; `told` is a header `Accept-Language`."""
        languages = self._policies.value.languages
        liked = languages.liked_by(told)
        who = PersonId(place.platform, place.account, person)
        try:
            tenant = self._extensions.tenant_of(place, who)
            language = await self._readers.language(languages, tenant, str(who), place, liked)
            times = self._policies.value.times
            return language.in_zone(await self._readers.zone(times, tenant, str(who), place))
        except (StoreUnavailable, TenantUnknown):
            return languages.named(liked or languages.default)

    async def of_send(self, outbound: Outbound) -> Language:
        """Return the language of the readers of a send: that of its person where they read it
        alone, or where nothing is set for the place."""
        languages, place = self._policies.value.languages, outbound.place
        of_place = place_language(languages, place)
        alone = place.audience is Audience.DIRECT or bool(outbound.private_to)
        if not outbound.person or (of_place and not alone):
            return await languages.loaded(of_place or languages.default)
        return await self(place, identity_of(outbound.person).id, "")
