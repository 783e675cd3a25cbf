"""Texts that make the most work for a pattern, made from its own automaton, and their time."""

import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from redos.automaton import TooLargeError, build
from redos.calls import Use
from redos.graph import components
from redos.steps import State, Steps

SHORT: Final = 1_000
LONG: Final = 100_000
MOST_LOOPS: Final = 6
"""Loops of a pattern that texts are made for."""
_SECONDS: Final = 5.0
_LEAST: Final = 8e-3
"""Seconds below which a clock that ticks every 4 ms tells nothing."""
_TRIES: Final = 7


class TooSlowError(Exception):
    """A pattern took more processor time than it may."""


def texts(pattern: str | bytes, flags: int, use: Use, length: int) -> Iterator[tuple[str, str]]:
    """A pump of each loop, and a text: the way in, the loop over and over, an end that fails."""
    for prefix, pump, suffix in _pumps(pattern, flags, use):
        for body in (pump, prefix + pump, prefix):
            if body:
                text = prefix + body * (max(length - len(prefix) - len(suffix), 1) // len(body) + 1)
                yield body, text[: length - len(suffix)] + suffix


def _pumps(pattern: str | bytes, flags: int, use: Use) -> Iterator[tuple[str, str, str]]:
    try:
        steps = Steps(build(pattern, flags), searched=use.searched, whole=False)
        states = [state for state in steps.reached() if state[0] >= 0]
        graph = {state: [step.to for step in steps.of(state)] for state in states}
    except (TooLargeError, OverflowError):
        return
    letters = steps.alphabet
    seen = 0
    for component in components(graph):
        pump = _around(steps, component)
        if pump and seen < MOST_LOOPS:
            seen += 1
            for ending in dict.fromkeys((letters.letters[-1], "\x00")):
                yield steps.way_to(component[0]), pump, ending
    if states:
        prefix = steps.way_to(max(states, key=lambda state: state[0]))
        yield prefix, prefix[:-1], "\x00"
        yield "", prefix, ""


def _around(steps: Steps, component: list[State]) -> str:
    """A shortest text from a state back to it."""
    start, inside = component[0], set(component)
    queue = deque([(start, "")])
    seen: set[State] = set()
    while queue:
        state, text = queue.popleft()
        for step in steps.of(state):
            if step.to == start:
                return text + steps.alphabet.letter(step.mask)
            if step.to in inside and step.to not in seen:
                seen.add(step.to)
                queue.append((step.to, text + steps.alphabet.letter(step.mask)))
    return ""


def growth(pattern: str | bytes, flags: int, use: Use, *, limit: float) -> tuple[float, str]:
    """The greatest factor by which a hundred times the text takes more time, and its pump. Best of
    several; raises `TooSlowError` when one text takes longer than 5 s."""
    compiled = re.compile(pattern, flags)
    worst = (0.0, "")
    pairs = zip(texts(pattern, flags, use, SHORT), texts(pattern, flags, use, LONG), strict=True)
    for (pump, short), (_, long) in pairs:
        factor = _factor(compiled, use, short, long, limit)
        worst = max(worst, (factor, pump))
    return worst


def _factor(compiled: Any, use: Use, short: str, long: str, limit: float) -> float:
    times = len(long) // len(short)
    few = many = float("inf")
    for _ in range(_TRIES):
        few = min(few, _seconds(compiled, use, short, times))
        many = min(many, _seconds(compiled, use, long))
        if many / max(few, _LEAST) * times <= limit:
            break
    return many / max(few, _LEAST) * times


def _seconds(compiled: Any, use: Use, text: str, times: int = 1) -> float:
    subject = text.encode("latin-1", "replace") if isinstance(compiled.pattern, bytes) else text
    with _bounded():
        begun = time.thread_time()
        for _ in range(times):
            _run(compiled, use, subject)
        return time.thread_time() - begun


def _run(compiled: Any, use: Use, subject: str | bytes) -> None:
    if use.searched and use.again:
        for _ in compiled.finditer(subject):
            pass
    elif use.searched:
        compiled.search(subject)
    elif use.whole:
        compiled.fullmatch(subject)
    else:
        compiled.match(subject)


@contextmanager
def _bounded() -> Iterator[None]:
    """Ends what takes longer: the engine looks for signals while it matches."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
