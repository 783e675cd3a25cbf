"""The time limits of one call of a model."""

from typing import Final

from msgspec import Struct

FIRST_TOKEN_SECONDS: Final = 300.0
"""A local model reads a prompt of some thousand tokens for a minute or more, and may have to be
loaded before."""
BETWEEN_TOKENS_SECONDS: Final = 120.0
"""Some local servers send the arguments of a tool call only when they are complete."""


class TimeLimits(Struct, frozen=True):
    """Seconds until anything of an answer arrives, and between two things that arrive."""

    first_token: float = FIRST_TOKEN_SECONDS
    between_tokens: float = BETWEEN_TOKENS_SECONDS
