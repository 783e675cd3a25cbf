"""How long what moves is kept, in every store alike."""

from datetime import timedelta
from typing import Final

KEEP_RECEIPTS: Final = timedelta(hours=24)
"""That a send was made, without its text: so long its repetition is recognised."""
KEEP_DEAD: Final = timedelta(days=30)
"""A send that was given up, with its text: so long an operator can send it again."""
KEEP_OPEN: Final = timedelta(days=60)
"""An event that nobody could answer, or an answer that nobody could send, because its account is no
longer configured: nobody waits for it after that."""
