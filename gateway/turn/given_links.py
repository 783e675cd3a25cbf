"""Links of an answer: those that the model was given stay, others become their text. Pure."""

import re
from collections.abc import Collection
from typing import Final

_LINK: Final = (
    r"!?\[(?P<text>[^\[\]\n]{0,500})\]\([ \t]{0,4}<?(?P<to>[^\s<>()]{1,2000})>?[^()\n]{0,200}\)"
)
_ADDRESS: Final = (
    r"<?(?P<address>(?:https?://|www\.|t\.me/|discord(?:app)?\.com/|[a-z0-9-]{1,63}\.slack\.com/)"
    r"[^\s<>()\[\]]{1,2000})>?"
)
_EITHER: Final = re.compile(f"{_LINK}|{_ADDRESS}", re.IGNORECASE)
_ADDRESSES: Final = re.compile(_ADDRESS, re.IGNORECASE)
_AFTER: Final = ".,;:!?'\"*_~`|"
"""Signs at the end of an address that belong to the sentence."""


def addresses_in(text: str) -> frozenset[str]:
    """Return the addresses in a text."""
    return frozenset(found["address"].rstrip(_AFTER) for found in _ADDRESSES.finditer(text))


def with_given_links(markdown: str, given: Collection[str]) -> str:
    """Return the answer without links to other addresses than the given ones: the text of such a
    link stays, a bare address goes."""

    def kept(found: re.Match[str]) -> str:
        address = found["address"]
        if address is None:
            return found[0] if found["to"] in given else found["text"]
        plain = address.rstrip(_AFTER)
        return found[0] if plain in given else address[len(plain) :]

    return _EITHER.sub(kept, markdown)
