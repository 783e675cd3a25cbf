"""`parley why MESSAGE_ID`."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.ports.clock import SystemClock
from gateway.ports.feedback import DOWN, UP, Thumbs
from gateway.ports.traces import Trace
from parley.config import Settings, load
from parley.config.sections import sqlite_file

NEXT: Final[Mapping[str, str]] = {
    "access": "The section `access` of the configuration decides on this.",
    "intake": "More was sent than is stored at once: docs/operations.md gives these bounds.",
    "limits": "The section `limits` of the configuration sets this limit.",
    "budget": "The section `budgets` of the configuration decides on this.",
    "takeover": "The program stopped whenever it worked on this: `parley quarantine list`.",
}
"""Where an operator looks next, by the stage that refused."""


def run(message_id: str, config: Path | None, env: Mapping[str, str]) -> int:
    """Print every trace of the message; 1 when there is none."""
    settings = load(config, env)
    file = sqlite_file(settings.database.url)
    if file and not Path(file).exists():
        sys.stderr.write(
            f"There is no database at {file}. Name the configuration with --config, or start Parley"
            " once.\n"
        )
        return 1
    traces, thumbs = asyncio.run(_find(settings, message_id))
    if not traces:
        sys.stderr.write(
            f"Nothing is known of message {message_id}. What is not addressed to the assistant"
            " leaves no trace; the id is the platform's own. Of the refused messages of a person"
            " the latest four are kept, for a day.\n"
        )
        return 1
    shown = (described(trace, thumbs.get(trace.id, Thumbs())) for trace in traces)
    sys.stdout.write("\n\n".join(shown) + "\n")
    return 0


def described(trace: Trace, thumbs: Thumbs | None = None) -> str:
    """One trace as people read it: where, each decision with its reason, how it ended, and what
    people thought of the answer."""
    account = "" if trace.account == "main" else f" ({trace.account})"
    at = trace.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    width = max((len(d.stage) for d in trace.decisions), default=0)
    lines = [
        f"{trace.kind} {trace.message_id} on {trace.platform}{account}, {at}",
        f"  conversation {trace.conversation}",
        f"  exchange {trace.id} (the log names it)",
    ]
    for decision in trace.decisions:
        mark = "yes" if decision.allowed else "NO "
        detail = f" ({decision.detail})" if decision.detail else ""
        lines.append(f"  {mark}  {decision.stage:<{width}}  {decision.reason}{detail}")
    lines.append(f"  -> {trace.outcome}, {trace.milliseconds:.0f} ms")
    if thumbs is not None and (thumbs.up or thumbs.down):
        lines.append(f"  feedback: {thumbs.up} {UP}, {thumbs.down} {DOWN}")
    refused = next((d.stage for d in trace.decisions if not d.allowed), "")
    if refused in NEXT:
        lines.append(f"  {NEXT[refused]}")
    return "\n".join(lines)


async def _find(settings: Settings, message_id: str) -> tuple[list[Trace], dict[str, Thumbs]]:
    from parley.wiring.storage import Storage  # noqa: PLC0415 -- opens nothing until it is needed

    storage = Storage(settings, SystemClock())
    try:
        await storage.start(exclusive=False)
        traces = await storage.stores.traces.find(message_id)
        return traces, await storage.stores.feedback.of([trace.id for trace in traces])
    finally:
        await storage.stop()
