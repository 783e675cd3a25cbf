"""The viewer's accounts on several platforms: which are linked, and the steps to link and separate
them, as `/link` runs them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from gateway.errors import BadInput
from gateway.message import Notice
from gateway.people import Role, identity_of
from gateway.ports.action import Input, Output
from gateway.ports.memory import Caller
from gateway.ports.rights import in_person, to_read
from gateway.text import (
    NO_TEXT,
    Text,
    text,
)
from gateway.turn.services import notice_sender
from memory.commands.link import REFUSALS, LinkCommands
from memory.ports.people import Linked, LinkRequest, LinkSide
from memory.service.links import LINK_VALID, Links
from parley.console.route import AnyRoute, ConsoleRoute
from parley.console.said import Said
from parley.console.services import MEMORY_OFF, ConsoleServices
from parley.console.viewer import LOCAL_OPERATOR, Viewer
from parley.console.views.memory.documents import PATH
from parley.http.api.errors import CallRefused

ACCOUNTS: Final = f"{PATH}/accounts"
TEMPLATE: Final = "memory/accounts.html"
MAX_LINKED: Final = 10
NO_ACCOUNT: Final = text(
    "You are signed in from the command line, without an account of a chat platform. Write "
    "`/console` to the assistant to sign in with yours."
)
OPEN_REQUEST: Final = text("Another link is waiting to be confirmed. Confirm or cancel it first.")
ENTERED: Final = text("The code is correct. Look at the other account, then confirm.")
AGREED: Final = text("You have confirmed. The other account is asked now.")
LINKED: Final = text("The accounts are linked.")
CANCELLED: Final = text("Nothing new is linked. The code is no longer valid.")
SEPARATED: Final = text("This account is separated. Each account keeps what was remembered for it.")


class AccountsQuery(Input):
    """The page and its actions have no parameters."""


class EnterForm(Input):
    """The code that the assistant gave to the other account."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=40)]


class RequestForm(Input):
    """The id of the open request."""

    request: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{1,32}$")]


class IdentityOut(Output):
    """An account of a platform."""

    person: str
    platform: str
    account: str
    id: str
    name: str
    since: datetime | None = None


class RequestOut(Output):
    """A link that is not complete. `other` is the other account, `group` are those it is linked
    with; `asks`: the viewer's confirmation is needed now."""

    id: str
    other: IdentityOut
    group: tuple[IdentityOut, ...] = Field(max_length=MAX_LINKED)
    asks: bool
    until: datetime


class LinksOut(Output):
    """The viewer's account, the linked ones, the open request. `code` is a new code, valid until
    `until`; `said` is the outcome of an action."""

    person: str
    linked: tuple[IdentityOut, ...] = Field(max_length=MAX_LINKED)
    request: RequestOut | None
    code: str = ""
    until: datetime | None = None
    said: Said = NO_TEXT


async def accounts(viewer: Viewer, services: ConsoleServices, _params: AccountsQuery) -> LinksOut:
    """Return the linked accounts and the open request."""
    return await _shown(viewer, services, services.caller_of(viewer))


async def make_code(viewer: Viewer, services: ConsoleServices, _params: AccountsQuery) -> LinksOut:
    """Make a code, to be entered from the other account. Raises `BadInput` while a request is
    open."""
    caller = await _person(viewer, services)
    if await _links(services).active(caller) is not None:
        raise BadInput(OPEN_REQUEST)
    code = await _links(services).offer(caller)
    page = await _shown(viewer, services, caller)
    return page.model_copy(update={"code": code, "until": caller.at + LINK_VALID})


async def enter_code(viewer: Viewer, services: ConsoleServices, params: EnterForm) -> LinksOut:
    """Enter a code, which links nothing yet. Raises `BadInput` for a wrong one."""
    caller = await _person(viewer, services)
    step = await _links(services).redeem(caller, params.code.strip())
    if step.outcome in REFUSALS:
        raise BadInput(REFUSALS[step.outcome])
    return await _shown(viewer, services, caller, ENTERED)


async def confirm(viewer: Viewer, services: ConsoleServices, params: RequestForm) -> LinksOut:
    """Confirm a link. The last confirmation links the accounts. Raises `BadInput`."""
    caller = await _person(viewer, services)
    before = len(await _links(services).linked(viewer.tenant, viewer.person))
    await _run(services, caller, f"confirm {params.request}")
    page = await _shown(viewer, services, caller)
    said = LINKED if len(page.linked) > before else AGREED if page.request else NO_TEXT
    return page.model_copy(update={"said": said})


async def cancel(viewer: Viewer, services: ConsoleServices, params: RequestForm) -> LinksOut:
    """Refuse a link. Raises `BadInput` if none is open."""
    caller = await services.caller_at_home(viewer)
    await _run(services, caller, f"cancel {params.request}")
    return await _shown(viewer, services, caller, CANCELLED)


async def unlink(viewer: Viewer, services: ConsoleServices, _params: AccountsQuery) -> LinksOut:
    """Separate the viewer's account from the others."""
    caller = await services.caller_at_home(viewer)
    await _run(services, caller, "off")
    return await _shown(viewer, services, caller, SEPARATED)


async def deliver(services: ConsoleServices, group: str, notices: Sequence[Notice]) -> None:
    """Send notices to the direct conversations of other accounts."""
    gateway = services.gateway
    await notice_sender(gateway).send(group, notices)


def check_account(viewer: Viewer) -> None:
    """Raise `CallRefused` (409) for whoever signed in from the command line, without an account."""
    if viewer.principal.person == LOCAL_OPERATOR:
        raise CallRefused("no_account", NO_ACCOUNT)


async def _person(viewer: Viewer, services: ConsoleServices) -> Caller:
    check_account(viewer)
    return await services.caller_at_home(viewer)


async def _run(services: ConsoleServices, caller: Caller, text: str) -> None:
    await services.check_sending()
    reply = await LinkCommands(_links(services), services.gateway.clock).run(caller, text)
    await deliver(services, caller.id, reply.notices)


def _links(services: ConsoleServices) -> Links:
    links = services.memory.links
    if links is None:
        raise CallRefused("memory_off", MEMORY_OFF)
    return links


async def _shown(
    viewer: Viewer, services: ConsoleServices, caller: Caller, said: Text = NO_TEXT
) -> LinksOut:
    links = _links(services)
    linked = await links.linked(viewer.tenant, viewer.person)
    request = await links.active(caller)
    return LinksOut(
        person=viewer.person,
        linked=tuple(map(_linked, linked[:MAX_LINKED])),
        request=None if request is None else await _request(viewer, links, request),
        said=said,
    )


async def _request(viewer: Viewer, links: Links, request: LinkRequest) -> RequestOut | None:
    other = request.opposite(viewer.person)
    if other is None:
        return None
    group = await links.linked(request.tenant, other.person)
    is_maker = viewer.person == request.maker.person
    return RequestOut(
        id=request.id,
        other=_identity(other),
        group=tuple(_linked(one) for one in group if one.side.person != viewer.person)[:MAX_LINKED],
        asks=is_maker == (request.state == "confirmed"),
        until=request.until,
    )


def _linked(one: Linked) -> IdentityOut:
    return _identity(one.side, one.since)


def _identity(side: LinkSide, since: datetime | None = None) -> IdentityOut:
    person = identity_of(side.person)
    return IdentityOut(
        person=side.person,
        platform=person.platform,
        account=person.account,
        id=person.id,
        name=side.name,
        since=since,
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="linked_accounts",
        method="GET",
        path=ACCOUNTS,
        allowed=to_read(Role.GUEST),
        summary=text("Your linked accounts"),
        run=accounts,
        template=TEMPLATE,
        palette=text("Linked accounts"),
    ),
    ConsoleRoute(
        name="make_link_code",
        method="POST",
        path=f"{ACCOUNTS}/code",
        allowed=in_person(Role.GUEST),
        summary="Make a code that links another account, on the page only",
        run=make_code,
        template=TEMPLATE,
    ),
    ConsoleRoute(
        name="enter_link_code",
        method="POST",
        path=f"{ACCOUNTS}/enter",
        allowed=in_person(Role.GUEST),
        summary="Enter the code of another account, on the page only",
        run=enter_code,
        template=TEMPLATE,
        example={"code": "0000-0000-0000"},
    ),
    ConsoleRoute(
        name="confirm_link",
        method="POST",
        path=f"{ACCOUNTS}/confirm",
        allowed=in_person(Role.GUEST),
        summary="Confirm a link, on the page only",
        run=confirm,
        template=TEMPLATE,
        example={"request": "00000000"},
    ),
    ConsoleRoute(
        name="cancel_link",
        method="POST",
        path=f"{ACCOUNTS}/cancel",
        allowed=in_person(Role.GUEST),
        summary="Refuse a link",
        run=cancel,
        template=TEMPLATE,
        example={"request": "00000000"},
    ),
    ConsoleRoute(
        name="unlink",
        method="POST",
        path=f"{ACCOUNTS}/unlink",
        allowed=in_person(Role.GUEST),
        summary="Separate your account from the linked ones",
        run=unlink,
        template=TEMPLATE,
    ),
)
