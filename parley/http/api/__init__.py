"""The HTTP API of memory."""

from typing import Final

PREFIX: Final = "/api/v1"
"""The path below which the API is served."""
