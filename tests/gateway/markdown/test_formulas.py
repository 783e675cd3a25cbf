"""Formulas are found wherever models write them; prices, variables and brackets are left alone."""

import pytest

from gateway.markdown.parse import parse
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.tree import CodeBlock, Paragraph, Run
from tests.support.for_each import for_each

FOUND = {
    r"So $x_1 * x_2$ and $a*b*c$.": "So x₁ * x₂ and a*b*c.",
    r"So \(x_1 * x_2\) and \[a = b*c*d\].": "So x₁ * x₂ and a = b*c*d.",
    r"So $$x$$ and $$ y = 2*3*4 $$.": "So x and y = 2*3*4.",
    r"So \begin{align} a &= b_1 \end{align} here": "So a = b₁ here",
    r"设$x$为实数，$y=2x$。因此\(x+y\)成立": "设x为实数，y=2x。因此x+y成立",
    r"$n$th, $k$-means, $x$s, ($x$)": "nth, k-means, xs, (x)",
    r"$ x^2 $ and $100$ and $3.14$": "x² and 100 and 3.14",
    r"$velocity = distance/time$": "velocity = distance/time",
    r"$p = 25.6\$$ and \(5\frac{\$}{€}\)": "p = 25.6$ and 5($/€)",
    r"**$a_1$** and *$b*c$*": "a₁ and b*c",
    r"[name $x_1$](http://e.org)": "name x₁ (http://e.org)",
    r"$`a^2 * b`$": "a² * b",
    r"H$_2$O, 10$^{-3}$ m, SO$_4^{2-}$ and 5 $\mu$m": "H₂O, 10⁻³ m, SO₄²⁻ and 5 μm",
    r"The ratio \frac{a_1}{b_1} * \sqrt{x_2} is \alpha\beta and 2\pi.": (
        "The ratio a₁/b₁ * √x₂ is αβ and 2π."
    ),
    "text\n\\[\nx\n= y\n- z\n+ w\n\\]\nmore": "text\n\nx = y - z + w\n\nmore",
    "text\n$$\n- x\n\n+ y\n$$\nmore": "text\n\n- x + y\n\nmore",
    "> $$\n> x_1 * y\n> $$": "> x₁ * y",
    "1. item\n   \\[\n   a_1 = b\n   \\]\n2. next": "1. item\n   a₁ = b\n2. next",
    "```math\nx_1 \\neq y\n```": "x₁ ≠ y",
}
LEFT_ALONE = [
    "It costs $5 and $10.",
    "US$20-$30, A$5–A$10 and R$ 5,00 e R$ 10,00",
    "$HOME and $PATH, $HOME/$USER, $HOME:$PATH",
    '"$HOME" and "$PATH"',
    "$/PR is down but $/session is up",
    "$10K flat, Phase 2 at $8K, $155 lifetime spend, $34",
    "($5)/($10), $5 (US$), $5 to 10$, 5 $ und 6 $",
    "1$ + 2$ = 3$",
    "$$$ – expensive, $$ – moderate, $ – cheap",
    "echo $$ and $$",
    "$A$1:$B$2 and $PATH$ and $SELECTION$",
    "$this->foo($bar) . $x and $('#a').val() + $('#b').val()",
    "${HOME}:${PATH} $(a)/$(b) $_POST/$_GET $FOO_BAR$BAZ",
    "价格为$5，涨到$6。",
    r"C:\Users\alpha\times and D:\pi\in.txt and \server\share\sum",
    r"regex \d{3} \w+ \u{1F600}",
]
BRACKETS = {
    r"file\(s\), \[1\], \[x\] done, \[TODO\] and \(see below\)": (
        "file(s), [1], [x] done, [TODO] and (see below)"
    ),
    r"\[name\](http://e.org)": "[name](http://e.org)",
    r"\[ x \], \[a\,b\], \[a\|b\] and \[a \+ b\]": "[ x ], [a,b], [a|b] and [a + b]",
    r"\(2 \* 3 \* 4\)": "(2 * 3 * 4)",
}


@for_each(("markdown", "text"), FOUND.items())
def test_a_formula_is_found(markdown: str, text: str) -> None:
    assert PLAIN.document(parse(markdown)) == text


@for_each("markdown", LEFT_ALONE)
def test_other_signs_are_left_alone(markdown: str) -> None:
    assert PLAIN.document(parse(markdown)) == markdown


@pytest.mark.parametrize(("markdown", "text"), BRACKETS.items())
def test_escaped_brackets_are_brackets(markdown: str, text: str) -> None:
    assert PLAIN.document(parse(markdown)) == text


@for_each(
    ("markdown", "blocks"),
    [
        (r"$\binom{n}{k} * \foo_x$", (Paragraph((Run(r"\binom{n}{k} * \foo_x", code=True),)),)),
        (r"$a \& b$", (Paragraph((Run("a & b"),)),)),
        (
            "$$\n\\begin{pmatrix}\na_1 & b \\\\\n- c\n\\end{pmatrix}\n$$",
            (CodeBlock("\\begin{pmatrix}\na_1 & b \\\\\n- c\n\\end{pmatrix}", "latex"),),
        ),
        (
            "\\begin{cases}\n1 & x_1 \\\\\n0\n\\end{cases}",
            (CodeBlock("\\begin{cases}\n1 & x_1 \\\\\n0\n\\end{cases}", "latex"),),
        ),
        (r"\unknown{a_1 * b_1}", (Paragraph((Run(r"\unknown{a_1 * b_1}", code=True),)),)),
    ],
)
def test_what_is_not_simple_is_code_with_every_character(markdown: str, blocks: object) -> None:
    assert parse(markdown) == blocks


@for_each("markdown", ["`$x_1$`", "```\n$x_1$\n```", r"``\(a\)``"])
def test_code_holds_no_formula(markdown: str) -> None:
    assert PLAIN.document(parse(markdown)) == markdown.strip("`\n")


def test_a_bar_in_a_formula_does_not_divide_a_cell() -> None:
    table = parse("| a | b |\n|---|---|\n| $P(A|B)$ | \\(|x|\\) |")
    assert PLAIN.document(table).split("\n")[-1] == "P(A|B) │ |x|"


@for_each(
    "markdown",
    [
        "$$\n$$\nx",
        "$$\nx_1 * y",
        "\\[\nx_1 * y\n\nnext",
        "\\begin{align}\nx",
        r"\(x",
        "$x",
        "- a\n  $$\n- b",
    ],
)
def test_a_formula_without_an_end_is_text(markdown: str) -> None:
    shown = PLAIN.document(parse(markdown))
    assert all(char in shown for char in markdown if char.isalnum())
    assert not any(isinstance(block, CodeBlock) for block in parse(markdown))
