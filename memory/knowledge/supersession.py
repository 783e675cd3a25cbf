"""References between decision records of one repository."""

import re
from collections.abc import Iterable
from typing import Final

_NUMBER: Final = re.compile(r"(?:adrs?|rfc|dr)?+[-_ #]*+0*+(\d{1,6}+)")


class Supersession:
    """Decision records by the names with which others refer to them.

    `records` are repositories, paths and what the records at these paths say that they replace.
    """

    def __init__(self, records: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
        self._paths: dict[tuple[str, str], str] = {}
        told = []
        for repository, path, replaced in records:
            told += [(repository, path, name) for name in replaced]
            for name in reference_names(path):
                self._paths.setdefault((repository, name), path)
        self._replaced: dict[tuple[str, str], str] = {}
        for repository, path, name in told:
            old = self._path_of(repository, name)
            if old and old != path:
                self._replaced.setdefault((repository, old), path)

    def replaces(self, repository: str, path: str, superseded_by: str) -> str:
        """Return the path of the record that replaces the one at `path`, which itself says
        `superseded_by`; that text if no record has such a name, "" if nothing replaces it."""
        if superseded_by:
            return self._path_of(repository, superseded_by) or superseded_by
        return self._replaced.get((repository, path), "")

    def _path_of(self, repository: str, reference: str) -> str:
        names = reference_names(reference)
        return next((p for n in names if (p := self._paths.get((repository, n)))), "")


def reference_names(reference: str) -> tuple[str, ...]:
    """The names under which a record is found: its file name, and its number without zeros."""
    name = reference.lower().rpartition("/")[2]
    number = _NUMBER.match(name)
    return (name, f"#{number[1]}") if number else (name,)
