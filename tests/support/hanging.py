"""The real program with an exponential pattern in one place.

`python -m tests.support.hanging PLACE run --config …`: a text that contains `POISON` hangs there.
"""

import asyncio
import functools
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

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


def in_turn() -> None:
    """While an answer is made."""
    from gateway.turn import history  # noqa: PLC0415 - only where it hangs

    in_front(history, "read_history", lambda turn, _: hang(turn.contents))


def in_thread() -> None:
    """On another thread, while an answer is made."""
    from gateway.turn import history  # noqa: PLC0415 - only where it hangs

    inner = history.read_history

    @functools.wraps(inner)
    async def both(turn: Any, services: Any) -> Any:
        await asyncio.to_thread(hang, turn.contents)
        return await inner(turn, services)

    setattr(history, "read_history", both)  # noqa: B010 - mypy knows the original's names


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
    from gateway.turn import history  # noqa: PLC0415 - only where it hangs

    def sleep(turn: Any, _: Any) -> None:
        if POISON in repr(turn.contents):
            time.sleep(600)

    in_front(history, "read_history", sleep)


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


if __name__ == "__main__":
    PLACES[sys.argv.pop(1)]()
    from parley.cli.main import main

    main()
