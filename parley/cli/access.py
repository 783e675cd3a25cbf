"""`parley access`: who may write, and the code of the owner. Works beside a running program."""

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeVar

import typer

from gateway.errors import UsageError
from gateway.pairing.admissions import COMMAND_LINE
from gateway.pairing.requests import WRONG_CODE, match
from gateway.people import Role, identity_of
from gateway.ports.admissions import Admission, Applicant, OwnerCode, PairingRequest
from gateway.ports.clock import SystemClock
from parley.cli.known_people import resolve_person
from parley.cli.options import Config
from parley.cli.stores import read_settings, settings_with_database, with_storage
from parley.cli.terminal import print_lines, printable
from parley.config.sections import MEMORY
from parley.wiring.access import AccessControl, wire_access
from parley.wiring.extensions import load_extensions
from parley.wiring.storage import Storage

MAX_LISTED: Final = 1_000
IN_MEMORY: Final = (
    "The database is in the memory of the running program, so this command cannot store a code in "
    "it. Set database.url to a file, or add your id to access.owners."
)
NOT_APPROVED_MODE: Final = (
    "note: access.admission is `{admission}`, so approvals have no effect. Set it to `approved` "
    "and restart Parley."
)
Code = Annotated[str, typer.Argument(help="The code that the person tells you, or an id.")]
Who = Annotated[
    str, typer.Argument(metavar="PERSON", help="PLATFORM:ACCOUNT:ID, as the list shows it.")
]
T = TypeVar("T")


def show(config: Config = None) -> int:
    """Print the people who wait, the approved people, and the owners by code."""

    async def job(access: AccessControl) -> tuple[list[PairingRequest], list[Admission]]:
        return await access.pairing.waiting(None), await access.pairing.store.admissions(MAX_LISTED)

    waiting, admissions = _with_access(config, job)
    lines = [*map(_waiting, waiting), *map(_admitted, admissions)]
    print_lines(lines or ["Nobody waits, and nobody is approved."])
    return 0


def approve(code: Code, config: Config = None) -> int:
    """Admit the person with this code; while Parley runs, they get a message within seconds."""
    return _decide(code, config, approves=True)


def reject(code: Code, config: Config = None) -> int:
    """Reject the person with this code; they get no new one for a day."""
    return _decide(code, config, approves=False)


def revoke(person: Who, config: Config = None) -> int:
    """Take back the approval or the ownership of a person and their linked accounts; 1 when there
    is none."""

    if person.count(":") < 2:
        raise UsageError(f"{person[:80]!r}: a person is PLATFORM:ACCOUNT:ID.")
    settings = settings_with_database(config)
    tenant = load_extensions(settings).tenant_of_person(identity_of(person))

    async def job(storage: Storage) -> list[Admission]:
        named = await resolve_person(identity_of(person), storage.stores.states)
        access = wire_access(settings, storage, SystemClock())
        return await access.pairing.revoke(tenant, str(named or person), COMMAND_LINE)

    gone = with_storage(settings, job)
    if not gone:
        sys.stderr.write(f"{printable(person)} has no approval; see `parley access list`.\n")
        return 1
    for admission in gone:
        state = "an owner" if admission.role is Role.OWNER else "approved"
        sys.stdout.write(f"{_person(admission.applicant)} is no longer {state}.\n")
    return 0


def owner_code(config: Config = None) -> int:
    """Print a new owner code; it replaces any other one. Creates the database if there is none
    yet."""
    settings = read_settings(config)
    if settings.database.url == MEMORY:
        raise UsageError(IN_MEMORY)

    async def job(storage: Storage) -> OwnerCode:
        return await wire_access(settings, storage, SystemClock()).owner_codes.create()

    made = with_storage(settings, job)
    sys.stdout.write(
        f"{made.code}\n\nSend this code to your assistant in a direct message, before "
        f"{made.until:%H:%M} UTC. The first person who sends it becomes an owner: show it to nobody"
        " else.\n"
    )
    return 0


def _decide(code: str, config: Config, *, approves: bool) -> int:
    async def job(access: AccessControl) -> PairingRequest | None:
        request = match(await access.pairing.waiting(None), code)
        if request is None:
            raise UsageError(
                WRONG_CODE.english.replace("`/approve` lists", "`parley access list` shows")
            )
        if approves:
            done = await access.pairing.approve(request, COMMAND_LINE) is not None
        else:
            done = await access.pairing.reject(request, COMMAND_LINE)
        return request if done else None

    request = _with_access(config, job)
    if request is None:
        sys.stderr.write("Somebody else decided first. Nothing was changed.\n")
        return 1
    result = "may write now" if approves else "was rejected"
    sys.stdout.write(f"{_person(request.applicant)} {result}.\n")
    return 0


def _with_access(config: Config, job: Callable[[AccessControl], Awaitable[T]]) -> T:
    settings = settings_with_database(config)
    admission = settings.access.admission
    if admission != "approved":
        sys.stderr.write(NOT_APPROVED_MODE.format(admission=admission) + "\n")
    return with_storage(
        settings, lambda storage: job(wire_access(settings, storage, SystemClock()))
    )


def _waiting(one: PairingRequest) -> str:
    return f"waits     {_person(one.applicant)}  until {one.until:%H:%M} UTC  id {one.id}"


def _admitted(one: Admission) -> str:
    state = "owner" if one.role is Role.OWNER else "may write"
    since = f"since {one.at:%Y-%m-%d %H:%M} UTC"
    return f"{state:<9} {_person(one.applicant)}  {since}  by {printable(one.by)}"


def _person(applicant: Applicant) -> str:
    """A person as an operator reads it; nobody has verified the name."""
    named = f' "{printable(applicant.name)}" (name not verified)' if applicant.name else ""
    return f"{printable(applicant.person)}{named}"
