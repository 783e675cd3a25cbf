"""Attacks that are known to get through, each with the number of the finding that mends it.

A test of an attack in this table has to fail: once the attack gets through no longer, its line
goes.
A key is the id of a row, or the id with a platform in brackets where only that platform fails.
"""

from collections.abc import Mapping
from typing import Final

AWAITING: Final[Mapping[str, int]] = {}
