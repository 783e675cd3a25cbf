"""A fuzzing target: a function that takes any bytes, and its requirements."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

SLOW_SECONDS: Final = 0.1
"""Processor time that one input of the largest allowed size may take."""
LARGEST: Final = 16_000
"""Characters of a text after it was repeated; what the platforms and the program take at most."""


class TooSlow(AssertionError):
    """One input took longer than it may."""


@dataclass(frozen=True, slots=True)
class Target:
    """`run` raises for a finding and returns for everything else. `seeds` are inputs to begin with.
    `as_json`: inputs are JSON, which is changed by its structure as well as by its bytes."""

    name: str
    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    as_json: bool = False


def text_of(data: bytes) -> str:
    """An input as a text: its first byte says how often the rest is repeated."""
    if not data:
        return ""
    text = data[1:].decode("utf-8", "replace")
    return (text * max(1, data[0]))[:LARGEST]


def of_text(text: str, times: int = 1) -> bytes:
    """The input that `text_of` reads as this text, repeated."""
    return bytes((times,)) + text.encode("utf-8", "replace")


def on_text(name: str, run: Callable[[str], object], *seeds: str) -> Target:
    """A target that takes a text."""

    def checked(data: bytes) -> None:
        run(text_of(data))

    return Target(name, checked, tuple(of_text(seed) for seed in seeds))


def on_json(name: str, run: Callable[[Any], object], *seeds: object) -> Target:
    """A target that takes what a JSON document says; other inputs are passed over."""

    def checked(data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        run(value)

    return Target(name, checked, tuple(json.dumps(seed).encode() for seed in seeds), as_json=True)


def timed(target: Target, data: bytes, seconds: float = SLOW_SECONDS, tries: int = 3) -> None:
    """Run a target. Raises what it raises, and `TooSlow` where the best of its tries is longer."""
    best = float("inf")
    for _ in range(tries):
        began = time.thread_time()
        target.run(data)
        best = min(best, time.thread_time() - began)
        if best <= seconds:
            return
    raise TooSlow(f"{target.name}: {best:.2f} s of processor time for {data[:80]!r}")


def paths_in(node: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value that can be changed."""
    if at:
        yield at
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from paths_in(value, (*at, key))


def put(root: Any, path: tuple[Any, ...], value: Any) -> None:
    """Replace what stands at a place of a JSON value."""
    for step in path[:-1]:
        root = root[step]
    root[path[-1]] = value
