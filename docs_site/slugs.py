"""Names the headings of a page as forges do, so that a link fits there and in the site."""

from parley.documentation.render import anchor


def slug(heading: str, _separator: str = "-") -> str:
    """The anchor of a heading, given as plain text."""
    return anchor(heading)
