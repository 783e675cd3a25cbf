"""Bounds of what is read and written on every platform; a platform's own limits stand in its
adapter's `render.py`.

A *unit* is a UTF-16 code unit: never fewer than the code points that some platforms count, so a
text that fits in units fits everywhere.
"""

from typing import Final

MAX_SOURCE: Final = 200_000
"""Characters that are read as Markdown; a longer text is shown literally, so that no input can
make parsing slow. Ours."""
MAX_BRACKETS: Final = 4_000
"""Opening brackets up to which links are parsed: each one costs the parser a look ahead. Ours."""
MAX_CONTAINERS: Final = 20
"""Levels of quotes and lists that are read as such (a list counts two); deeper ones stay text.
Ours: the parser calls itself for each of them."""
MAX_FILLED_CELLS: Final = 1_000
"""Empty cells that the rows of all tables in a text may get for those they lack; two characters
can ask for a whole row of them. Ours."""

PLAIN_MESSAGE: Final = 2_000
"""Units of a part for a platform without a renderer: the smallest limit of those we know."""

COLUMN_WIDTH: Final = 40
"""Columns of an aligned table are padded up to this width; longer cells stick out. Ours."""
