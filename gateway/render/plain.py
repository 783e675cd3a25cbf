"""Text without any markup: the fallback of every part, and unknown platforms."""

from gateway.render.layout import TextRenderer

PLAIN = TextRenderer()
