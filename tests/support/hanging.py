"""The real program with an exponential pattern in one place.

`main` with the arguments `PLACE run --config …`: a text that contains `POISON` hangs there.
"""

import asyncio
import functools
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # the program is loaded only where it is needed
    from gateway.turn.services import Services
    from gateway.turn.turn_context import TurnContext

POISON: Final = "poison"
BEGUN: Final = "hangs"
_EXPONENTIAL: Final = re.compile(r"(?:a|a)+b")


def hang(*values: object) -> None:
    """Never returns when one of the values holds the word; `re` holds the interpreter's lock. The
    file `BEGUN` in the working folder says that it has begun."""
    if any(POISON in repr(value) for value in values):
        Path(BEGUN).touch()
        _EXPONENTIAL.match("a" * 64)


def in_front(owner: ModuleType | type, name: str, first: Callable[..., Any] = hang) -> None:
    """Call `first` with the arguments of a function before the function."""
    inner = getattr(owner, name)

    @functools.wraps(inner)
    def both(*args: Any, **kwargs: Any) -> Any:
        first(*args, *kwargs.values())
        return inner(*args, **kwargs)

    setattr(owner, name, both)


def in_stage(first: Callable[["TurnContext"], Any]) -> None:
    """Await what `first` returns for a turn before the turn reads its history."""
    from gateway.turn import pipeline  # noqa: PLC0415 - loaded only where it is needed
    from gateway.turn.history_and_summary import read_history  # noqa: PLC0415 - loaded only where it is needed

    @functools.wraps(read_history)
    async def both(turn: "TurnContext", services: "Services") -> Any:
        await first(turn)
        return await read_history(turn, services)

    stages = (both if stage is read_history else stage for stage in pipeline.TURN)
    setattr(pipeline, "TURN", tuple(stages))  # noqa: B010 - mypy knows the original's type


def in_turn() -> None:
    """While an answer is made."""

    async def here(turn: "TurnContext") -> None:
        hang(turn.asked.contents)

    in_stage(here)


def in_thread() -> None:
    """On another thread, while an answer is made."""
    in_stage(lambda turn: asyncio.to_thread(hang, turn.asked.contents))


def in_opening() -> None:
    """The place where a message is opened, also to tell its author that it was given up."""
    import gateway.turn.pipeline  # noqa: PLC0415 - loaded only where it is needed

    in_front(gateway.turn.pipeline, "with_kept_names")


def in_intake() -> None:
    """Before the message is stored."""
    import gateway.inbound.intake  # noqa: PLC0415 - loaded only where it is needed

    in_front(gateway.inbound.intake, "decide_invocation")


def in_parser() -> None:
    """The place where the delivery is parsed."""
    import adapters.telegram.receive  # noqa: PLC0415 - loaded only where it is needed

    in_front(adapters.telegram.receive, "parse")


def in_memory() -> None:
    """The place where memory takes a turn up, after its answer."""
    import memory.write.turns  # noqa: PLC0415 - loaded only where it is needed

    in_front(memory.write.turns, "prepare_turn")


def asleep() -> None:
    """While an answer is made, without computing anything."""

    async def sleep(turn: "TurnContext") -> None:
        if POISON in repr(turn.asked.contents):
            time.sleep(600)

    in_stage(sleep)


def nowhere() -> None:
    """As it is."""


PLACES: Final[dict[str, Callable[[], None]]] = {
    "turn": in_turn,
    "thread": in_thread,
    "opening": in_opening,
    "intake": in_intake,
    "parser": in_parser,
    "memory": in_memory,
    "asleep": asleep,
    "nowhere": nowhere,
}


def main() -> None:
    """Run the program with the place that the first argument names."""
    from parley.cli import main as program  # noqa: PLC0415 - loaded only where it is needed

    PLACES[sys.argv.pop(1)]()
    program.main()
