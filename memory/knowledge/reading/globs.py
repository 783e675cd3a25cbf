"""Patterns for paths, matched component by component and never by regular expressions.

`*` stands for any characters of one component, `?` for one character, `[abc]` for one of several,
`**` for any number of components. A pattern without "/" is matched with the name of the file or of
any folder above it. A match takes at most a time proportional to the product of both lengths.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

MAX_PATTERN: Final = 200
"""Characters of a pattern."""
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

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        return tuple(self.pattern.removeprefix("/").removesuffix("/").split("/"))

    @cached_property
    def _of_names(self) -> bool:
        return "/" not in self.pattern

    def matches(self, path: str) -> bool:
        """True if the pattern names the path. `path` has "/" between its components."""
        components = path.split("/")
        if len(components) > MAX_COMPONENTS:
            return False
        if self._of_names:
            return any(_matches_name(self._parts[0], name) for name in components)
        return _matches_parts(self._parts, components)


def matches_any(globs: Sequence[Glob], path: str) -> bool:
    """True if one of the patterns names the path."""
    return any(glob.matches(path) for glob in globs)


def _matches_parts(parts: Sequence[str], components: Sequence[str]) -> bool:
    """Match as for characters, where `**` is the star: after a mismatch only the latest star takes
    one component more."""
    at = place = 0
    star = resume = -1
    while place < len(components):
        if at < len(parts) and parts[at] == MANY:
            star, resume = at, place
            at += 1
        elif at < len(parts) and _matches_name(parts[at], components[place]):
            at += 1
            place += 1
        elif star >= 0:
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    # `docs/**` names what is in the folder, not a file of that name.
    rest = parts[at:]
    return not rest or (all(part == MANY for part in rest) and star < at <= star + 1)


def _matches_name(pattern: str, name: str) -> bool:
    at = place = 0
    star = resume = -1
    while place < len(name):
        width = _width(pattern, at)
        if width and pattern[at] == "*":
            star, resume = at, place
            at += 1
        elif width and _matches_one(pattern[at : at + width], name[place]):
            at += width
            place += 1
        elif star >= 0:
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return not pattern[at:].strip("*")


def _width(pattern: str, at: int) -> int:
    """The number of characters of the item at a place; 0 at the end."""
    if at >= len(pattern):
        return 0
    end = pattern.find("]", at + 2) if pattern[at] == "[" else -1
    return end + 1 - at if end > 0 else 1


def _matches_one(item: str, char: str) -> bool:
    if item == "?":
        return True
    if len(item) == 1:
        return item == char
    inside = item[1:-1]
    negated = inside.startswith("!")
    return _is_listed(inside.removeprefix("!"), char) != negated


def _is_listed(inside: str, char: str) -> bool:
    """True for a character of a list such as `a-z_`."""
    place = 0
    while place < len(inside):
        if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
            if inside[place] <= char <= inside[place + 2]:
                return True
            place += 3
        else:
            if inside[place] == char:
                return True
            place += 1
    return False
