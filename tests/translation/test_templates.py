"""No page of the console has a sentence outside the catalogues.

A text node, an attribute that people read or hear, and a string of an expression are found in the
tree of each template, unless they are in `say` or `say_count`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from jinja2 import Environment, nodes

from parley.console.pages import TEMPLATES
from tests.support.for_each import for_each

LEFT: Final[Mapping[str, int]] = {"partials/health.html": 3, "partials/memory.html": 1}
"""Pieces of tags and of addresses that macros write, by template. A new template has none."""
NAMES: Final = frozenset({"Anthropic", "Claude Code", "GPT agent", "UTC"})
"""The same in every language."""
SAY: Final = {"say": 1, "say_count": 2, "say_in": 2}
"""The functions, and how many of their arguments are sentences."""
_HOLE: Final = "\0"
_UNREAD: Final = re.compile(r"<(code|kbd|script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_READ: Final = re.compile(
    r'(?:placeholder|aria-label|title|data-label|alt|data-announce)="([^"]*)"'
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_EXAMPLE: Final = re.compile(r"^\S*[:/.]\S*$")
_NO_SENTENCE: Final = re.compile(r"[/?&#.<]|data-|parley ")


@for_each("file", sorted(TEMPLATES.rglob("*.html")))
def test_a_template_says_its_sentences_in_the_language_of_the_reader(file: Path) -> None:
    found = list(unsaid(file.read_text("utf-8")))
    left = LEFT.get(str(file.relative_to(TEMPLATES)), 0)
    assert len(found) <= left, f"Say these with say(…) or say_count(…): {found}"


@for_each(
    "source",
    [
        "<p>Two words</p>",
        '<p aria-label="Two words"></p>',
        '{{ ui.empty("Two words") }}',
        '{{ say("{a}", a="Two words") }}',
        "{% if x %}<b>Word</b>{% endif %}",
        '{{ "Word" if x else y }}',
    ],
)
def test_words_outside_are_found_wherever_they_stand(source: str) -> None:
    assert len(list(unsaid(source))) == 1


@for_each(
    "source",
    [
        '<p title="{{ say("Two words") }}">{{ say_count("A word", "{count} words", 2) }}</p>',
        '<code>parley init</code> <a href="{{ path_to("/x") }}">{{ name }}</a>',
        '<input placeholder="telegram:main:42">{% if name == "Two words" %}{% endif %}',
    ],
)
def test_sentences_of_the_catalogues_and_code_are_not_found(source: str) -> None:
    assert list(unsaid(source)) == []


def unsaid(source: str) -> Iterator[str]:
    """Return the words of a template that no catalogue has."""
    tree = Environment(trim_blocks=True, lstrip_blocks=True).parse(source)
    page = _UNREAD.sub("", "".join(_written(tree)))
    yield from (one for one in _READ.findall(page) if _WORD.search(one) and not _EXAMPLE.match(one))
    shown = re.split(rf"[\n{_HOLE}]", re.sub(r"<[^<>]*>", "\n", page))
    yield from (line.strip() for line in shown if _WORD.search(line))
    yield from (one for one in _strings(tree) if one not in NAMES)


def _written(node: nodes.Node) -> Iterator[str]:
    """Return the text of a template, with a mark for each expression."""
    if isinstance(node, nodes.Output):
        for one in node.nodes:
            yield one.data if isinstance(one, nodes.TemplateData) else _HOLE
        return
    for child in node.iter_child_nodes():
        yield from _written(child)


def _strings(node: nodes.Node) -> Iterator[str]:
    """Return the strings of expressions that read as words for people."""
    skipped = 0
    if isinstance(node, nodes.Compare | nodes.Import | nodes.Extends | nodes.Include):
        return
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
        skipped = SAY.get(node.node.name, 0)
        children: tuple[nodes.Node, ...] = (*node.args[skipped:], *node.kwargs)
    else:
        children = tuple(node.iter_child_nodes())
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        value = node.value
        for_people = " " in value.strip() or value[:1].isupper()
        if for_people and _WORD.search(value) and not _NO_SENTENCE.match(value):
            yield value
    for child in children:
        yield from _strings(child)
