"""`parley context MESSAGE_ID`."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from gateway.ports.clock import SystemClock
from gateway.ports.traces import Trace
from gateway.turn.context.block_usage import BlockFigures, Figures, read, warnings
from parley.config import Settings, load
from parley.config.sections import sqlite_file


def run(message_id: str, config: Path | None, env: Mapping[str, str]) -> int:
    """Print what the prompt for a message was made of; 1 when nothing is known of it."""
    settings = load(config, env)
    file = sqlite_file(settings.database.url)
    if file and not Path(file).exists():
        sys.stderr.write(f"There is no database at {file} yet.\n")
        return 1
    traces = asyncio.run(_find(settings, message_id))
    found = [(trace, figures) for trace in traces for figures in figures_of(trace)]
    if not found:
        why = "it was not answered by the model: see `parley why`" if traces else "see `parley why`"
        sys.stderr.write(f"No prompt is known for message {message_id}: {why}.\n")
        return 1
    sys.stdout.write("\n\n".join(described(trace, figures) for trace, figures in found) + "\n")
    return 0


def figures_of(trace: Trace) -> list[Figures]:
    """The figures that a trace holds."""
    lines = (decision.detail for decision in trace.decisions if decision.reason == "blocks")
    return [figures for figures in map(read, lines) if figures is not None]


def described(trace: Trace, figures: Figures) -> str:
    """The blocks with their budgets, what is missing and why, and what is worth looking at."""
    at = trace.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    total = sum(block.budget for block in figures.blocks)
    lines = [
        f"{trace.kind} {trace.message_id} on {trace.platform}, {at}, a window of {figures.window}",
        f"  {'block':<10} {'tokens':>7} {'budget':>7} {'used':>5}",
        *(_row(block) for block in figures.blocks),
        f"  {'total':<10} {figures.tokens:>7} {total:>7}",
        f"  reserved for question, answer and safety: {figures.reserved}; left beside the blocks: "
        + str(figures.window - figures.tokens),
    ]
    for block in figures.blocks:
        lines += [f"  missing in {block.kind}: {_missing(loss)}" for loss in block.losses]
    lines += [f"  [WARNING] {warning}" for warning in warnings(figures)]
    return "\n".join(lines)


def _row(block: BlockFigures) -> str:
    row = f"  {block.kind:<10} {block.tokens:>7} {block.budget:>7} {block.percent:>4}%"
    if block.needed > block.tokens:
        return f"{row}  of {block.needed} needed, {block.allotted} allotted"
    return f"{row}  with what others left" if block.tokens > block.budget else row


def _missing(loss: str) -> str:
    """ "mem-1 left_out 200" in words."""
    what, _, rest = loss.partition(" ")
    why, _, tokens = rest.rpartition(" ")
    words = {
        "left_out": "left out, it did not fit",
        "cut": "cut at a sentence",
        "summarised": "now in the summary",
    }
    return f"{what.replace('_', ' ')}, {tokens} tokens: {words[why]}" if why in words else loss


async def _find(settings: Settings, message_id: str) -> list[Trace]:
    from parley.wiring.storage import Storage  # noqa: PLC0415 -- opens nothing until it is needed

    storage = Storage(settings, SystemClock())
    try:
        await storage.start(exclusive=False)
        return await storage.stores.traces.find(message_id)
    finally:
        await storage.stop()
