"""The viewer's own account: who they are here, and their sessions."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import (
    BadInput,
    NotFound,
)
from gateway.languages.formats import names_of
from gateway.languages.negotiation import MAX_TAG
from gateway.people import Role
from gateway.ports.action import Input, Output
from gateway.ports.rights import in_person, to_read
from gateway.text import text
from parley.console.route import AnyRoute, ConsoleRoute, Done, ItemParams
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

PATH: Final = "/account"
MAX_LANGUAGES: Final = 200
NO_LANGUAGE: Final = text("This language is not offered. Choose one of the list.")
NO_SESSION: Final = text("You have no session with this id. The page lists yours.")


class AccountQuery(Input):
    """The account has no parameters."""


class ThemeForm(Input):
    """The theme; empty for that of the system."""

    theme: Literal["", "light", "dark"]


class ZoneForm(Input):
    """The time zone, such as Europe/Berlin; empty for UTC."""

    zone: Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_+/-]*$")]


class LanguageForm(Input):
    """The name of an offered language, such as "de"; empty for that of the browser."""

    language: Annotated[str, StringConstraints(max_length=MAX_TAG)]


class OfferedLanguageOut(Output):
    """A language that can be chosen, with its name in itself."""

    code: str
    name: str


class BrowserSessionOut(Output):
    """A session. `label` is the browser as it names itself."""

    id: str
    """The id with which the session is ended."""
    label: str
    current: bool
    """True for the session of this request."""
    made_at: datetime
    """The time of the sign-in."""
    seen_at: datetime
    """The time of its latest use."""
    until: datetime
    """The time at which it ends at the latest."""


class AccountOut(Output):
    """The viewer: the role, all linked identities, the sessions."""

    role: str
    tenant: str
    """The tenant of the viewer."""
    persons: tuple[str, ...]
    """The ids of all linked identities."""
    zone: str
    """The chosen time zone; empty for UTC."""
    language: str
    """The language that the viewer chose; empty without a choice."""
    languages: tuple[OfferedLanguageOut, ...] = Field(max_length=MAX_LANGUAGES)
    """The languages that can be chosen."""
    sessions: tuple[BrowserSessionOut, ...] = Field(max_length=100)


async def account(viewer: Viewer, services: ConsoleServices, _params: AccountQuery) -> AccountOut:
    """Return the viewer's account."""
    sessions = await services.sessions.of_person(viewer.tenant, viewer.person)
    gateway = services.gateway
    known = await gateway.readers.known(viewer.tenant, viewer.person)
    offered = gateway.policies.languages.offered[:MAX_LANGUAGES]
    return AccountOut(
        role=viewer.role.value,
        tenant=viewer.tenant,
        persons=tuple(sorted(viewer.persons)),
        zone=viewer.zone,
        language=known.chosen,
        languages=tuple(OfferedLanguageOut(code=one, name=names_of(one)[0]) for one in offered),
        sessions=tuple(
            BrowserSessionOut(
                id=one.id,
                label=one.label,
                current=one.id == viewer.session,
                made_at=one.made_at,
                seen_at=one.seen_at,
                until=one.until,
            )
            for one in sessions
        ),
    )


async def choose_theme(viewer: Viewer, services: ConsoleServices, params: ThemeForm) -> Done:
    """Store the theme of the session."""
    await services.sessions.store.choose(viewer.session, viewer.zone, params.theme)
    return Done()


async def choose_zone(viewer: Viewer, services: ConsoleServices, params: ZoneForm) -> Done:
    """Store the time zone of the session."""
    await services.sessions.store.choose(viewer.session, params.zone, viewer.theme)
    return Done()


async def choose_language(viewer: Viewer, services: ConsoleServices, params: LanguageForm) -> Done:
    """Store the language in which the assistant's sentences and this console are shown to the
    viewer, as `/language` does. Raises `BadInput` for one that is not offered."""
    gateway = services.gateway
    if params.language and params.language not in gateway.policies.languages.offered:
        raise BadInput(NO_LANGUAGE, where="body.language")
    await gateway.readers.choose(viewer.tenant, viewer.person, params.language)
    return Done()


async def end_session(viewer: Viewer, services: ConsoleServices, params: ItemParams) -> Done:
    """End one of the viewer's sessions. Raises `NotFound`."""
    if not await services.sessions.store.end(viewer.tenant, viewer.person, params.id):
        raise NotFound(NO_SESSION)
    await services.audit.console("session_ended", viewer.tenant, viewer.person, session=params.id)
    return Done()


async def end_others(viewer: Viewer, services: ConsoleServices, _params: AccountQuery) -> Done:
    """End the viewer's other sessions, and drop unused login links."""
    ended = await services.sessions.store.end_all(viewer.tenant, viewer.person, viewer.session)
    await services.audit.console("sessions_ended", viewer.tenant, viewer.person, number=ended)
    return Done()


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="account",
        method="GET",
        path=PATH,
        allowed=to_read(Role.GUEST),
        summary=text("Your role, linked accounts and sessions"),
        run=account,
        template="account.html",
        menu=text("Account"),
    ),
    ConsoleRoute(
        name="choose_theme",
        method="POST",
        path=f"{PATH}/theme",
        allowed=in_person(Role.GUEST),
        summary="Choose the theme of this session",
        run=choose_theme,
        done=text("The theme is changed."),
        then=PATH,
        example={"theme": "dark"},
    ),
    ConsoleRoute(
        name="choose_zone",
        method="POST",
        path=f"{PATH}/zone",
        allowed=in_person(Role.GUEST),
        summary="Choose the time zone of this session",
        run=choose_zone,
        done=text("The time zone is changed."),
        then=PATH,
        example={"zone": "Europe/Berlin"},
    ),
    ConsoleRoute(
        name="choose_language",
        method="POST",
        path=f"{PATH}/language",
        allowed=in_person(Role.GUEST),
        summary="Choose your language, for this console and for the chats",
        run=choose_language,
        done=text("The language is changed."),
        then=PATH,
        example={"language": "de"},
    ),
    ConsoleRoute(
        name="end_session",
        method="POST",
        path=f"{PATH}/sessions/{{id}}/end",
        allowed=in_person(Role.GUEST),
        summary="End one of your sessions",
        run=end_session,
        done=text("The session is ended."),
        then=PATH,
        example={"id": "0123456789abcdef"},
    ),
    ConsoleRoute(
        name="end_other_sessions",
        method="POST",
        path=f"{PATH}/end-other-sessions",
        allowed=in_person(Role.GUEST),
        summary="End all your other sessions",
        run=end_others,
        done=text("All other sessions are ended."),
        then=PATH,
    ),
)
