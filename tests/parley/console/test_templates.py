"""The rules for templates of the console."""

from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from parley.console.pages import TEMPLATES

FORBIDDEN = {
    "safe": "shows a value as markup",
    "urlize": "matches values with a pattern that takes exponential time",
    "striptags": "removes only what looks like a tag",
}


@pytest.mark.parametrize("file", sorted(TEMPLATES.rglob("*.html")), ids=lambda file: file.name)
def test_a_template_uses_no_filter_that_is_unsafe_for_texts_from_outside(file: Path) -> None:
    tree = Environment(autoescape=True).parse(file.read_text("utf-8"))
    used = {each.name for each in tree.find_all(nodes.Filter)}
    assert used & FORBIDDEN.keys() == set()
