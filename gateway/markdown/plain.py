"""Text without any markup: the fallback of every part, and unknown platforms."""

from gateway.markdown.text_renderer import TextRenderer

PLAIN = TextRenderer()
