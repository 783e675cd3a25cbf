"""Shortening a text so that one sees where, and by how much."""

from typing import Final

NOTE_ROOM: Final = 60
"""Characters that the note about what is missing takes at most."""


def clip(text: str, limit: int) -> str:
    """`text` in at most `limit` characters (from 100 on): its beginning, a note, and its end.

    What cannot be sent as UTF-8 (half a surrogate pair) becomes a question mark, always.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= limit:
        return text
    kept = max(40, limit - NOTE_ROOM)
    head = kept * 2 // 3
    tail = kept - head
    note = f"\n[… {len(text) - kept:,} characters left out here …]\n"
    return f"{text[:head]}{note}{text[-tail:]}"
