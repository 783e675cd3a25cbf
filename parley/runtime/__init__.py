"""Runs the program: start and stop, health, background work, and processes that share the work."""

from typing import Literal

Role = Literal["all", "adapter", "worker"]
"""`adapter` keeps the platforms' connections and sends, `worker` answers, `all` does both."""
