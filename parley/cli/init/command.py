"""`parley init`: asks for a working configuration, writes it, and starts the assistant."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from db.errors import StoreUnavailable
from gateway.errors import UsageError
from gateway.people import DEFAULT_TENANT, PersonId, identity_of
from gateway.platforms import discover
from gateway.policy.pairing_codes import OWNER_CODE_VALID
from gateway.ports.admissions import OwnerCode
from gateway.ports.clock import SystemClock
from parley.cli.chosen_configuration import DEFAULT_CONFIG, base_folder, own_configuration
from parley.cli.init import model, options, people, platforms
from parley.cli.init.files import Answers, assigned, read
from parley.cli.init.guide import guidance_for
from parley.cli.init.session import Given, InitSession, complain
from parley.cli.init.terminal import Stopped, Terminal
from parley.cli.stores import in_folder
from parley.config import Settings, SettingsError, load
from parley.config.settings import settings_model
from parley.wiring.access import AccessControl, wire_access
from parley.wiring.libraries import missing_libraries

if TYPE_CHECKING:
    from parley.app import App

MAX_SECRETS: Final = 64 * 1024
"""Bytes of the secrets on standard input."""
NO_TERMINAL: Final = (
    "The questions need a terminal. Without one, use --yes with options: parley init --help lists"
    " them."
)
LOOK_SECONDS: Final = 1.0
SHOWN_OWNERS: Final = 5
MINUTES: Final = round(OWNER_CODE_VALID.total_seconds() / 60)
INTERRUPTED: Final = 130


def init(
    config: options.Config = None,
    platform: options.Platforms = None,
    provider: options.Provider = "",
    model_name: options.ModelName = "",
    base_url: options.BaseUrl = "",
    who: options.Who = "",
    budget: options.Budget = "",
    memory: options.MemoryOn = None,
    name: options.AssistantName = "",
    persona: options.Persona = None,
    assign: options.Assigned = None,
    yes: options.Yes = False,
    secrets_stdin: options.SecretsStdin = False,
    fresh: options.Fresh = False,
    check: options.Check = True,
    run_now: options.RunNow = None,
) -> int:
    """Ask the questions, check the credentials, write the files, and start the assistant. Returns
    1 when a service refused something, or when a part does not work."""
    given = Given(
        tuple(platform or ()), provider, model_name, base_url, who, budget, memory, name, persona,
        yes, check, run_now,
    )  # fmt: skip
    env = {**os.environ, **_secrets_from_stdin(secrets_stdin, yes=yes)}
    discovery = discover()
    path = config or own_configuration(None) or DEFAULT_CONFIG
    answers = Answers() if fresh else read(path)
    answers.merge(assigned(assign or (), settings_model(discovery.manifests)))
    session = InitSession(Terminal(), path, given, env, discovery, answers)
    try:
        return _run(session)
    except (Stopped, KeyboardInterrupt) as stopped:
        return _say_stopped(session, stopped)


def _secrets_from_stdin(enabled: bool, *, yes: bool) -> Mapping[str, str]:
    if not enabled:
        return {}
    if not yes:
        raise UsageError("--secrets-stdin needs --yes: the questions are asked on the same input.")
    from dotenv import dotenv_values  # noqa: PLC0415 - for this option only

    text = sys.stdin.read(MAX_SECRETS + 1)
    if len(text) > MAX_SECRETS:
        raise UsageError(f"The secrets on standard input have more than {MAX_SECRETS} characters.")
    from io import StringIO  # noqa: PLC0415 - as above

    values = dotenv_values(stream=StringIO(text), interpolate=False)
    return {key: value for key, value in values.items() if value}


def _run(session: InitSession) -> int:
    _welcome(session)
    platforms.drop_unset_credentials(session)
    _check_existing(session)
    session.answers.section("access").setdefault("admission", "approved")  # also when stopped early
    session.open[:] = [
        model.TITLE,
        people.WHO,
        people.BUDGET,
        people.MEMORY,
        people.ASSISTANT,
    ]
    platforms.ask_for_platforms(session)
    if session.given.yes and session.off:
        session.say("No file is written.")
        return 1
    model.ask_for_model(session)
    people.ask_who(session)
    people.ask_for_budget(session)
    people.ask_for_memory(session)
    people.ask_for_assistant(session)
    session.save(final=True)
    _say_written(session)
    return _finish(session)


def _check_existing(session: InitSession) -> None:
    """Raises `SettingsError` for values that no question replaces, before any question."""
    try:
        session.validated()
    except SettingsError as error:
        if session.config.exists():
            complain(
                f"Correct {session.config} first, or begin without its values with --fresh: a copy"
                " of the file is kept."
            )
        raise error from None


def _welcome(session: InitSession) -> None:
    if session.given.yes:
        return
    exists = session.config.exists()
    starts = " Then it starts the assistant." if starts_unasked(session) else ""
    session.say(f"Parley asks six questions.{starts} Enter takes the answer in [brackets], Ctrl-C"
                " stops.")  # fmt: skip
    if exists:
        session.say(f"{session.config} exists. Its values are the answers in brackets, and a copy"
                    " of the file is kept.")  # fmt: skip
    session.say()


def _say_written(session: InitSession) -> None:
    session.say()
    for path in session.written:
        note = " (readable by you alone)" if path == session.env_file else ""
        session.say(f"Written: {path}{note}")
    if session.copy is not None:
        session.say(f"The previous file is kept as {session.copy}.")
    if session.left_to_do:
        session.say("Still to do:")
        for item in dict.fromkeys(session.left_to_do):
            session.say(f"- {item}", 2, hang=2)


def _finish(session: InitSession) -> int:
    """Start now, or say how."""
    option = session.option
    status = 1 if session.broken else 0
    starts = session.given.start
    if starts is None:
        starts = not session.given.yes and may_start(session)
        if starts and not starts_unasked(session):
            session.say()
            starts = session.terminal.yes("Start now?", default=True)
    if starts:
        return start(session) or status
    session.say()
    session.say(f"Next: `parley run{option}` starts the assistant, `parley doctor{option}` checks"
                " everything.")  # fmt: skip
    text = f"To become the owner, run `parley access owner-code{option}`, and send the printed code"
    session.say(f"{text} to the assistant in a direct message.")
    session.say(f"While it runs, `parley console link --operator{option}` prints a link to the"
                " console, which shows what it does and changes its configuration.")  # fmt: skip
    return status


def _say_stopped(session: InitSession, stopped: BaseException) -> int:
    """Say what is kept and what is open; the exit status."""
    interrupted = isinstance(stopped, KeyboardInterrupt) or (
        isinstance(stopped, Stopped) and stopped.interrupted
    )
    if not interrupted and not sys.stdin.isatty() and not session.done:
        complain(NO_TERMINAL)
    reason = str(stopped)
    complain(f"{reason} Stopped." if reason else "\nStopped.")
    if session.written:
        files = " and ".join(str(path) for path in session.written)
        complain(f"Kept in {files}: {', '.join(session.done)}.")
        if session.copy is not None:
            complain(f"The previous file is kept as {session.copy}.")
        if session.open:
            complain(f"Not asked yet: {', '.join(session.open)}. `parley init` continues.")
    else:
        complain("Nothing was written.")
    return INTERRUPTED if interrupted else 1


def may_start(session: InitSession) -> bool:
    """True when a start would succeed; otherwise the reason is printed."""
    settings = session.validated()
    if not settings.accounts():
        session.say("No platform is set up, so there is nothing to start.")
        return False
    problems = missing_libraries(settings)
    for problem in problems:
        session.say(f"Before the start: {problem}")
    return not problems


def starts_unasked(session: InitSession) -> bool:
    """True where `parley init` starts the assistant without a question: at a terminal, after a
    first configuration in which nothing is broken."""
    changes = session.copy is not None or (session.config.exists() and not session.written)
    return session.given.start is None and sys.stdin.isatty() and not changes and not session.broken


def start(session: InitSession) -> int:
    """Run until Ctrl-C; returns the exit status. Raises a `ParleyError` when it cannot start."""
    if not may_start(session):
        return 1
    from parley.cli import serve  # noqa: PLC0415 - loads the whole program

    env = {name: text for name, text in os.environ.items() if name not in session.secrets}
    loaded = load(session.config, env, session.platforms)
    settings = in_folder(loaded, base_folder(session.config))
    session.say()
    session.say("Starting ...")
    return serve.run(
        settings, beside=partial(welcome_owner, session), shows_owner_code=True, quiet=True
    )


async def welcome_owner(session: InitSession, app: "App") -> None:
    """Show an owner code, unless there is an owner already, and say who used it."""
    settings = app.settings
    access = wire_access(settings, app.storage, SystemClock())
    try:
        owners = [*settings.access.owners, *(p for _, p in await access.pairing.store.owners())]
        if owners:
            named = await _named(app, owners[:SHOWN_OWNERS])
            session.say(f"Owners: {', '.join(named)}. Ctrl-C ends the program.")
            await _show_console(session, app)
            return
        code = await access.owner_codes.create()
        pages = app.page_links() if sys.stdout.isatty() else app.page_addresses()
        _show(session, settings, code, pages)
        await _show_console(session, app)
        person = await _claimed(access, code)
        (owner,) = await _named(app, [str(person)]) if person else [""]
    except StoreUnavailable as error:
        session.say(f"{error}. {_later(session)}")
        return
    if person is None:
        session.say(f"Nobody used the code, and it has expired. {_later(session)}")
        return
    name = settings.assistant.name
    session.say()
    session.say(f"The setup is complete. {owner} is the owner.")
    session.say(f"Next: write a question to {name}. Ctrl-C ends the program, and"
                f" `parley run{session.option}` starts it again.")  # fmt: skip


async def _named(app: "App", owners: Sequence[str]) -> list[str]:
    """The owners by name, with the id that decides behind it; by the id alone where no name is
    known. Raises `StoreUnavailable`."""
    names = await app.storage.people_names.of(DEFAULT_TENANT, owners)
    return [f"{names[one]} ({one})" if one in names else one for one in owners]


def _later(session: InitSession) -> str:
    return f"`parley access owner-code{session.option}` prints a new code."


def _show(session: InitSession, settings: Settings, code: OwnerCode, pages: Sequence[str]) -> None:
    session.say()
    session.say("To become the owner, send this code to the assistant:")
    session.say()
    session.say(code.code, 4)
    session.say()
    for name in dict.fromkeys(account.platform for account in settings.accounts()):
        manifest = session.platforms.manifests[name]
        where = guidance_for(manifest).write_to or " ".join(pages)
        session.say(f"- {manifest.title}: {where}", 2, hang=2)
    session.say("The first person who sends the code becomes the owner. The code is valid for"
                f" {MINUTES} minutes.")  # fmt: skip


async def _show_console(session: InitSession, app: "App") -> None:
    """Show a link to the console on a terminal; elsewhere, where others may read it, its address.
    Raises `StoreUnavailable`."""
    if not app.console_address:
        return
    minutes, shows_link = app.settings.console.link_minutes, sys.stdout.isatty()
    session.say()
    session.say("The console shows what the assistant does, and changes its configuration:")
    session.say(await app.console_link() if shows_link else app.console_address, 4)
    command = f"`parley console link --operator{session.option}`"
    if not shows_link:
        session.say(f"{command} prints a link that signs one browser in as an owner.")
        return
    again = f"{command} prints another one."
    session.say(
        f"The link signs one browser in as an owner, once, within {minutes} minutes. {again}"
    )


async def _claimed(access: AccessControl, code: OwnerCode) -> PersonId | None:
    """The person who used the code; None when it can no longer be used. Raises
    `StoreUnavailable`."""
    person = await access.owner_codes.claimed_by(code)
    while person == "":  # at most until the code expires
        await asyncio.sleep(LOOK_SECONDS)
        person = await access.owner_codes.claimed_by(code)
    return identity_of(person) if person else None
