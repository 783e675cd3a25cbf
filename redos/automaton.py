"""A pattern's parse tree as an automaton whose states are the characters that it reads.

Repeats with a small bound are written out. Longer ones become loops that keep their bound. A look
at what follows becomes a branch that leads nowhere, because it costs the same steps; one character
wide it becomes an exact condition. Back-references read what their group reads. All of it allows at
least what the pattern allows, so that no costly input is overlooked.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from redos.alphabet import Alphabet, Leaf, parser

MOST_COPIES: Final = 64
"""Leaves up to which the fixed part of a repeat is written out."""
MOST_OPTIONAL: Final = 8
"""The same for its optional part."""
MOST_LEAVES: Final = 30_000
_UNBOUNDED: Final = int(parser.MAXREPEAT)


class TooLargeError(ValueError):
    """The pattern has more states than can be looked at."""


@dataclass(frozen=True)
class Loop:
    """A repeat that is not written out; `bound` is None when there is none."""

    number: int
    bound: int | None


@dataclass(frozen=True)
class Edge:
    """A way without a character: `allowed` holds pairs of masks (previous, next character)."""

    to: int
    allowed: tuple[tuple[int, int], ...] | None = None
    iterates: Loop | None = None
    leaves_atomic: int | None = None


@dataclass
class Automaton:
    """Nodes with ways between them; `reads[node]` is the leaf that leads to `after[node]`."""

    start: int = 0
    final: int = 0
    edges: list[list[Edge]] = field(default_factory=list)
    reads: dict[int, Leaf] = field(default_factory=dict)
    after: dict[int, int] = field(default_factory=dict)
    atomic: dict[int, tuple[int, ...]] = field(default_factory=dict)
    alphabet: Alphabet = field(default_factory=lambda: Alphabet(()))


def build(pattern: str | bytes, flags: int) -> Automaton:
    """The automaton of a pattern as `re` reads it."""
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    return _Builder(tree).build()


def _leaves(tree: Iterable[Any], flags: int) -> Iterator[Leaf]:
    for op, arg in tree:
        match str(op):
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                yield Leaf((op, arg), flags)
            case "BRANCH":
                for part in arg[1]:
                    yield from _leaves(part, flags)
            case "SUBPATTERN":
                yield from _leaves(arg[3], (flags | arg[1]) & ~arg[2])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                yield from _leaves(arg[2], flags)
            case "ATOMIC_GROUP":
                yield from _leaves(arg, flags)
            case "ASSERT" | "ASSERT_NOT":
                yield from _leaves(arg[1], flags)
            case "GROUPREF_EXISTS":
                for part in filter(None, arg[1:]):
                    yield from _leaves(part, flags)


class _Builder:
    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._flags = int(tree.state.flags)
        self._made = Automaton(alphabet=Alphabet(tuple(_leaves(tree, self._flags))))
        self._alphabet = self._made.alphabet
        self._groups: dict[int, tuple[Any, int]] = {}
        self._loops = 0
        self._atomics: tuple[int, ...] = ()
        self._atomic_count = 0

    def build(self) -> Automaton:
        self._made.start = self._node()
        self._made.final = self._sequence(self._tree, self._made.start, self._flags)
        return self._made

    def _node(self) -> int:
        self._made.edges.append([])
        if len(self._made.edges) > MOST_LEAVES * 4:
            raise TooLargeError("too many states")
        return len(self._made.edges) - 1

    def _way(self, start: int, end: int, **how: Any) -> None:
        self._made.edges[start].append(Edge(end, **how))

    def _sequence(self, tree: Iterable[Any], start: int, flags: int) -> int:
        for op, arg in tree:
            start = self._item(op, arg, start, flags)
        return start

    def _item(  # noqa: C901, PLR0912 - one case for each kind of item that `re` knows
        self, op: Any, arg: Any, start: int, flags: int
    ) -> int:
        match str(op):
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._leaf(Leaf((op, arg), flags), start)
            case "BRANCH":
                return self._branch(arg[1], start, flags)
            case "SUBPATTERN":
                group, more, less, inner = arg
                flags = (flags | more) & ~less
                if group is not None:
                    self._groups[group] = (inner, flags)
                return self._sequence(inner, start, flags)
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(arg, start, flags)
            case "POSSESSIVE_REPEAT":
                return self._atomic([(parser.MAX_REPEAT, arg)], start, flags)
            case "ATOMIC_GROUP":
                return self._atomic(arg, start, flags)
            case "AT":
                return self._condition(self._at(str(arg), flags), start)
            case "ASSERT" | "ASSERT_NOT":
                return self._look(str(op) == "ASSERT_NOT", arg, start, flags)
            case "GROUPREF":
                inner, inner_flags = self._groups[arg]
                return self._sequence(inner, start, inner_flags)
            case "GROUPREF_EXISTS":
                parts = [part if part is not None else [] for part in arg[1:]]
                return self._branch(parts, start, flags)
            case "FAILURE":
                return self._node()
            case _:
                raise ValueError(f"the pattern check does not know {op}")

    def _leaf(self, leaf: Leaf, start: int) -> int:
        reading, after = self._node(), self._node()
        self._way(start, reading)
        self._made.reads[reading] = leaf
        self._made.after[reading] = after
        self._made.atomic[reading] = self._atomics
        if len(self._made.reads) > MOST_LEAVES:
            raise TooLargeError("too many states")
        return after

    def _branch(self, parts: Iterable[Any], start: int, flags: int) -> int:
        end = self._node()
        for part in parts:
            begin = self._node()
            self._way(start, begin)
            self._way(self._sequence(part, begin, flags), end)
        return end

    def _atomic(self, tree: Any, start: int, flags: int) -> int:
        self._atomic_count += 1
        number, outer = self._atomic_count, self._atomics
        self._atomics = (*outer, number)
        inner = self._sequence(tree, start, flags)
        self._atomics = outer
        end = self._node()
        self._way(inner, end, leaves_atomic=number)
        return end

    def _repeat(self, arg: Any, start: int, flags: int) -> int:
        least, most, body = int(arg[0]), int(arg[1]), arg[2]
        size = max(sum(1 for _ in _leaves(body, flags)), 1)
        copies = least if least * size <= MOST_COPIES or least == 1 else 1
        if copies < least:
            start = self._loop(body, start, flags, least - copies)
        for _ in range(copies):
            start = self._sequence(body, start, flags)
        if most >= _UNBOUNDED:
            return self._loop(body, start, flags, None)
        if (most - least) * size <= MOST_OPTIONAL or most - least == 1:
            return self._optional(body, start, flags, most - least)
        return self._loop(body, start, flags, most - least)

    def _optional(self, body: Any, start: int, flags: int, times: int) -> int:
        end = self._node()
        for _ in range(times):
            self._way(start, end)
            start = self._sequence(body, start, flags)
        self._way(start, end)
        return end

    def _loop(self, body: Any, start: int, flags: int, bound: int | None) -> int:
        self._loops += 1
        loop = Loop(self._loops, bound)
        turn, begin, end = self._node(), self._node(), self._node()
        self._way(start, turn)
        self._way(turn, begin, iterates=loop)
        self._way(self._sequence(body, begin, flags), turn)
        self._way(turn, end)
        return end

    def _condition(self, allowed: tuple[tuple[int, int], ...], start: int) -> int:
        end = self._node()
        self._way(start, end, allowed=allowed)
        return end

    def _at(self, name: str, flags: int) -> tuple[tuple[int, int], ...]:
        letters = self._alphabet
        everything, word = letters.any | letters.edge, letters.word
        line = letters.line | letters.edge
        multi = bool(flags & re.MULTILINE)
        match name:
            case "AT_BEGINNING":
                return ((line if multi else letters.edge, everything),)
            case "AT_BEGINNING_STRING":
                return ((letters.edge, everything),)
            case "AT_END":
                return ((everything, line if multi else letters.edge),)
            case "AT_END_STRING":
                return ((everything, letters.edge),)
            case "AT_BOUNDARY":
                return ((word, everything & ~word), (everything & ~word, word))
            case "AT_NON_BOUNDARY":
                return ((word, word), (everything & ~word, everything & ~word))
        raise ValueError(f"the pattern check does not know {name}")

    def _look(self, negative: bool, arg: Any, start: int, flags: int) -> int:
        behind, body = arg[0] < 0, arg[1]
        everything = self._alphabet.any | self._alphabet.edge
        wide = self._one_wide(body, flags, behind=behind)
        if wide is not None:
            chars = everything & ~wide if negative else wide
            return self._condition(((chars, everything) if behind else (everything, chars),), start)
        if not behind:
            begin = self._node()
            self._way(start, begin)
            self._sequence(body, begin, flags)
        return start

    def _one_wide(self, tree: Any, flags: int, *, behind: bool) -> int | None:
        """The characters next to a place that a look asks for, if it asks for no more than one."""
        items = list(tree)
        if len(items) != 1:
            return None
        op, arg = items[0]
        match str(op):
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._alphabet.mask(Leaf((op, arg), flags))
            case "SUBPATTERN":
                return self._one_wide(arg[3], (flags | arg[1]) & ~arg[2], behind=behind)
            case "BRANCH":
                parts = [self._one_wide(part, flags, behind=behind) for part in arg[1]]
                known = [part for part in parts if part is not None]
                return _union(known) if len(known) == len(parts) else None
            case "AT":
                place = 0 if behind else 1
                if str(arg) in ("AT_BOUNDARY", "AT_NON_BOUNDARY"):
                    return None
                return self._at(str(arg), flags)[0][place]
        return None


def _union(masks: Iterable[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole
