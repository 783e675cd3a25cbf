"""`parley why`, `logs` and `context`: the decisions about a message, its log, and its prompt."""

import sys
from collections.abc import Iterator
from typing import Annotated, Final

import typer

from gateway.errors import UsageError
from gateway.people import PersonId
from gateway.policy.model_failures import step_of
from gateway.ports.prompt_blocks import LeftOut
from gateway.ports.traces import Trace
from gateway.stores.feedback import DOWN, UP, Thumbs
from gateway.turn.context.token_budgets import BlockFigures, BudgetFigures, figures_in, warnings
from gateway.turn.model_turn import Outcome
from parley.cli.known_people import resolve_person
from parley.cli.options import AsJson, Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import plain, print_lines, second_of, show
from parley.config import Settings
from parley.maintenance.message_log import (
    LogEntry,
    MessageLog,
    entries_of,
    lost_delivery,
    read_log,
    step_after,
)
from parley.security.tokens import person_of
from parley.wiring.extensions import load_extensions
from parley.wiring.storage import Storage

MessageId = Annotated[
    str | None,
    typer.Argument(
        metavar="[MESSAGE_ID]",
        help="The platform's id of the message, or the reference in an apology.",
    ),
]
Last = Annotated[bool, typer.Option("--last", help="The newest message instead of an id.")]
LastOfPerson = Annotated[
    str,
    typer.Option(
        "--person", metavar="PLATFORM:ACCOUNT:ID", help="With --last: the newest of this person."
    ),
]
LastInChat = Annotated[
    str,
    typer.Option(
        "--chat", metavar="PLATFORM:ACCOUNT:CHANNEL", help="With --last: the newest in this chat."
    ),
]
NO_TRACE: Final = (
    "Message {id} has no trace. Messages that are not addressed to the assistant have none. The id "
    "is that of the platform, or the reference in an apology. For refused messages, only the "
    "latest four of a person are stored, for one day."
)
MAX_CALLS: Final = 40
NO_ANSWER: Final[frozenset[Outcome]] = frozenset(
    {"unavailable", "refused", "too_long", "broken", "empty"}
)
"""Ends of a turn without an answer, for a reason that lies with the model."""
NOT_FAILED: Final = frozenset({"ok", "stopped"})
NO_LAST: Final = "No message was decided on yet."
NO_LAST_OF_PERSON: Final = (
    "No message of {person} has a trace. A trace names no person: a refusal in a room is found "
    "with --chat only. Messages that are not addressed to the assistant have no trace."
)
NO_LAST_IN_CHAT: Final = (
    "No message in {chat} has a trace. A chat is PLATFORM:ACCOUNT:CHANNEL, for example "
    "slack:main:C0123. Messages that are not addressed to the assistant have no trace."
)


def why(
    message_id: MessageId = None,
    last: Last = False,
    person: LastOfPerson = "",
    chat: LastInChat = "",
    config: Config = None,
) -> int:
    """Print every trace of the message; 1 when there is none."""
    check_choice(message_id, last, person, chat)
    settings = settings_with_database(config, hot=bool(person))

    async def job(storage: Storage) -> tuple[list[Trace], dict[str, Thumbs], dict[str, str]]:
        traces = await chosen_traces(storage, settings, message_id, person, chat)
        lost = {trace.id: await lost_delivery(storage, trace) for trace in traces}
        return traces, await storage.stores.feedback.of([trace.id for trace in traces]), lost

    traces, thumbs, lost = with_storage(settings, job)
    if not traces:
        sys.stderr.write(f"{nothing_found(message_id, person, chat)}\n")
        return 1
    texts = (describe(one, thumbs.get(one.id, Thumbs()), lost[one.id]) for one in traces)
    print_lines(["\n\n".join(texts)])
    return 0


def logs(
    message_id: MessageId = None,
    last: Last = False,
    person: LastOfPerson = "",
    chat: LastInChat = "",
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print what happened to the message, in time order; 1 when there is no record of it."""
    check_choice(message_id, last, person, chat)
    settings = settings_with_database(config, hot=True)

    async def job(storage: Storage) -> list[MessageLog]:
        traces = await chosen_traces(storage, settings, message_id, person, chat)
        return [await read_log(storage, trace) for trace in sorted(traces, key=lambda t: t.at)]

    message_logs = with_storage(settings, job)
    if not message_logs:
        sys.stderr.write(f"{nothing_found(message_id, person, chat)}\n")
        return 1
    values = (_as_values(one.trace, entry) for one in message_logs for entry in entries_of(one))
    text = "\n\n".join("\n".join(lines_of(one)) for one in message_logs)
    show(values, [text], as_json=as_json)
    return 0


def describe(trace: Trace, thumbs: Thumbs | None = None, lost: str = "") -> str:
    """One trace as people read it: the place, each decision with its reason, the outcome, and the
    feedback on the answer. `lost` says that the delivery is unknown."""
    account = "" if trace.account == "main" else f" ({trace.account})"
    width = max((len(d.stage) for d in trace.decisions), default=0)
    lines = [
        f"{trace.kind} {trace.message_id} on {trace.platform}{account}, {second_of(trace.at)}",
        f"  conversation {trace.conversation}",
        f"  turn {trace.id} (the log names it)",
    ]
    for decision in trace.decisions:
        failed = decision.stage == "model" and decision.reason in NO_ANSWER
        mark = "yes" if decision.allowed and not failed else "NO "
        detail = f" ({decision.detail})" if decision.detail else ""
        lines.append(f"  {mark}  {decision.stage:<{width}}  {decision.reason}{detail}")
    lines.extend(_failed_calls(trace))
    lines.append(f"  -> {trace.outcome}, {trace.milliseconds:.0f} ms")
    if lost:
        lines.append(f"  {lost}")
    if thumbs is not None and (thumbs.up or thumbs.down):
        lines.append(f"  feedback: {thumbs.up} {UP}, {thumbs.down} {DOWN}")
    if trace.outcome in NO_ANSWER and (kind := _last_failure(trace)):
        lines.append(f"  {step_of(kind)}.")
    refused = next((d for d in trace.decisions if not d.allowed), None)
    if refused is not None and (step := step_after(refused)):
        lines.append(f"  {step}")
    return "\n".join(lines)


def _last_failure(trace: Trace) -> str:
    """The kind of the last failed call of a model; "" if none failed."""
    ends = [one[4] for one in trace.durations if one[0] == "model" and one[4] not in NOT_FAILED]
    return ends[-1].rpartition(" ")[2] if ends else ""


def _failed_calls(trace: Trace) -> Iterator[str]:
    """Each failed call of a model: when, of which one, its status and kind."""
    failed = [one for one in trace.durations if one[0] == "model" and one[4] not in NOT_FAILED]
    for _, model, after, took, ended, *_ in failed[:MAX_CALLS]:
        _, _, status = ended.partition(" ")
        times = f"after {after / 1e6:.1f} s, for {took / 1e6:.1f} s"
        yield f"  NO   call of {plain(model)}  {status or ended} ({times})"
    if len(failed) > MAX_CALLS:
        yield f"  NO   {len(failed) - MAX_CALLS} more failed calls"


def check_choice(message_id: str | None, last: bool, person: str, chat: str) -> None:
    """Raise `typer.BadParameter` unless the options choose one message, or the last one."""
    if (message_id is None) != last:
        raise typer.BadParameter("give the id of a message, or --last", param_hint="MESSAGE_ID")
    if (person or chat) and not last:
        raise typer.BadParameter("--person and --chat need --last", param_hint="--last")
    if person and chat:
        raise typer.BadParameter("give one of --person and --chat", param_hint="--person")
    if person:
        person_of(person)
    parts = chat.split(":", 2)
    if chat and (len(parts) < 3 or not all(parts)):
        raise UsageError(f"{chat[:80]!r} is not a chat: write PLATFORM:ACCOUNT:CHANNEL.")


async def chosen_traces(
    storage: Storage, settings: Settings, message_id: str | None, person: str, chat: str
) -> list[Trace]:
    """The traces of this message, newest first; without an id the newest trace alone."""
    traces = storage.stores.traces
    if message_id is not None:
        return await traces.find(message_id)
    if chat:
        return await traces.recent_in(chat, 1)
    if not person:
        return await traces.recent(1)
    known = await _known(storage, person_of(person))
    tenant = load_extensions(settings).tenant_of_person(known)
    return await traces.recent_of(tenant, str(known), 1)


def nothing_found(message_id: str | None, person: str, chat: str) -> str:
    """The reason why there may be no trace, and the next step."""
    if message_id is not None:
        return NO_TRACE.format(id=message_id)
    if person:
        return NO_LAST_OF_PERSON.format(person=person)
    return NO_LAST_IN_CHAT.format(chat=chat) if chat else NO_LAST


async def _known(storage: Storage, person: PersonId) -> PersonId:
    return await resolve_person(person, storage.stores.states) or person


def lines_of(log: MessageLog) -> Iterator[str]:
    """The log as people read it."""
    trace = log.trace
    account = "" if trace.account == "main" else f" ({trace.account})"
    yield f"{trace.kind} {plain(trace.message_id)} on {trace.platform}{account}, turn {trace.id}"
    entries = entries_of(log)
    width = max((len(entry.part) for entry in entries), default=0)
    for entry in entries:
        at = entry.at.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] if entry.at else " " * 23
        yield f"  {at}  {entry.part:<{width}}  {plain(entry.text, 300)}"


def _as_values(trace: Trace, entry: LogEntry) -> dict[str, object]:
    return {"turn": trace.id, "at": entry.at, "part": entry.part, **entry.values}


def context(
    message_id: Annotated[str, typer.Argument(help="The platform's id of the message.")],
    config: Config = None,
) -> int:
    """Print the parts of the prompt for a message; 1 when there is no record of it."""
    traces = with_storage(
        settings_with_database(config), lambda storage: storage.stores.traces.find(message_id)
    )
    prompts = [(trace, figures) for trace in traces for figures in figures_of(trace)]
    if not prompts:
        reason = "no model answered it: see `parley why`" if traces else "see `parley why`"
        sys.stderr.write(f"Message {message_id} has no stored prompt: {reason}.\n")
        return 1
    print_lines(["\n\n".join(describe_prompt(*prompt) for prompt in prompts)])
    return 0


def figures_of(trace: Trace) -> list[BudgetFigures]:
    """The figures that a trace holds."""
    kept = (decision.data for decision in trace.decisions if decision.reason == "blocks")
    return [figures for figures in map(figures_in, kept) if figures is not None]


def describe_prompt(trace: Trace, figures: BudgetFigures) -> str:
    """The blocks with their budgets, what was left out and why, and warnings."""
    at = second_of(trace.at)
    total = sum(block.budget for block in figures.blocks)
    lines = [
        f"{trace.kind} {trace.message_id} on {trace.platform}, {at}, a window of {figures.window}",
        f"  {'block':<10} {'tokens':>7} {'budget':>7} {'used':>5}",
        *(_block_row(block) for block in figures.blocks),
        f"  {'total':<10} {figures.tokens:>7} {total:>7}",
        f"  reserved for question, answer and safety: {figures.reserved}; left beside the blocks: "
        + str(figures.window - figures.tokens),
    ]
    for block in figures.blocks:
        lines += [f"  missing in {block.kind}: {_missing(loss)}" for loss in block.losses]
        lines += [f"  missing in {block.kind}: {block.more} more"] if block.more else []
    lines += [f"  [WARNING] {warning}" for warning in warnings(figures)]
    return "\n".join(lines)


def _block_row(block: BlockFigures) -> str:
    row = f"  {block.kind:<10} {block.tokens:>7} {block.budget:>7} {block.percent:>4}%"
    if block.needed > block.tokens:
        return f"{row}  of {block.needed} needed, {block.allotted} allotted"
    return f"{row}  including unused budget of other blocks" if block.tokens > block.budget else row


def _missing(loss: LeftOut) -> str:
    words = {
        "left_out": "omitted, it did not fit",
        "cut": "cut at a sentence",
        "summarised": "now in the summary",
    }
    return f"{loss.what.replace('_', ' ')}, {loss.tokens} tokens: {words[loss.why]}"
