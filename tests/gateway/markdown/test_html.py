"""HTML that a model writes is read by its meaning; other angle brackets are text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.markdown.parse import parse
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.tree import CodeBlock, Heading, ItemList, Paragraph, QuoteBlock, Run, Table
from gateway.markdown.unfinished import close_unfinished
from gateway.render import render
from tests.gateway.render.readers import letters, read
from tests.support.by_day import two_of
from tests.support.for_each import for_each
from tests.support.processor_time import seconds
from tests.support.property_cases import cases

PLATFORMS = ["discord", "slack", "telegram", "whatsapp", "web", "plain"]


def text(markdown: str) -> str:
    return PLAIN.document(parse(markdown))


@for_each(
    ("markdown", "seen"),
    {
        "Line one<br>Line two<br/>three<BR />four": "Line one\nLine two\nthree\nfour",
        "one<br>\ntwo<br><br>three<br>": "one\ntwo\n\nthree",
        "H<sub>2</sub>O, x<sup>2</sup>, 10<sup>-3</sup>, a<sub>max</sub>": "H₂O, x², 10⁻³, aₘₐₓ",
        "b<sup>Q1</sup> x<sub>Ω</sub> 1<sup>er</sup>": "b^(Q1) x_Ω 1ᵉʳ",
        "Press <kbd>Ctrl</kbd>+<kbd>C</kbd>": "Press Ctrl+C",
        "a<!-- note -->b": "ab",
        "<span style='color:red'>red</span> <font color=red>x</font>": "red x",
        'see <a href="https://e.org/?a=1&amp;b=2">here</a>': "see here (https://e.org/?a=1&b=2)",
        '<img src="http://e.org/i.png" alt="pic">': "pic (http://e.org/i.png)",
        '<a href="javascript:x">y</a>': "y",
        "a &lt;b&gt; &amp; c": "a <b> & c",
        "<p>one</p><p>two</p>": "one\ntwo",
        "x <ul><li>a</li><li>b</li></ul>": "x\n• a\n• b",
        "<ol reversed start='2'><li>a</li></ol>": "2. a",
        '<details open class="x"><summary>a</summary>b</details>': "a\nb",
        "x<sup>*</sup> 5": "x^* 5",
    }.items(),
)
def test_a_tag_is_shown_by_its_meaning(markdown: str, seen: str) -> None:
    shown = "\n".join(line.strip() for line in text(markdown).split("\n") if line.strip())
    assert shown == "\n".join(line for line in seen.split("\n") if line)


@for_each(
    ("markdown", "run"),
    {
        "<b>x</b>": Run("x", bold=True),
        "<strong>x</strong>": Run("x", bold=True),
        "<i>x</i>": Run("x", italic=True),
        "<em>x</em>": Run("x", italic=True),
        "<u>x</u>": Run("x", underline=True),
        "<s>x</s>": Run("x", strike=True),
        "<del>x</del>": Run("x", strike=True),
        "<code>a &lt; b</code>": Run("a < b", code=True),
        "<code>List<String></code>": Run("List<String>", code=True),
        "<kbd>Esc</kbd>": Run("Esc", code=True),
        "<b>**x**</b>": Run("x", bold=True),
        '<a href="http://e.org">x</a>': Run("x", link="http://e.org"),
    }.items(),
)
def test_an_element_of_a_paragraph_has_its_style(markdown: str, run: Run) -> None:
    assert parse(f"a {markdown}") == (Paragraph((Run("a "), run)),)


@for_each(
    "markdown",
    [
        *("use <your-name> here", "List<String> and Map<K, V>", "a < b > c", "if a<b and c>d"),
        *("<stdio.h> and #include <iostream>", "vector<int> x", "the <b> tag", "x<y && y>z"),
        *("<details> and <summary> are elements", "f<T>(x)", "<T>", "<think>no</think>", "<3 <3"),
        *(
            "<<EOF",
            "a <- b -> c",
            "<-->",
            "5 <6> 7",
            "<p> begins a paragraph",
            "<script>x</script>",
        ),
    ],
)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_other_angle_brackets_stay_visible(markdown: str, platform: str) -> None:
    assert letters(read(render(markdown, platform), platform)) == letters(markdown)


@for_each("code", ["`<br>`", "``<b>x</b>``", "```\n<ul><li>x</li></ul>\n```", "    <!-- x -->"])
def test_html_in_code_stays_literal(code: str) -> None:
    assert letters(text(code)) == letters(code.replace("`", ""))


def test_a_collapsed_section_is_its_title_and_its_content() -> None:
    blocks = parse("<details>\n<summary>Click</summary>\n\n- **x**\n\n</details>\n\nAfter")
    assert blocks[0] == Paragraph((Run("Click", bold=True),))
    assert isinstance(blocks[1], ItemList)
    assert blocks[2] == Paragraph((Run("After"),))
    in_a_line = parse("<details open><summary>Q</summary>The *answer*</details>")
    assert PLAIN.document(in_a_line) == "Q\n\nThe answer"


def test_elements_of_lines_become_blocks() -> None:
    (items,) = parse("<ul>\n<li>One <b>b</b></li>\n<li>Two\n<ol><li>x</li></ol></li>\n</ul>")
    assert isinstance(items, ItemList)
    assert isinstance(items.items[1].blocks[1], ItemList)
    (table,) = parse(
        "<table><tr><th>A</th><th>B</th></tr>\n<tr><td>1</td><td>x|y</td></tr></table>"
    )
    assert isinstance(table, Table)
    assert table.rows == (((Run("1"),), (Run("x|y"),)),)
    heading, quote, code = parse(
        "<h2>Title</h2>\n<blockquote>Said</blockquote>\n"
        '<pre><code class="language-js">a &lt; b\n  c</code></pre>'
    )
    assert heading == Heading(2, (Run("Title"),))
    assert quote == QuoteBlock((Paragraph((Run("Said"),)),))
    assert code == CodeBlock("a < b\n  c", "js")


@pytest.mark.parametrize("inside", ["a\n" * 10_000, "<!-- a\nb", "x" * 3_000])
def test_a_comment_of_any_length_is_not_shown(inside: str) -> None:
    assert text(f"a\n\n<!--{inside}-->\n\nb") == "a\n\nb"


def test_elements_within_elements_are_read() -> None:
    deep = "<details><summary>s</summary>\n\n" * 9 + "<ul><li>x</li></ul>\n\n" + "</details>\n" * 9
    assert "<" not in text(deep)


def test_a_comment_over_lines_is_not_shown() -> None:
    assert text("<!-- a\n\nb -->\nText") == "Text"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_tags_in_a_table_are_not_shown(platform: str) -> None:
    cell = "one<br>two <ul><li>x</li></ul> H<sub>2</sub>O <b>b</b>"
    shown = read(render(f"| A | B |\n|---|---|\n| 1 | {cell} |", platform), platform)
    assert "<" not in shown
    assert "H₂O" in shown


@for_each(
    ("markdown", "seen"),
    {
        "> [!NOTE]\n> Useful **x**.": "> Note\n> Useful x.",
        "> [!WARNING] Careful\n> y": "> Warning: Careful\n> y",
        "> [!TIP]": "> Tip",
        "> not [!NOTE]": "> not [!NOTE]",
    }.items(),
)
def test_an_alert_begins_with_its_label(markdown: str, seen: str) -> None:
    assert text(markdown) == seen


@for_each(
    ("markdown", "seen"),
    {
        "A[^1], B[^b].\n\n[^1]: Source\n[^b]: A *x*": "A[1], B[b].\n\n[1] Source\n[b] A x",
        "[^1]: http://x.org\n\nSee [^1][^2]": "[1] http://x.org\n\nSee [1][2]",
        "a regex [^a-z]+ and [^0-9]": "a regex [^a-z]+ and [^0-9]",
    }.items(),
)
def test_a_footnote_is_a_number_in_brackets(markdown: str, seen: str) -> None:
    assert text(markdown) == seen


FRAGMENTS = [
    *(
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<br>",
        "<ul>",
        "</ul>",
        "<li>",
        "</li>",
        "<table>",
        "</table>",
    ),
    *("<tr>", "<td>", "</td>", "<details>", "<summary>", "</summary>", "</details>", "<p>", "</p>"),
    *("<sup>", "</sup>", "<code>", "</code>", "<!--", "-->", "<pre>", "</pre>", "\n", "\n\n", "> "),
    *("<a href='http://e.org'>", "</a>", "a", "b c", "`", "**", "- ", "|", "<x>", "[^1]", "[^1]: "),
]


@settings(max_examples=cases(300), deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=24).map("".join))
def test_no_text_between_tags_is_lost(markdown: str) -> None:
    # A comment hides its text, and code keeps the letters of tags.
    shown = text(markdown.replace("<!--", "").replace("`", ""))
    assert shown.count("c") >= markdown.count("b c")
    close_unfinished(markdown)


@for_each(
    "answer",
    [
        "Some <b>bold <i>and</i></b> H<sub>2</sub>O<br>end",
        'See <a href="http://e.org">here</a> <!-- no --> and <kbd>x</kbd>.',
        "<details>\n<summary>Title</summary>\n\nText</details>",
        "2*3*4 and __init__ and com**pu**ter",
    ],
)
def test_an_unfinished_tag_is_never_shown(answer: str) -> None:
    for end in range(len(answer) + 1):
        shown = text(close_unfinished(answer[:end]))
        assert "<" not in shown, (answer[:end], shown)


@for_each(
    ("start", "number"),
    {"x": 1, "-3": 1, "0": 0, "7": 7, "٣": 1, "1_0": 1, "9" * 20: 1}.items(),
)
def test_a_list_begins_with_a_number(start: str, number: int) -> None:
    assert text(f'<ol start="{start}"><li>a</li><li>b</li></ol>') == f"{number}. a\n{number + 1}. b"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_quotes_in_quotes_are_kept_to_a_depth(platform: str) -> None:
    markdown = "<blockquote>\n" * 1_700 + "a"
    assert seconds(lambda: render(markdown, platform), 1.5) < 1.5
    assert read(render(markdown, platform), platform).count("a") == 1


@for_each(
    ("markdown", "seen"),
    {
        "<details>\nx\n\n</details>(y)</td></tr></table>": "x\n(y)",
        "<table><tr>x<td>a</td>y</tr>z</table>": "x\ny\nz\na\n─",
        "<table><td>a</td></table>": "a\n─",
        "<table><tr><td>a<td>b</tr><tr><td>c<td>d</table>": "a │ b\n──┼──\nc │ d",
    }.items(),
)
def test_text_beside_cells_and_cells_without_ends_are_shown(markdown: str, seen: str) -> None:
    shown = text(markdown)
    assert "\n".join(line for line in shown.split("\n") if line) == seen


SEEDS = [
    *("<b>", "<b", "</b>", "<code>", "<sup>", "<!--", "<!-- a\n", "<ul>\n", "<ul>\n\n", "<ul><li>"),
    *(
        "<table>\n",
        "</ul>\n",
        "<details>\n",
        "<p>a\n",
        '<a href="x">',
        '<a b="',
        "<ul><!--",
        "<pre>\n",
    ),
    *(
        "<!--\n",
        "<blockquote>\n",
        "> <!--\n",
        "- <ul>\n",
        "[^1]",
        "[^1]: a\n",
        "[^a]: b\n\n",
        "> [!NOTE]\n\n",
    ),
]


ENDS = ["", "</ul>", "-->", "--> a", "</b></code></sup>"]


@for_each("seed", SEEDS)
def test_many_characters_of_html_are_read_quickly(seed: str) -> None:
    for end in two_of(ENDS, seed):
        check_time(seed, end)


@pytest.mark.nightly
@for_each("end", ENDS)
@for_each("seed", SEEDS)
def test_many_characters_of_html_with_any_end_are_read_quickly(seed: str, end: str) -> None:
    check_time(seed, end)


def check_time(seed: str, end: str) -> None:
    markdown = (seed * 30_000)[:30_000] + end
    assert seconds(lambda: parse(markdown), 1.5) < 1.5
