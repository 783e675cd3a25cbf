"""The MCP server of the demo: a program with one tool, which draws a chart.

The program starts it by its path, so it imports nothing of the product.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from mcp.server.mcpserver import Image, MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

SALES: Final = (4.0, 7.0, 5.0, 9.0, 12.0)
MAX_BARS: Final = 12
BAR: Final = 32
GAP: Final = 16
HEIGHT: Final = 160
"""Pixels of a bar and of the space beside it, and of the chart."""
PAPER: Final = b"\xff\xff\xff"
INK: Final = b"\x33\x66\xcc"
LINE: Final = b"\x99\x99\x99"

server = MCPServer("charts")


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def draw_chart(
    values: Annotated[list[float], Field(max_length=MAX_BARS)] = list(SALES),  # noqa: B006 - read only
) -> list[str | Image]:
    """Draws a bar chart of at most 12 values as a picture."""
    return [f"A chart of {len(values)} values.", Image(data=bar_chart(values), format="png")]


def bar_chart(values: Sequence[float]) -> bytes:
    """Return a PNG with a bar for each value."""
    most = max((abs(value) for value in values), default=0.0) or 1.0
    tops = [HEIGHT - round(abs(value) / most * (HEIGHT - GAP)) for value in values]
    return png([_row(tops, y) for y in range(HEIGHT)])


def _row(tops: Sequence[int], y: int) -> bytes:
    if y >= HEIGHT - 2:
        return LINE * (len(tops) * (BAR + GAP) + GAP)
    bars = (INK * BAR + PAPER * GAP if y >= top else PAPER * (BAR + GAP) for top in tops)
    return PAPER * GAP + b"".join(bars)


def png(rows: Sequence[bytes]) -> bytes:
    """Return a picture of these rows, three bytes for each pixel."""
    header = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks: Iterable[tuple[bytes, bytes]] = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    checked = name + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))


if __name__ == "__main__":
    server.run("stdio")
