"""Slack: Socket Mode and HTTP events in, Web API out. `parse` is pure and imports no library."""

from adapters.slack.parse import parse

__all__ = ["parse"]
