"""`parley logs MESSAGE_ID`: everything that the stores hold about one message, in time order."""

import sys
from collections.abc import Iterator

from gateway.ports.traces import Trace
from parley.cli.options import AsJson, Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import plain, show
from parley.cli.why import (
    Last,
    LastInChat,
    LastOfPerson,
    MessageId,
    check_choice,
    chosen_traces,
    nothing_found,
)
from parley.maintenance.message_log import LogEntry, MessageLog, entries_of, read_log
from parley.wiring.storage import Storage


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
