"""How many tokens a text has, estimated: no tokenizer of today's models is public.

The estimate counts bytes by kind, which is fast (one pass in C) and tells the scripts apart: in
UTF-8 the first byte of a character says how long it is. Measured ratios of published tokenizers
lie around the figures below; what is left of the error is taken out by `Calibration`, from the
usage that every answer reports.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.ports import (
    ContentBlock,
    ImageBlock,
    ModelMessage,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)

IMAGE_TOKENS = 1_600
"""A picture at the size that services scale it down to (1,568 pixels: width x height / 750)."""

MESSAGE_TOKENS = 4
BLOCK_TOKENS = 2
TOOL_TOKENS = 20
"""What the frame around a message, a block and a tool costs."""

MAX_TOLD: Final = 1_000
"""Tools whose text is remembered: they are the same in every turn."""

_LETTERS: Final = bytes(range(ord("a"), ord("z") + 1)) + bytes(range(ord("A"), ord("Z") + 1)) + b" "
_TWO: Final = bytes(range(0xC0, 0xE0))
_THREE: Final = bytes(range(0xE0, 0xF0))
_FOUR: Final = bytes(range(0xF0, 0x100))

_PER_LETTER: Final = 0.27
_PER_SIGN: Final = 0.5  # digits, punctuation, line breaks: most are tokens of one or two characters
_PER_TWO: Final = 0.55  # Cyrillic, Greek, Arabic, Hebrew, accents
_PER_THREE: Final = 1.1  # Chinese, Japanese, Korean, the scripts of India, most symbols
_PER_FOUR: Final = 2.5  # emoji


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far the estimates for a model are off: what was counted, over what was estimated."""

    ratio: float = 1.0
    samples: int = 0

    def observe(self, estimated: int, counted: int) -> "Calibration":
        """Learn from one answer; the first ones weigh most. The ratio stays within 0.5 to 3."""
        if estimated < 50 or counted <= 0:
            return self
        seen = min(3.0, max(0.5, self.ratio * counted / estimated))
        weight = max(0.1, 1 / (self.samples + 1))
        return Calibration(self.ratio + (seen - self.ratio) * weight, min(self.samples + 1, 1000))


EXACT: Final = Calibration()


def estimate(text: str, calibration: Calibration = EXACT) -> int:
    """Tokens of `text`; 0 for an empty one, at least 1 otherwise."""
    if not text:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    total = len(data)
    rest = len(data.translate(None, _LETTERS))
    tokens = (total - rest) * _PER_LETTER
    if text.isascii():
        tokens += rest * _PER_SIGN
    else:
        two, three, four = (
            total - len(data.translate(None, kind)) for kind in (_TWO, _THREE, _FOUR)
        )
        signs = rest - two * 2 - three * 3 - four * 4
        tokens += signs * _PER_SIGN + two * _PER_TWO + three * _PER_THREE + four * _PER_FOUR
    return max(1, round(tokens * calibration.ratio))


def estimate_block(block: ContentBlock, calibration: Calibration = EXACT) -> int:
    """Tokens of one block with its frame."""
    match block:
        case TextBlock():
            size = estimate(block.text, calibration)
        case ImageBlock():
            size = IMAGE_TOKENS
        case ToolCall():
            size = estimate(block.name + block.arguments, calibration) + TOOL_TOKENS
        case ToolOutcome():
            size = estimate(block.content, calibration) + TOOL_TOKENS
        case OpaqueBlock():
            size = estimate(block.data, calibration)
    return size + BLOCK_TOKENS


def estimate_messages(messages: Iterable[ModelMessage], calibration: Calibration = EXACT) -> int:
    """Tokens of a conversation with its frames."""
    return sum(
        MESSAGE_TOKENS + sum(estimate_block(block, calibration) for block in message.content)
        for message in messages
    )


def estimate_tools(tools: Iterable[ToolSpec], calibration: Calibration = EXACT) -> int:
    """Tokens of the tools' names, descriptions and schemas."""
    return sum(TOOL_TOKENS + estimate(_told(tool), calibration) for tool in tools)


@lru_cache(MAX_TOLD)
def _told(tool: ToolSpec) -> str:
    return f"{tool.name}{tool.description}{tool.schema}"
