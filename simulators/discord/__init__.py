"""A local Discord: REST and gateway, for the unchanged discord.py. See `DiscordSimulator`."""

from simulators.discord.requests import RateLimit
from simulators.discord.simulator import DiscordSimulator

__all__ = ["DiscordSimulator", "RateLimit"]
