"""`parley context MESSAGE_ID`."""

import sys
from typing import Annotated

import typer

from gateway.ports.prompt_blocks import Loss
from gateway.ports.traces import Trace
from gateway.turn.context.budgets import BlockFigures, Figures, figures_in, warnings
from parley.cli.options import Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import print_lines, second_of


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
    print_lines(["\n\n".join(describe(*prompt) for prompt in prompts)])
    return 0


def figures_of(trace: Trace) -> list[Figures]:
    """The figures that a trace holds."""
    kept = (decision.data for decision in trace.decisions if decision.reason == "blocks")
    return [figures for figures in map(figures_in, kept) if figures is not None]


def describe(trace: Trace, figures: Figures) -> str:
    """The blocks with their budgets, what was left out and why, and warnings."""
    at = second_of(trace.at)
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
        lines += [f"  missing in {block.kind}: {block.more} more"] if block.more else []
    lines += [f"  [WARNING] {warning}" for warning in warnings(figures)]
    return "\n".join(lines)


def _row(block: BlockFigures) -> str:
    row = f"  {block.kind:<10} {block.tokens:>7} {block.budget:>7} {block.percent:>4}%"
    if block.needed > block.tokens:
        return f"{row}  of {block.needed} needed, {block.allotted} allotted"
    return f"{row}  including unused budget of other blocks" if block.tokens > block.budget else row


def _missing(loss: Loss) -> str:
    words = {
        "left_out": "omitted, it did not fit",
        "cut": "cut at a sentence",
        "summarised": "now in the summary",
    }
    return f"{loss.what.replace('_', ' ')}, {loss.tokens} tokens: {words[loss.why]}"
