"""Pages of a long list, with their labels and buttons. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

PAGE: Final = 10


@dataclass(frozen=True, slots=True)
class PageButton:
    """A choice of another page; `number` counts from 1."""

    label: str
    number: int


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page. `items` are its entries, `first` is the number of the first one, from 1; an empty
    list has one empty page."""

    items: tuple[T, ...]
    number: int
    first: int
    total: int
    size: int

    @property
    def pages(self) -> int:
        """The number of pages, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def label(self) -> str:
        """The label, such as "11-20 of 23", or "3 of 3" for a page with a single item."""
        last = self.first + len(self.items) - 1
        if not self.items:
            return f"0 of {self.total}"
        if self.first == last:
            return f"{last} of {self.total}"
        return f"{self.first}-{last} of {self.total}"

    def turnings(self, room: int) -> tuple[PageButton, ...]:
        """Return at most `room` choices, with labels of at most 20 characters: the previous page
        and the next one. If there is room for one only, it leads from the last page to the
        first."""
        if self.pages == 1 or room < 1:
            return ()
        after, before = self.number % self.pages + 1, self.number - 1
        onward = PageButton(self._named(after, "Next" if after > 1 else "First"), after)
        if room == 1:
            return (onward,)
        back = (PageButton(self._named(before, "Back"), before),) if before else ()
        return (*back, onward) if after > 1 else back

    def _named(self, number: int, word: str) -> str:
        first = (number - 1) * self.size + 1
        last = min(number * self.size, self.total)
        named = f"{word} {first}-{last}"
        return named if len(named) <= 20 else word


def page_of(items: Sequence[T], number: int, size: int = PAGE) -> Page[T]:
    """Return the page with this number; the nearest page for any other number."""
    total = len(items)
    number = min(max(1, number), max(1, -(-total // size)))
    first = (number - 1) * size
    return Page(tuple(items[first : first + size]), number, first + 1, total, size)
