"""The parts of an installation that need an operator, each with the next step."""

from collections.abc import Collection, Iterator

from parley.runtime.installation import MISSING, START_ADAPTER, START_WORKER, Installation


def unserved(everywhere: Installation, here: Collection[str], waiting: int) -> Iterator[str]:
    """The parts that no process serves, and the accounts of other processes that are not connected;
    `here` are those of the program on this machine, `waiting` counts the messages that wait."""
    for part in everywhere.parts:
        if part.name in here or part.is_well:
            continue
        if part.state != MISSING:
            reason = f": {part.problem}" if part.problem else ""
            yield f"{part.name} is {part.state}{reason}. `parley doctor` checks it."
        elif everywhere.running:
            now = f" {waiting:,} waiting now." if waiting and not part.account else ""
            yield f"{part.problem[0].upper()}{part.problem[1:]}.{now} {part.step}."
    if not everywhere.running:
        steps = f"`{START_ADAPTER}` and `{START_WORKER}`"
        yield f"No process of this installation runs. Start them: {steps}."
