"""A local Anthropic that speaks the Messages API to the real client library."""

from simulators.anthropic.answers import (
    Answer,
    Page,
    Reply,
    UseTool,
    WebUse,
    echo,
    last_user_text,
    text_of,
)
from simulators.anthropic.server import MODELS, AnthropicSimulator, RecordedRequest

__all__ = [
    "MODELS",
    "Answer",
    "AnthropicSimulator",
    "Page",
    "RecordedRequest",
    "Reply",
    "UseTool",
    "WebUse",
    "echo",
    "last_user_text",
    "text_of",
]
