"""Telegram's Bot API on loopback, for tests and for the demo."""

from simulators.telegram.simulator import TelegramSimulator

__all__ = ["TelegramSimulator"]
