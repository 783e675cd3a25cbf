"""Estimates the tokens of a text, because no tokenizer of current models is public.

The estimate counts bytes by kind, in one fast pass in C, and distinguishes scripts: in UTF-8 the
first byte of a character shows its length. The figures below are close to measured ratios of
published tokenizers; `calibration.py` corrects the remaining error with the usage of every answer.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from gateway.immutable import replace
from gateway.llm.calibration import EXACT, Calibration, Scripts
from gateway.ports import (
    ContentBlock,
    DocumentBlock,
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
"""The tokens of the frame around a message, a block and a tool."""
CLEAR: Final = 0.2
"""The least share of the tools in a prompt whose count tells whether it has them."""
MAX_CACHED_TOOLS: Final = 1_000
"""Tools with a cached text: they are the same in every turn."""
MAX_WEIGHED: Final = 4_000
"""Short texts with a cached estimate: a message is estimated a dozen times while it is shown."""
MAX_COUNTERS: Final = 2
"""Calibrations with cached estimates; each has its own texts."""
SHORT: Final = 1_000
"""Characters of a text that is short in this sense."""
_LETTERS: Final = bytes(range(ord("a"), ord("z") + 1)) + bytes(range(ord("A"), ord("Z") + 1)) + b" "
_TWO: Final = bytes(range(0xC0, 0xE0))
_THREE: Final = bytes(range(0xE0, 0xF0))
_FOUR: Final = bytes(range(0xF0, 0x100))
_PER_LETTER: Final = 0.27
_PER_SIGN: Final = 0.5  # digits, punctuation, line breaks: most are tokens of one or two characters
_PER_TWO: Final = 0.55  # Cyrillic, Greek, Arabic, Hebrew, accents
_PER_THREE: Final = 1.1  # Chinese, Japanese, Korean, the scripts of India, most symbols
_PER_FOUR: Final = 2.5  # emoji


def estimate(text: str, calibration: Calibration = EXACT) -> int:
    """Return the tokens of `text`; 0 for an empty one, at least 1 otherwise."""
    if not text:
        return 0
    if len(text) > SHORT:
        return _counted(by_script(text), calibration)
    return _exact(text) if calibration is EXACT else _counted(_remembered(text), calibration)


@lru_cache(MAX_COUNTERS)
def counter(calibration: Calibration) -> Callable[[str], int]:
    """Return `estimate` with this calibration, and a cache for short texts."""
    if calibration is EXACT:
        return estimate

    @lru_cache(MAX_WEIGHED)
    def weighed(text: str) -> int:
        return estimate(text, calibration)

    def count(text: str) -> int:
        return weighed(text) if len(text) <= SHORT else estimate(text, calibration)

    return count


def _counted(scripts: Scripts, calibration: Calibration) -> int:
    latin, two, three, four = scripts
    tokens = latin * calibration.latin
    if two or three or four:
        tokens += two * calibration.two + three * calibration.three + four * calibration.four
    return round(tokens) or 1


def by_script(text: str) -> Scripts:
    """Return the tokens of `text` by script, without calibration."""
    data = text.encode("utf-8", "surrogatepass")
    total = len(data)
    rest = len(data.translate(None, _LETTERS))
    letters = (total - rest) * _PER_LETTER
    if text.isascii():
        return letters + rest * _PER_SIGN, 0.0, 0.0, 0.0
    two, three, four = (total - len(data.translate(None, kind)) for kind in (_TWO, _THREE, _FOUR))
    signs = rest - two * 2 - three * 3 - four * 4
    latin = letters + signs * _PER_SIGN
    return latin, two * _PER_TWO, three * _PER_THREE, four * _PER_FOUR


@lru_cache(MAX_WEIGHED)
def _exact(text: str) -> int:
    return _counted(by_script(text), EXACT)


@lru_cache(MAX_WEIGHED)
def _remembered(text: str) -> Scripts:
    return by_script(text)


def learned(
    calibration: Calibration,
    system: str,
    tools: Iterable[ToolSpec],
    messages: Iterable[ModelMessage],
    counted: int,
) -> Calibration:
    """Return the calibration after a prompt with this count of its service."""
    if not calibration.learns:
        return calibration.passed_over()
    tools, messages = tuple(tools), tuple(messages)
    calibration = _with_or_without_tools(calibration, system, tools, messages, counted)
    texts, frames = [system], 0
    for tool in tools if calibration.counts_tools else ():
        texts.append(tool_text(tool))
        frames += TOOL_TOKENS
    for message in messages:
        frames += MESSAGE_TOKENS
        for block in message.content:
            text, frame = _text_and_frame(block)
            texts.append(text)
            frames += frame + BLOCK_TOKENS
    return calibration.observe(by_script("".join(texts)), frames, counted)


def _with_or_without_tools(
    calibration: Calibration,
    system: str,
    tools: tuple[ToolSpec, ...],
    messages: tuple[ModelMessage, ...],
    counted: int,
) -> Calibration:
    """Return the calibration with what a count says about the tools: the templates of some models
    leave them out."""
    whole = replace(calibration, counts_tools=True)
    size = estimate_tools(tools, whole)
    rest = estimate(system, whole) + estimate_messages(messages, whole) + round(whole.constant)
    if size < CLEAR * rest:
        return calibration
    return replace(calibration, counts_tools=abs(counted - rest - size) <= abs(counted - rest))


def estimate_block(block: ContentBlock, calibration: Calibration = EXACT) -> int:
    """Return the tokens of one block with its frame."""
    text, frame = _text_and_frame(block)
    return estimate(text, calibration) + frame + BLOCK_TOKENS


def _text_and_frame(block: ContentBlock) -> tuple[str, int]:
    """Return the text of a block, and the tokens of its other content."""
    match block:
        case TextBlock():
            return block.text, 0
        case ImageBlock():
            return "", IMAGE_TOKENS
        case DocumentBlock(pages=pages):
            return "", IMAGE_TOKENS * pages
        case ToolCall():
            return block.name + block.arguments, TOOL_TOKENS
        case ToolOutcome():
            return block.content, TOOL_TOKENS
        case OpaqueBlock():
            return block.data, 0


def estimate_messages(messages: Iterable[ModelMessage], calibration: Calibration = EXACT) -> int:
    """Return the tokens of a conversation with its frames."""
    tokens = 0
    for message in messages:
        tokens += MESSAGE_TOKENS
        for block in message.content:
            if isinstance(block, TextBlock):  # nearly all of them
                tokens += estimate(block.text, calibration) + BLOCK_TOKENS
            else:
                tokens += estimate_block(block, calibration)
    return tokens


def estimate_tools(tools: Iterable[ToolSpec], calibration: Calibration = EXACT) -> int:
    """Return the tokens of the tools' names, descriptions and schemas."""
    if calibration is EXACT:
        return sum(map(_exact_tool, tools))
    if not calibration.counts_tools:
        return 0
    return sum(TOOL_TOKENS + _counted(_tool_scripts(tool), calibration) for tool in tools)


@lru_cache(MAX_CACHED_TOOLS)
def _exact_tool(tool: ToolSpec) -> int:
    return TOOL_TOKENS + _counted(_tool_scripts(tool), EXACT)


@lru_cache(MAX_CACHED_TOOLS)
def _tool_scripts(tool: ToolSpec) -> Scripts:
    return by_script(tool_text(tool))


@lru_cache(MAX_CACHED_TOOLS)
def tool_text(tool: ToolSpec) -> str:
    """Return a tool as the model reads it, for counting."""
    return f"{tool.name}{tool.description}{tool.schema}"
