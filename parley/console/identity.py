"""From a session or a token to the viewer, with the present role and access."""

from datetime import UTC, datetime
from typing import Final, cast

from msgspec import Struct

from gateway.people import Principal, Role, identity_of
from gateway.ports.memory import MemoryPort
from gateway.ports.rights import NOBODY, Proof
from gateway.stores.console_sessions import ConsoleSession
from parley.config.sections import ConsoleSection
from parley.console.sessions import Sessions
from parley.console.viewer import LOCAL_OPERATOR, Theme, Viewer
from parley.http.api.authentication import Authenticator
from parley.http.api.errors import CallRefused
from parley.security.tokens import TokenClaims

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class Viewers(Struct, frozen=True):
    """Finds viewers. Roles and access lists are looked up at each request, as in a chat."""

    authenticator: Authenticator
    memory: MemoryPort
    sessions: Sessions
    rules: ConsoleSection

    async def of_session(self, session: ConsoleSession) -> Viewer:
        """Return the viewer of a session. Raises `CallRefused` (401, 403) for a person who is not
        served any more: the session ends."""
        person = identity_of(session.person)
        if person == LOCAL_OPERATOR:
            who = Principal(session.tenant, person, Role.OWNER)
        else:
            try:
                claims = TokenClaims(person, session.tenant, _NEVER)
                who = await self.authenticator.admitted(claims)
            except CallRefused:
                await self.sessions.store.end(session.tenant, session.person, session.id)
                raise
        theme = cast("Theme", session.theme)
        return await self._viewer(who, session.id, session.zone, theme)

    async def of_token(self, claims: TokenClaims) -> Viewer:
        """Return the viewer of a token, and count the request. Raises `CallRefused` (401, 403,
        429)."""
        caller, proof = await self.authenticator.caller_of(claims)
        return await self._viewer(caller.principal, token=proof)

    async def _viewer(
        self,
        who: Principal,
        session: str = "",
        zone: str = "",
        theme: Theme = "",
        token: Proof = NOBODY,
    ) -> Viewer:
        others = await self.memory.linked(who)
        persons = frozenset({str(who.person), *map(str, others)})
        return Viewer(who, persons, session, zone, theme, self.rules.break_glass, token)
