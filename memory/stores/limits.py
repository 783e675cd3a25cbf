"""How much these stores keep; the ports' docstrings name the same numbers."""

from datetime import timedelta
from typing import Final

MAX_LINKED: Final = 10
"""Identities that are one person."""
MAX_PROJECTS: Final = 100
"""Projects that are remembered of an identity; beyond that the one seen longest ago goes."""
MAX_TITLE: Final = 200
IDLE: Final = timedelta(minutes=30)
"""After so long without a turn a session is over."""
NOTED: Final = timedelta(minutes=1)
"""To within this it is known when a session was last used, so that not every turn writes it."""
MAX_WAITING: Final = 100
"""Reviews that wait for one person's word."""
MAX_WAITING_IN_ALL: Final = 10_000
MAX_HISTORY: Final = 10_000
"""Decided reviews that are kept in all; beyond that the oldest go."""
MAX_VERSIONS: Final = 200
"""Versions of a document that are kept; beyond that the oldest go."""
