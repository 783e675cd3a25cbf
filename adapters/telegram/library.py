"""The names of python-telegram-bot that the adapter uses.

The library loads two others for features that Parley does not use: cryptography (9 MB) for
Telegram Passport, and rich with pygments (4 MB) for the command line of httpx.
"""

from gateway.optional_imports import unavailable

with unavailable("cryptography", "pygments", "rich"):
    from telegram import Bot, InputFile
    from telegram.error import (
        BadRequest,
        ChatMigrated,
        Conflict,
        EndPointNotFound,
        Forbidden,
        InvalidToken,
        NetworkError,
        TelegramError,
        TimedOut,
    )
    from telegram.request import BaseRequest, RequestData

__all__ = [
    "BadRequest",
    "BaseRequest",
    "Bot",
    "ChatMigrated",
    "Conflict",
    "EndPointNotFound",
    "Forbidden",
    "InputFile",
    "InvalidToken",
    "NetworkError",
    "RequestData",
    "TelegramError",
    "TimedOut",
]
