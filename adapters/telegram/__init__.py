"""Telegram, through python-telegram-bot. `parse` needs no library and is offered here."""

from adapters.telegram.parse import parse

__all__ = ["parse"]
