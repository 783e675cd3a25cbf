"""The chart of the demo's MCP server."""

import zlib

from gateway.message import image_mime
from parley.demo.chart_server import bar_chart


def test_the_chart_is_a_picture_with_a_bar_for_each_value() -> None:
    data = bar_chart([1.0, 2.0])

    assert image_mime(data) == "image/png"
    width, height = (int.from_bytes(data[at : at + 4]) for at in (16, 20))
    assert (width, height) == (2 * 48 + 16, 160)
    packed = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    rows = zlib.decompress(packed)
    line = 1 + 3 * width
    assert len(rows) == height * line
    middle = rows[height // 2 * line + 1 : (height // 2 + 1) * line]
    blue = [middle[3 * x : 3 * x + 3] == b"\x33\x66\xcc" for x in range(width)]
    assert (blue[32], blue[80]) == (False, True)


def test_a_chart_without_values_is_a_picture() -> None:
    assert image_mime(bar_chart([])) == "image/png"
