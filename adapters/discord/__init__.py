"""Discord, through discord.py. `parse` needs no library and is offered here."""

from adapters.discord.parse import parse

__all__ = ["parse"]
