"""`parley why MESSAGE_ID`, and `parley why --last`."""

import sys
from collections.abc import Mapping
from typing import Final

from gateway.policy.access import NOT_APPROVED
from gateway.ports.feedback import DOWN, UP, Thumbs
from gateway.ports.traces import Trace
from parley.cli.options import Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.traces import (
    Last,
    LastInChat,
    LastOfPerson,
    MessageId,
    check_choice,
    chosen_traces,
    nothing_found,
)
from parley.wiring.storage import Storage

NEXT: Final[Mapping[str, str]] = {
    "access": "The section `access` of the configuration decides on this.",
    "intake": "More messages waited than the limit allows: docs/operations.md lists the limits.",
    "limits": "The section `limits` of the configuration sets this limit.",
    "budget": "The section `budgets` of the configuration decides on this.",
    "takeover": "The program stopped each time it processed this: `parley quarantine list`.",
}
"""The next step of an operator, by the stage that refused."""
APPROVE_FIRST: Final = (
    "The person needs an approval: `parley access list` shows who waits (docs/access.md)."
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

    async def job(storage: Storage) -> tuple[list[Trace], dict[str, Thumbs]]:
        traces = await chosen_traces(storage, settings, message_id, person, chat)
        return traces, await storage.stores.feedback.of([trace.id for trace in traces])

    traces, thumbs = with_storage(settings, job)
    if not traces:
        sys.stderr.write(f"{nothing_found(message_id, person, chat)}\n")
        return 1
    texts = (describe(trace, thumbs.get(trace.id, Thumbs())) for trace in traces)
    sys.stdout.write("\n\n".join(texts) + "\n")
    return 0


def describe(trace: Trace, thumbs: Thumbs | None = None) -> str:
    """One trace as people read it: the place, each decision with its reason, the outcome, and the
    feedback on the answer."""
    account = "" if trace.account == "main" else f" ({trace.account})"
    at = trace.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    width = max((len(d.stage) for d in trace.decisions), default=0)
    lines = [
        f"{trace.kind} {trace.message_id} on {trace.platform}{account}, {at}",
        f"  conversation {trace.conversation}",
        f"  turn {trace.id} (the log names it)",
    ]
    for decision in trace.decisions:
        mark = "yes" if decision.allowed else "NO "
        detail = f" ({decision.detail})" if decision.detail else ""
        lines.append(f"  {mark}  {decision.stage:<{width}}  {decision.reason}{detail}")
    lines.append(f"  -> {trace.outcome}, {trace.milliseconds:.0f} ms")
    if thumbs is not None and (thumbs.up or thumbs.down):
        lines.append(f"  feedback: {thumbs.up} {UP}, {thumbs.down} {DOWN}")
    refused = next((d for d in trace.decisions if not d.allowed), None)
    if refused is not None and refused.reason == NOT_APPROVED:
        lines.append(f"  {APPROVE_FIRST}")
    elif refused is not None and refused.stage in NEXT:
        lines.append(f"  {NEXT[refused.stage]}")
    return "\n".join(lines)
