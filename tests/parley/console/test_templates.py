"""The rules for templates of the console."""

import re
from pathlib import Path

from jinja2 import Environment, nodes

from parley.console.pages import STATIC, TEMPLATES
from tests.support.for_each import for_each

FORBIDDEN = {
    "safe": "shows a value as markup",
    "urlize": "matches values with a pattern that takes exponential time",
    "striptags": "removes only what looks like a tag",
}


@for_each("file", sorted(TEMPLATES.rglob("*.html")))
def test_a_template_uses_no_filter_that_is_unsafe_for_texts_from_outside(file: Path) -> None:
    tree = Environment(autoescape=True).parse(file.read_text("utf-8"))
    used = {each.name for each in tree.find_all(nodes.Filter)}
    assert used & FORBIDDEN.keys() == set()


@for_each("file", sorted(STATIC.glob("*.css")))
def test_a_style_depends_on_no_words_of_a_language(file: Path) -> None:
    assert (
        re.findall(
            r"\[(?:aria-label|data-label|title|placeholder)[~|^$*]?=", file.read_text("utf-8")
        )
        == []
    )
