"""What one process of several does."""

from typing import Literal

Role = Literal["all", "adapter", "worker"]
"""`adapter` holds platforms' connections and sends, `worker` answers, `all` does both."""
