"""Patterns for paths, matched by an automaton and never by regular expressions.

`*` stands for any characters of one component, `?` for one character, `[abc]` for one of several,
`**` for any number of components. A pattern without "/" is matched with the name of the file or of
any folder above it.

A pattern has a state for each of its items, and a match keeps its states as the bits of one number.
So every character of a path costs about the same, whatever the pattern.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

MAX_PATTERN: Final = 200
"""Characters of a pattern."""
MAX_RANGES: Final = 20
"""Ranges in the brackets of a pattern: each costs a comparison for every character."""
MAX_COMPONENTS: Final = 40
"""Components of a path that is matched; a longer one matches nothing."""
MANY: Final = "**"


class BadPattern(ValueError):
    """A pattern that cannot be used. The text says why."""


@dataclass(frozen=True)
class Glob:
    """One pattern. Raises `BadPattern`."""

    pattern: str

    def __post_init__(self) -> None:
        if not self.pattern or len(self.pattern) > MAX_PATTERN:
            raise BadPattern(f"a pattern has 1 to {MAX_PATTERN} characters")
        if not self.pattern.isprintable() or "\\" in self.pattern:
            raise BadPattern('a pattern has no control characters and no "\\"; write "/"')
        parts = self._parts
        if ".." in parts or "" in parts[1:] or parts == ("",):
            raise BadPattern('a pattern has no ".." and no empty component')
        if any(MANY in part and part != MANY for part in parts):
            raise BadPattern('"**" stands alone between two "/"')
        if len(self._automaton.ranges) > MAX_RANGES:
            raise BadPattern(f"a pattern has at most {MAX_RANGES} ranges in brackets")

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        return tuple(self.pattern.removeprefix("/").removesuffix("/").split("/"))

    @cached_property
    def _of_names(self) -> bool:
        return "/" not in self.pattern

    @cached_property
    def _ending(self) -> str:
        """The end of the names that a pattern such as `*.md` matches; "" for other patterns."""
        rest = self.pattern[1:]
        is_ending = self._of_names and self.pattern[0] == "*" and set("*?[").isdisjoint(rest)
        return rest if is_ending else ""

    @cached_property
    def _automaton(self) -> "_Automaton":
        made = _Automaton()
        for item in _items(self._parts):
            made.add(item)
        return made

    def matches(self, path: str) -> bool:
        """True if the pattern names the path. `path` has "/" between its components, and none of
        them is empty."""
        components = path.split("/")
        if len(components) > MAX_COMPONENTS:
            return False
        if self._ending:
            return any(name.endswith(self._ending) for name in components)
        if self._of_names:
            return any(self._automaton.matches(name) for name in components)
        return self._automaton.matches(path)


def matches_any(globs: Sequence[Glob], path: str) -> bool:
    """True if one of the patterns names the path."""
    return any(glob.matches(path) for glob in globs)


@dataclass(slots=True)
class _Automaton:
    """The states of a pattern, as bits of numbers. A character takes a match on

    - from the states of `chars` that have this character, from those of `others` unless it is "/",
      and always from those of `all`,
    - from the states of lists in brackets: `listed` and `ranges` say which contain it, and of the
      states in `negated` those that do not.

    A match remains in the states of `stays` unless the character is "/", and in those of
    `stays_always`. It may leave out the states of `skips`.
    """

    size: int = 0
    chars: dict[str, int] = field(default_factory=dict)
    others: int = 0
    all: int = 0
    listed: dict[str, int] = field(default_factory=dict)
    ranges: list[tuple[str, str, int]] = field(default_factory=list)
    negated: int = 0
    stays: int = 0
    stays_always: int = 0
    skips: int = 0

    def add(self, item: str) -> None:
        """Add the state of the next item of a pattern."""
        state = 1 << self.size
        self.size += 1
        match item:
            case "*":
                self.others |= state
                self.stays |= state
                self.skips |= state
            case "**/":
                self.chars["/"] = self.chars.get("/", 0) | state
                self.stays_always |= state
                self.skips |= state
            case "**":
                self.all |= state
                self.stays_always |= state << 1
            case "?":
                self.others |= state
            case _ if len(item) > 1:
                self._add_list(item[1:-1], state)
            case _:
                self.chars[item] = self.chars.get(item, 0) | state

    def _add_list(self, inside: str, state: int) -> None:
        if inside.startswith("!"):
            self.negated |= state
            inside = inside[1:]
        place = 0
        while place < len(inside):
            if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
                self.ranges.append((inside[place], inside[place + 2], state))
                place += 3
            else:
                self.listed[inside[place]] = self.listed.get(inside[place], 0) | state
                place += 1

    def matches(self, text: str) -> bool:
        """True if the pattern matches the whole text."""
        states = self._entered(1)
        for char in text:
            on, stays = self.all | self.chars.get(char, 0), self.stays_always
            if char != "/":
                on |= self.others | self._of_lists(char)
                stays |= self.stays
            states = self._entered((states & on) << 1) | (states & stays)
            if not states:
                return False
        return bool(states >> self.size & 1)

    def _entered(self, states: int) -> int:
        """With the states behind those that may be left out; at most two follow each other."""
        states |= (states & self.skips) << 1
        return states | (states & self.skips) << 1

    def _of_lists(self, char: str) -> int:
        found = self.listed.get(char, 0)
        for first, last, state in self.ranges:
            if first <= char <= last:
                found |= state
        return found ^ self.negated


def _items(parts: Sequence[str]) -> Iterator[str]:
    """Yield what a pattern consists of: characters, `?`, `*`, lists in brackets; `**/` for any
    number of components, and `**` at the end for at least one."""
    last = len(parts) - 1
    for place, part in enumerate(parts):
        if part == MANY:
            if place == last:
                yield MANY
            elif parts[max(0, place - 1)] != MANY or place == 0:
                yield f"{MANY}/"
            continue
        at = 0
        while at < len(part):
            end = part.find("]", at + 2) + 1 if part[at] == "[" else 0
            end = end or at + 1
            yield part[at:end]
            at = end
        if place < last:
            yield "/"
