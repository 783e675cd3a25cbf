"""Bounded values for metric labels: few of them, and never an id or a person's text."""

import re
from collections.abc import Iterable
from typing import Final

OTHER: Final = "other"
CODE: Final = re.compile(r"[a-z][a-z_]{0,39}")
"""A reason code or a stage: no digits, so that no id matches."""
TYPE: Final = re.compile(r"[A-Za-z]{1,40}")
"""The name of an error."""
MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,79}")
MAX_CODES: Final = 64
MAX_MODELS: Final = 20


class Label:
    """The values of one label. `known` ones always pass; of others the first `most` that match
    `pattern`; any other one becomes "other"."""

    def __init__(
        self, known: Iterable[str] = (), *, pattern: re.Pattern[str] = CODE, most: int = 0
    ) -> None:
        self._values = set(known)
        self._room = most
        self._pattern = pattern

    def of(self, value: str) -> str:
        """Return `value`, or "other"."""
        if value in self._values:
            return value
        if self._room > 0 and self._pattern.fullmatch(value):
            self._values.add(value)
            self._room -= 1
            return value
        return OTHER
