"""`parley outbox list | resend | drop`: answers, and questions, that were given up."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Final

import typer

from gateway.ports.queues import DeadLetter, Outbox
from gateway.ports.traces import Trace
from parley.cli.options import Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import print_lines, printable, second_of
from parley.wiring.storage import Storage

MAX_AT_ONCE: Final = 10_000
"""Dead letters that `--all` takes."""

Keys = Annotated[list[str] | None, typer.Argument(help="Keys as `parley outbox list` shows them.")]
All = Annotated[bool, typer.Option("--all", help="All answers that could not be delivered.")]


def show(
    config: Config = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Number of entries.")] = 50,
) -> int:
    """Print the latest dead letters, newest first, then the questions that were given up."""

    async def job(storage: Storage) -> list[str]:
        letters = [describe(letter) for letter in await storage.hot.outbox.dead_letters(limit)]
        traces = await storage.stores.traces.given_up(limit)
        return letters + [describe_question(trace) for trace in traces]

    lines = with_storage(settings_with_database(config, hot=True), job)
    print_lines(lines or ["Every answer was delivered."])
    return 0


def resend(keys: Keys = None, config: Config = None, every: All = False) -> int:
    """Queue dead letters again; 1 when one of the named keys is unknown."""
    return _change(keys, config, every, lambda outbox, named: outbox.requeue(named), "queued again")


def drop(keys: Keys = None, config: Config = None, every: All = False) -> int:
    """Delete dead letters; 1 when one of the named keys is unknown."""
    return _change(keys, config, every, lambda outbox, named: outbox.drop(named), "deleted")


def describe(letter: DeadLetter) -> str:
    """One dead letter as an operator reads it, without its text."""
    outbound = letter.entry.outbound
    place = outbound.place
    account = "" if place.account == "main" else f"/{place.account}"
    thread = f" thread {place.thread_id}" if place.thread_id else ""
    at = second_of(letter.at)
    return (
        f"{outbound.key}  {at}  {place.platform}{account} {place.channel_id}{thread}"
        f"  {letter.entry.attempts} failed tries\n    {printable(letter.reason)}"
    )


def describe_question(trace: Trace) -> str:
    """A question at which one process after the other died, as an operator reads it."""
    account = "" if trace.account == "main" else f"/{trace.account}"
    named = f"{trace.platform}{account} {trace.kind} {printable(trace.message_id)}"
    return (
        f"question  {second_of(trace.at)}  {named}\n"
        f"    never answered: the program crashed at each attempt (turn {trace.id})"
    )


def _change(
    keys: Sequence[str] | None,
    config: Config,
    every: bool,
    change: Callable[[Outbox, Sequence[str]], Awaitable[int]],
    result: str,
) -> int:
    if bool(keys) == every:
        raise typer.BadParameter("name the keys to change, or use --all", param_hint="KEY")

    async def job(storage: Storage) -> tuple[int, int]:
        outbox = storage.hot.outbox
        if every:
            letters = await outbox.dead_letters(MAX_AT_ONCE)
            chosen = [letter.entry.outbound.key for letter in reversed(letters)]
        else:
            chosen = list(dict.fromkeys(keys or ()))
        return len(chosen), await change(outbox, chosen)

    named, changed = with_storage(settings_with_database(config, hot=True), job)
    sys.stdout.write(f"{changed} {result}.\n")
    if changed < named:
        missing = named - changed
        which = (
            "1 key is not a dead letter" if missing == 1 else f"{missing} keys are not dead letters"
        )
        sys.stderr.write(f"{which}. `parley outbox list` shows the dead letters.\n")
    return int(changed < named)
