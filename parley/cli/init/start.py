"""The end of `parley init`: starts the assistant in the same terminal, and waits for its owner."""

import asyncio
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from db.errors import StoreUnavailable
from gateway.people import PersonId, identity_of
from gateway.policy.pairing_codes import OWNER_CODE_VALID
from gateway.ports.admissions import OwnerCode
from gateway.ports.clock import SystemClock
from parley.cli.init.guide import guidance_for
from parley.cli.init.session import Session
from parley.config import Settings, load
from parley.wiring.access import Access, wire_access
from parley.wiring.libraries import missing_libraries

if TYPE_CHECKING:
    from parley.app import App

LOOK_SECONDS: Final = 1.0
MINUTES: Final = round(OWNER_CODE_VALID.total_seconds() / 60)


def may_start(session: Session) -> bool:
    """True when a start would succeed; otherwise the reason is printed."""
    settings = session.validated()
    if not settings.accounts():
        session.say("No platform is set up, so there is nothing to start.")
        return False
    problems = missing_libraries(settings)
    for problem in problems:
        session.say(f"Before the start: {problem}")
    return not problems


def starts_unasked(session: Session) -> bool:
    """True where `parley init` starts the assistant without a question: at a terminal, after a
    first configuration in which nothing is broken."""
    changes = session.copy is not None or (session.config.exists() and not session.written)
    return session.given.start is None and sys.stdin.isatty() and not changes and not session.broken


def start(session: Session) -> int:
    """Run until Ctrl-C; returns the exit status. Raises a `ParleyError` when it cannot start."""
    if not may_start(session):
        return 1
    from parley.cli import serve  # noqa: PLC0415 - loads the whole program

    env = {name: text for name, text in os.environ.items() if name not in session.secrets}
    settings = load(session.config, env, session.platforms)
    session.say()
    session.say("Starting ...")
    return serve.run(settings, beside=partial(welcome_owner, session), quiet=True)


async def welcome_owner(session: Session, app: "App") -> None:
    """Show an owner code, unless there is an owner already, and say who used it."""
    settings = app.settings
    access = wire_access(settings, app.storage, SystemClock())
    try:
        owners = [*settings.access.owners, *(p for _, p in await access.pairing.store.owners())]
        if owners:
            session.say(f"Owners: {', '.join(owners[:5])}. Ctrl-C ends the program.")
            return
        code = await access.owner_codes.create()
        _show(session, settings, code, app.pages())
        person = await _claimed(access, code)
    except StoreUnavailable as error:
        session.say(f"{error}. {_later(session)}")
        return
    if person is None:
        session.say(f"Nobody used the code, and it has expired. {_later(session)}")
        return
    name = settings.assistant.name
    session.say()
    session.say(f"The setup is complete. {person} is the owner.")
    session.say(f"Next: write a question to {name}. Ctrl-C ends the program, and"
                f" `parley run{session.option}` starts it again.")  # fmt: skip


def _later(session: Session) -> str:
    return f"`parley access owner-code{session.option}` prints a new code."


def _show(session: Session, settings: Settings, code: OwnerCode, pages: Sequence[str]) -> None:
    session.say()
    session.say("To become the owner, send a message that contains only this code:")
    session.say()
    session.say(code.code, 4)
    session.say()
    for name in dict.fromkeys(account.platform for account in settings.accounts()):
        manifest = session.platforms.manifests[name]
        where = guidance_for(manifest).write_to or " ".join(pages)
        session.say(f"- {manifest.title}: {where}", 2, hang=2)
    session.say("The first person who sends the code becomes the owner. The code is valid for"
                f" {MINUTES} minutes.")  # fmt: skip


async def _claimed(access: Access, code: OwnerCode) -> PersonId | None:
    """The person who used the code; None when it can no longer be used. Raises
    `StoreUnavailable`."""
    person = await access.owner_codes.claimed_by(code)
    while person == "":  # at most until the code expires
        await asyncio.sleep(LOOK_SECONDS)
        person = await access.owner_codes.claimed_by(code)
    return identity_of(person) if person else None
