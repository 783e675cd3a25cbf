"""From Markdown to what a platform takes: `render(markdown, platform)`."""

from gateway.render.render import render, render_plain

__all__ = ["render", "render_plain"]
