"""How many tokens a text has, estimated: no tokenizer of today's models is public.

The estimate counts bytes by kind, which is fast (one pass in C) and tells the scripts apart: in
UTF-8 the first byte of a character says how long it is. Measured ratios of published tokenizers
lie around the figures below; what is left of the error `calibration.py` takes out, from the usage
that every answer reports.
"""

from collections.abc import Callable, Iterable, Sequence
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

LEAST_RATIO: Final = 0.5
MOST_RATIO: Final = 3.0
MOST_CONSTANT: Final = 2_000.0
SMALLEST: Final = 50
"""Tokens of a prompt that says anything about the ratio."""
NOISE: Final = 0.01
"""How far a count is off by itself: the mix of words is not the same in every prompt."""
ALWAYS: Final = 32
"""So many samples are all learned from, afterwards one in as many: the rest says nothing new."""
AGEING: Final = 1.1
"""By which what another process wrote is less sure each time that it is taken over."""

_UNSURE: Final = (0.2**2, 0.3**2, 0.3**2, 0.5**2, 300.0**2)
"""Variances of the four ratios and the constant, before anything was seen."""
_DRIFT: Final = tuple(variance / 1_000 for variance in _UNSURE)
"""The growth of each with every sample, so that it never stops to learn."""


def _independent(variances: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """The covariance of figures that tell nothing about each other."""
    return tuple(
        tuple(variance if row == column else 0.0 for column in range(len(variances)))
        for row, variance in enumerate(variances)
    )


_FIRST: Final = _independent(_UNSURE)

Scripts = tuple[float, float, float, float]
"""Tokens by script, estimated: Latin letters with digits and signs; scripts of two bytes (Cyrillic,
Greek, Arabic, Hebrew); of three (Chinese, Japanese, Korean, India's); of four (emoji)."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The ratio of counted to estimated tokens, by script. `constant` is in tokens a prompt."""

    latin: float = 1.0
    two: float = 1.0
    three: float = 1.0
    four: float = 1.0
    constant: float = 0.0
    covariance: tuple[tuple[float, ...], ...] = _FIRST
    samples: int = 0

    @property
    def figures(self) -> tuple[float, float, float, float, float]:
        """The four ratios and the constant."""
        return self.latin, self.two, self.three, self.four, self.constant

    @property
    def learns(self) -> bool:
        """True where the next sample is worth learning from."""
        return self.samples < ALWAYS or self.samples % ALWAYS == 0

    def passed_over(self) -> "Calibration":
        """One more sample, which is not learned from."""
        known = self.latin, self.two, self.three, self.four, self.constant, self.covariance
        return Calibration(*known, self.samples + 1)

    def predict(self, scripts: Scripts, frames: int) -> float:
        """Tokens of a prompt: its text by script, and `frames` that are no text."""
        latin, two, three, four = scripts
        text = latin * self.latin + two * self.two + three * self.three + four * self.four
        return text + frames + self.constant

    def beside(self, other: "Calibration") -> "Calibration":
        """This and what another process learned meanwhile: each figure from whoever is surer of it.

        The other's was written earlier and counts as older, so that what held once cannot stay for
        ever.
        """
        unsure = [row[place] for place, row in enumerate(self.covariance)]
        older = [row[place] * AGEING for place, row in enumerate(other.covariance)]
        better = [that < this for this, that in zip(unsure, older, strict=True)]
        if not any(better):
            return self
        latin, two, three, four, constant = (
            there if take else here
            for here, there, take in zip(self.figures, other.figures, better, strict=True)
        )
        covariance = _independent(list(map(min, unsure, older)))
        samples = max(self.samples, other.samples)
        return Calibration(latin, two, three, four, constant, covariance, samples)

    def observe(self, scripts: Scripts, frames: int, counted: int) -> "Calibration":
        """Learn from one prompt. The ratios stay within 0.5 to 3."""
        if sum(scripts) + frames < SMALLEST or counted <= 0:
            return self
        explained = (*scripts, 1.0)
        spread = [
            sum(each * x for each, x in zip(row, explained, strict=True)) for row in self.covariance
        ]
        whole = sum(each * x for each, x in zip(spread, explained, strict=True))
        whole += (NOISE * counted) ** 2 + 1.0
        error = counted - self.predict(scripts, frames)
        steps = [each / whole * error for each in spread]
        return Calibration(
            _ratio(self.latin + steps[0]),
            _ratio(self.two + steps[1]),
            _ratio(self.three + steps[2]),
            _ratio(self.four + steps[3]),
            min(MOST_CONSTANT, max(0.0, self.constant + steps[4])),
            _narrowed(self.covariance, spread, whole),
            self.samples + 1,
        )


def _narrowed(
    covariance: Sequence[Sequence[float]], spread: Sequence[float], whole: float
) -> tuple[tuple[float, ...], ...]:
    """How uncertain the figures still are after a sample, and a little more for the time since."""
    return tuple(
        tuple(
            max(_DRIFT[row], value - spread[row] * spread[column] / whole) + _DRIFT[row]
            if row == column
            else value - spread[row] * spread[column] / whole
            for column, value in enumerate(values)
        )
        for row, values in enumerate(covariance)
    )


def _ratio(value: float) -> float:
    return min(MOST_RATIO, max(LEAST_RATIO, value))


EXACT: Final = Calibration()


IMAGE_TOKENS = 1_600
"""A picture at the size that services scale it down to (1,568 pixels: width x height / 750)."""

MESSAGE_TOKENS = 4
BLOCK_TOKENS = 2
TOOL_TOKENS = 20
"""Tokens of the frame around a message, a block and a tool."""

MAX_TOLD: Final = 1_000
"""Tools whose text is remembered: they are the same in every turn."""
MAX_WEIGHED: Final = 4_000
"""Short texts whose weight is remembered: a message is weighed a dozen times while it is shown."""
MAX_COUNTERS: Final = 2
"""Calibrations with which weights are remembered: each keeps texts of its own."""
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
    """Tokens of `text`; 0 for an empty one, at least 1 otherwise."""
    if not text:
        return 0
    if len(text) > SHORT:
        return _counted(by_script(text), calibration)
    return _exact(text) if calibration is EXACT else _counted(_remembered(text), calibration)


@lru_cache(MAX_COUNTERS)
def counter(calibration: Calibration) -> Callable[[str], int]:
    """`estimate` with this calibration, for one that stays a while: it remembers short texts."""
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
    """Tokens of `text` by script, before anything was learned."""
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
    """The calibration after a prompt for which a service counted so many tokens."""
    if not calibration.learns:
        return calibration.passed_over()
    texts, frames = [system], 0
    for tool in tools:
        texts.append(tool_text(tool))
        frames += TOOL_TOKENS
    for message in messages:
        frames += MESSAGE_TOKENS
        for block in message.content:
            text, frame = _text_and_frame(block)
            texts.append(text)
            frames += frame + BLOCK_TOKENS
    return calibration.observe(by_script("".join(texts)), frames, counted)


def estimate_block(block: ContentBlock, calibration: Calibration = EXACT) -> int:
    """Tokens of one block with its frame."""
    text, frame = _text_and_frame(block)
    return estimate(text, calibration) + frame + BLOCK_TOKENS


def _text_and_frame(block: ContentBlock) -> tuple[str, int]:
    """The text of a block, and the tokens of the part that is not text."""
    match block:
        case TextBlock():
            return block.text, 0
        case ImageBlock():
            return "", IMAGE_TOKENS
        case ToolCall():
            return block.name + block.arguments, TOOL_TOKENS
        case ToolOutcome():
            return block.content, TOOL_TOKENS
        case OpaqueBlock():
            return block.data, 0


def estimate_messages(messages: Iterable[ModelMessage], calibration: Calibration = EXACT) -> int:
    """Tokens of a conversation with its frames."""
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
    """Tokens of the tools' names, descriptions and schemas."""
    if calibration is EXACT:
        return sum(map(_exact_tool, tools))
    return sum(TOOL_TOKENS + _counted(_tool_scripts(tool), calibration) for tool in tools)


@lru_cache(MAX_TOLD)
def _exact_tool(tool: ToolSpec) -> int:
    return TOOL_TOKENS + _counted(_tool_scripts(tool), EXACT)


@lru_cache(MAX_TOLD)
def _tool_scripts(tool: ToolSpec) -> Scripts:
    return by_script(tool_text(tool))


@lru_cache(MAX_TOLD)
def tool_text(tool: ToolSpec) -> str:
    """A tool as the model reads it, for counting."""
    return f"{tool.name}{tool.description}{tool.schema}"
