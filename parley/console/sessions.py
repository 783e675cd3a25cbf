"""Login links and sessions of the console, with the configured lives; the viewer of a session or a
token, with the present role and access."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from msgspec import Struct

from gateway.people import Principal, Role, identity_of
from gateway.ports import Clock
from gateway.ports.memory import MemoryPort
from gateway.ports.rights import NOBODY, Proof
from gateway.stores.console_sessions import ConsoleSession, ConsoleSessionStore
from parley.config.sections import ConsoleSection
from parley.console.viewer import LOCAL_OPERATOR, Theme, Viewer
from parley.http.api.authentication import Authenticator
from parley.http.api.errors import CallRefused
from parley.security.tokens import TokenClaims

PREFIX: Final = "/console"
SIGN_IN: Final = "/sign-in"
_CSRF: Final = b"parley console csrf v1"
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class Sessions(Struct, frozen=True):
    """Makes links, signs in, finds sessions. `address` returns the address of the local listener.
    Every asynchronous method raises `StoreUnavailable`."""

    store: ConsoleSessionStore
    """The store of links and sessions."""
    rules: ConsoleSection
    """The configured lives."""
    clock: Clock
    """The clock of the program."""
    address: Callable[[], str]

    @property
    def longest(self) -> timedelta:
        """The longest life of a session."""
        return timedelta(days=self.rules.session_days)

    @property
    def page(self) -> str:
        """The address of the console."""
        return f"{(self.rules.url or self.address()).rstrip('/')}{PREFIX}/"

    async def link(self, tenant: str, person: str) -> str:
        """Return a link that signs one browser in as this person, once. Its secret is behind `#`,
        which browsers and link previews do not send."""
        now = self.clock.now()
        until = now + timedelta(minutes=self.rules.link_minutes)
        secret = await self.store.new_link(tenant, person, now, until)
        return f"{self.page.rstrip('/')}{SIGN_IN}#{secret}"

    async def sign_in(self, link: str, label: str, zone: str) -> tuple[str, ConsoleSession] | None:
        """Use the secret of a link; return the secret of a new session and the session, None for a
        link that does not work."""
        now = self.clock.now()
        return await self.store.sign_in(link, label, zone, now, now + self.longest)

    async def find(self, secret: str) -> ConsoleSession | None:
        """Return the valid session with this secret."""
        if not secret:
            return None
        now = self.clock.now()
        return await self.store.find(secret, now, self._idle_since(now))

    async def of_person(self, tenant: str, person: str) -> Sequence[ConsoleSession]:
        """Return the valid sessions of a person, the last used first."""
        now = self.clock.now()
        return await self.store.of_person(tenant, person, now, self._idle_since(now))

    def _idle_since(self, now: datetime) -> datetime:
        return now - timedelta(hours=self.rules.idle_hours)


def csrf_of(secret: str) -> str:
    """Return the token that the forms of a session carry: it reveals nothing of the secret."""
    return hmac.new(secret.encode(), _CSRF, hashlib.sha256).hexdigest()


class Viewers(Struct, frozen=True):
    """Finds viewers. Roles and access lists are looked up at each request, as in a chat."""

    authenticator: Authenticator
    """Looks a person's present role and access up."""
    memory: MemoryPort
    """Knows the linked identities."""
    sessions: Sessions
    """Ends the session of a person who is not served any more."""
    rules: ConsoleSection
    """The section `console`."""

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
