"""Names the headings of a page as forges do, so that a link fits there and in the site."""

import re


def slug(heading: str, _separator: str = "-") -> str:
    """The anchor of a heading, given as plain text."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
