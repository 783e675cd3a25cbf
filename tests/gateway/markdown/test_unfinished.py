"""An answer that is still being written looks finished at every moment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.markdown.parse import parse
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.unfinished import close_unfinished
from gateway.render import render
from tests.gateway.render.readers import letters
from tests.support.for_each import for_each
from tests.support.processor_time import seconds

ANSWERS = [
    "Some **bold text** and *slanted* and ***both*** of it.",
    "Use `code here` and ``a ` b`` then ~~no~~ ||spoiler||.",
    "A [link to it](http://example.org/a/b) and ![a picture](http://example.org/i.png) end.",
    "First.\n\n```python\nx = a * b ** c\n```\n\nThen **more**.",
    "snake_case_name and 2 * 3 * 4 stay as they are",
    "~~~\ntilde **x\n~~~\ndone",
    r"The value \(x_1 * y_2\) is **not** \(\frac{a}{b}\) but \[x = 2*3*4\] here",
    "The value $$x_1 * y_2$$ is **not** $$2*3*4 = 24$$ here",
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_prefix_renders_as_a_beginning_of_the_answer(answer: str) -> None:
    whole = letters(PLAIN.document(parse(answer)).replace("(http://example.org/a/b)", ""))
    whole = whole.replace("(http://example.org/i.png)", "")
    for end in range(len(answer) + 1):
        text = PLAIN.document(parse(close_unfinished(answer[:end])))
        shown = letters(text.replace("(http://example.org/a/b)", ""))
        shown = shown.replace("(http://example.org/i.png)", "")
        # A bracket may turn out to be a link's, a backtick or a dollar sign the first of two.
        assert whole.startswith(shown.rstrip("[]!(`~$")) or "[" in shown, (answer[:end], shown)


@for_each(
    ("begun", "healed"),
    [
        ("a **b", "a **b**"),
        ("a **b ```", "a **b** "),
        ("a **b *c", "a **b *c***"),
        ("a `b", "a `b`"),
        ("```py\nx", "```py\nx\n```"),
        ("````\n```\n", "````\n```\n````"),
        ("a ~~b ||c", "a ~~b ||c||~~"),
        ("see [here](http://exa", "see here"),
        ("a **b**", "a **b**"),
        ("a **b*", "a **b**"),
        ("a **", "a "),
        ("**done**\n\nand *on", "**done**\n\nand *on*"),
        ("", ""),
    ],
)
def test_open_markup_is_closed(begun: str, healed: str) -> None:
    assert close_unfinished(begun) == healed


@given(st.text(alphabet="ab *_~`|[]()\n\\!", max_size=60))
def test_any_text_can_be_rendered(markdown: str) -> None:
    assert isinstance(render(close_unfinished(markdown), "telegram"), list)


@pytest.mark.parametrize("seed", ["*a ", "`", "[a](", "_", "||a", "```\n", "\\"])
def test_a_long_text_is_rendered_quickly(seed: str) -> None:
    text = (seed * 200_000)[:200_000]
    assert seconds(lambda: close_unfinished(text), 3) < 3
