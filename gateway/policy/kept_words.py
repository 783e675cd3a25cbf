"""What of a text is kept as a conversation's history: everything but its secrets.

The model reads the turn it is asked in as it was written; what is stored, and so every later turn,
backup and export, holds no password and no key.
"""

from gateway.message import MAX_CONTENT
from safety.secrets import redact_secrets


def kept_words(text: str) -> str:
    """The text without definite and probable secrets, on at most `MAX_CONTENT` characters."""
    return redact_secrets(text[:MAX_CONTENT]).text[:MAX_CONTENT]
