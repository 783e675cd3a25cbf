"""`parley handoffs cleanup`. Works beside a running program."""

from collections import Counter
from datetime import timedelta
from typing import Annotated, Final

import typer

from parley.cli.agent_access import OPERATOR, OpenedAgents, with_agents
from parley.cli.options import AsJson, Config, Yes, confirmed
from parley.cli.terminal import show

ENDED: Final = ("completed", "rejected", "expired")
MAX_DAYS: Final = 3_650
QUESTION: Final = (
    "Delete the completed, rejected and expired handoffs of everybody{since}? Agents that have not "
    "read a result cannot read it any more."
)

OlderThan = Annotated[
    int,
    typer.Option(
        "--older-than",
        metavar="DAYS",
        min=0,
        max=MAX_DAYS,
        help="Only those that ended more than this number of days ago.",
    ),
]


def cleanup(
    older_than: OlderThan = 0, yes: Yes = 0, config: Config = None, as_json: AsJson = False
) -> int:
    """Delete the handoffs of everybody that ended, after confirmation. The program does it by
    itself 7 days after their end; open ones stay."""

    async def job(opened: OpenedAgents) -> Counter[str] | None:
        since = f" that ended more than {older_than} days ago" if older_than else ""
        if not confirmed([QUESTION.format(since=since)], yes):
            return None
        return await opened.services.handoffs.delete_ended(
            str(OPERATOR), timedelta(days=older_than)
        )

    deleted = with_agents(config, job)
    if deleted is None:
        return 1
    numbers = {status: deleted[status] for status in ENDED}
    counts = ", ".join(f"{count:,} {status}" for status, count in numbers.items())
    show([numbers], [f"Deleted: {counts}."], as_json=as_json)
    return 0
