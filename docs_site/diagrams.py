"""Draws Mermaid diagrams as images for a light and a dark page, so that no script is needed."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final

_BLOCK: Final = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING: Final = re.compile(r"^#+ (.*)$", re.MULTILINE)
_THEMES: Final = {"light": "neutral", "dark": "dark"}
_VIEW: Final = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ')
_WIDEST: Final = 900
"""Pixels from which a diagram is drawn from top to bottom instead of from left to right."""
_FOLDER: Final = PurePosixPath("images/diagrams")

Draw = Callable[[str, str], str]
"""Turns the text of a diagram and the name of a theme into SVG."""


def merman() -> Draw | None:
    """The renderer; None on a system for which it has no wheel."""
    try:
        from merman import Merman  # noqa: PLC0415 - of the group `docs`, and not for every system
    except ImportError:
        return None
    client = Merman()

    def draw(text: str, theme: str) -> str:
        options = {"site_config": {"theme": theme, "look": "classic"}}
        drawn = client.render_svg(text, json.dumps(options))
        # The layout measures Arial; a system without it has wider letters.
        return str(drawn).replace("font-size:16px", "font-size:14px")

    return draw


class Drawer:
    """Replaces the diagrams of a page. Without a renderer they stay as they are written."""

    def __init__(self, draw: Draw | None) -> None:
        self._draw = draw

    def with_images(self, page: str, place: PurePosixPath, to: Path) -> str:
        """The page at `place` with an image for each diagram; the images are written below `to`."""
        draw = self._draw
        if draw is None:
            return page

        def image(match: re.Match[str]) -> str:
            titles = _HEADING.findall(page[: match.start()])
            name = hashlib.sha256(match[1].encode()).hexdigest()[:12]
            width = _write(draw, match[1], to / _FOLDER / name)
            return _markdown(titles[-1] if titles else "diagram", name, place, width)

        return _BLOCK.sub(image, page)


def _write(draw: Draw, text: str, file: Path) -> int:
    """Write an image for each theme; return their width in pixels."""
    width = _width(draw(text, _THEMES["light"]))
    if width > _WIDEST:
        text = text.replace("flowchart LR", "flowchart TB", 1)
    file.parent.mkdir(parents=True, exist_ok=True)
    for key, theme in _THEMES.items():
        drawn = draw(text, theme)
        file.with_name(f"{file.name}-{key}.svg").write_text(drawn, "utf-8")
        width = _width(drawn)
    return width


def _width(svg: str) -> int:
    match = _VIEW.search(svg)
    return round(float(match[1])) if match else _WIDEST


def _markdown(title: str, name: str, place: PurePosixPath, width: int) -> str:
    base = os.path.relpath(_FOLDER, place.parent)
    images = (
        f'![Diagram: {title}]({base}/{name}-{key}.svg#only-{key}){{width="{width}"}}'
        for key in _THEMES
    )
    return f"[{''.join(images)}]({base}/{name}-light.svg){{.diagram}}"
