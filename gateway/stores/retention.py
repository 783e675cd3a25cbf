"""Retention of hot state, the same in every store."""

from datetime import timedelta
from typing import Final

KEEP_RECEIPTS: Final = timedelta(hours=24)
"""How long a send's key is kept without its text, to recognise repetitions."""
KEEP_DEAD: Final = timedelta(days=30)
"""How long a send that was given up is kept with its text, so that an operator can send it again.
"""
KEEP_OPEN: Final = timedelta(days=60)
"""How long events and sends are kept whose account is no longer configured."""
