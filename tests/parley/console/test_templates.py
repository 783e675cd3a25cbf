"""The rules for templates of the console."""

from pathlib import Path

from jinja2 import Environment, nodes

from parley.console.pages import TEMPLATES
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
