"""Fuzz targets for texts of a model that are rendered for each platform."""

import json
from collections.abc import Callable
from typing import Final

from gateway.markdown.parse import parse
from gateway.markdown.split import units
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.unfinished import close_unfinished
from gateway.people import Audience
from gateway.policy.response_filter import StreamFilter, filter_response
from gateway.render import render
from tests.fuzz.target import Target, on_text

PLATFORMS: Final = ("discord", "slack", "telegram", "whatsapp", "web", "plain")
LIMITS: Final = {"discord": 2000, "telegram": 4096, "whatsapp": 4096, "plain": 2000}
SEEDS: Final = (
    "# a\n\n**b** *c* ~~d~~ ||e|| `f`\n\n> g\n> - h\n\n1. i\n   - [ ] j\n",
    "```py\nprint(1)\n```\n\n| a | b |\n|---|---|\n| c | d |\n",
    "[x](http://e.org/a_b) <http://e.org> ![y](http://e.org/p.png)\n[r]: http://r.org\n",
    "_;_;**_**`<@1>` @everyone &amp; <b> \\* |",
)
STREAMED: Final = (
    "my password: 'x' and AKIAIOSFODNN7EXAMPLE",
    "Bearer abc postgres://u:p@h/db ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
)


def _rendered(platform: str) -> Callable[[str], None]:
    def run(text: str) -> None:
        parts = render(text, platform)
        for part in parts:
            assert part.text.strip()
            json.dumps(part.payload)
            limit = LIMITS.get(platform)
            if limit is not None:
                assert isinstance(part.payload, str)
                assert units(part.payload) <= limit
                assert len(part.payload) <= limit

    return run


def _streamed(text: str) -> None:
    """However a text is divided, no piece is released that the whole text may not contain."""
    text, size = text[:400], 1 + len(text) % 7
    reader = StreamFilter(Audience.PUBLIC_ROOM)
    released = [reader.feed(text[at : at + size]) for at in range(0, len(text), size)]
    output = "".join((*released, reader.finish()))
    assert text.startswith(output)
    assert not filter_response(output, Audience.PUBLIC_ROOM).blocked


TARGETS: Final[tuple[Target, ...]] = (
    *(on_text(f"render-{name}", _rendered(name), *SEEDS) for name in PLATFORMS if name != "plain"),
    on_text("render-plain", lambda text: PLAIN.document(parse(text)), *SEEDS),
    on_text("heal", close_unfinished, *SEEDS),
    on_text("stream-filter", _streamed, *STREAMED),
)
