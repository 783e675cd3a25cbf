"""Computes the outcome of the messages as numbers. Pure."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

NOTE: Final = -1
"""In place of a number: here stands that the next answer may be seen twice."""

Answers = Mapping[str, Sequence[int]]
"""By chat: the numbers of the messages that were answered, in the order the answers stand there."""


@dataclass(frozen=True, slots=True)
class Handed:
    """The time at which a platform handed a message over: it may have arrived from `began` on, and
    had arrived for certain at `taken`, when the program said so. On any clock."""

    began: float
    taken: float


@dataclass(frozen=True, slots=True)
class Kills:
    """The kills of a run. `in_flight` has, for each kill, the sends that the platform received and
    the program had not recorded, `unanswered` the messages without an answer; `restarts` has the
    seconds until it was ready."""

    in_flight: Sequence[int]
    unanswered: Sequence[int]
    restarts: Sequence[float]
    while_starting: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The figures of one platform."""

    messages: int
    lost: int
    answered_twice: int
    allowed_twice: int
    twice_without_note: int
    out_of_order: int
    out_of_order_as_written: int

    @property
    def kept(self) -> bool:
        """True if every guarantee held."""
        twice = self.answered_twice > self.allowed_twice
        return not (self.lost or self.out_of_order or twice or self.twice_without_note)


def judge(
    answers: Answers, written: int, handed: Mapping[int, Handed], allowed_twice: int
) -> Verdict:
    """Compare what was answered with what was written: the numbers below `written`."""
    given = [[number for number in numbers if number != NOTE] for numbers in answers.values()]
    times = Counter(number for numbers in given for number in numbers)
    first = [list(dict.fromkeys(numbers)) for numbers in given]
    as_written = {number: Handed(number, number) for number in range(written)}
    return Verdict(
        messages=written,
        lost=written - len(times),
        answered_twice=sum(count - 1 for count in times.values()),
        allowed_twice=allowed_twice,
        twice_without_note=sum(map(unannounced, answers.values())),
        out_of_order=sum(overtaken(numbers, handed) for numbers in first),
        out_of_order_as_written=sum(overtaken(numbers, as_written) for numbers in first),
    )


def unannounced(numbers: Sequence[int]) -> int:
    """The number of repeated answers without the note right above them."""
    return sum(
        number != NOTE and number in numbers[:index] and numbers[index - 1] != NOTE
        for index, number in enumerate(numbers)
    )


def overtaken(numbers: Sequence[int], handed: Mapping[int, Handed]) -> int:
    """The number of messages that were answered after one that was handed over later. Two that were
    on their way at the same time have no order; what was never seen to be handed over stands for
    itself."""
    late, newest = 0, float("-inf")
    for number in numbers:
        at = handed.get(number)
        if at is None:
            continue
        late += at.taken < newest
        newest = max(newest, at.began)
    return late


def row(verdict: Verdict, kills: Kills) -> dict[str, object]:
    """Everything as one JSON object."""
    return {
        "messages": verdict.messages,
        "kills": len(kills.in_flight),
        "kills_while_starting": kills.while_starting,
        "lost": verdict.lost,
        "answered_twice": verdict.answered_twice,
        "allowed_twice": verdict.allowed_twice,
        "twice_without_note": verdict.twice_without_note,
        "in_flight_at_the_kills": sum(kills.in_flight),
        "in_flight_at_most": max(kills.in_flight, default=0),
        "unanswered_at_the_kills_median": statistics.median(kills.unanswered or [0]),
        "out_of_order": verdict.out_of_order,
        "out_of_order_as_written": verdict.out_of_order_as_written,
        "restart_seconds_median": round(statistics.median(kills.restarts or [0.0]), 2),
        "restart_seconds_longest": round(max(kills.restarts, default=0.0), 2),
        "kept": verdict.kept,
    }
