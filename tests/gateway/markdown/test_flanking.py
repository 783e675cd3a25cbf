"""A run of signs is emphasis where a reader of prose sees it, else an operator or a name."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.markdown.parse import parse
from gateway.markdown.tree import Heading, Inline, Paragraph, Run, Table
from gateway.render import render
from tests.gateway.render.readers import letters, read, visible
from tests.support.for_each import for_each
from tests.support.processor_time import seconds
from tests.support.property_cases import cases

PLATFORMS = ["discord", "slack", "telegram", "whatsapp", "web", "plain"]

LITERAL = [
    # arithmetic
    *("2*3*4 = 24", "2**3**2", "qty*price*1.19", "5 * 3 * 2", "x**2 + y**2", "5! = 5*4*3*2*1"),
    *("100*100/400*56", "apples *5, oranges *3", "2 *3* 4", "3 *5* 2", "4* 6 and 5* 7", "m*c**2"),
    *("a*b*c and d*e*f", "width*height*depth", "(a+b)*c + d*(e+f)", "f(x)*g(x)*2", "2*x*y"),
    *("arr[i]*x + y*arr[j]*k", "(-2)**2 + (-3)**2", "(x+1)**2 and (y+2)**2", "5!*4!*3!"),
    *("50%*2 and 30%*3", "3.5*2.1*4", "x *= 2; y *= 3", "x*=2;y*=3", "e**x + e**y", "2*π*r"),
    *("O(n*m*log(n))", "2*x_1 + 3*x_2", "x*(y+z)*w", "1,000*3*2", "$5*3 and $4*2", "a*-b*-c"),
    *("base**exp % mod**2", "单价*数量*税率=总价", "总价=单价*数量*(1+税率)", "底**2 + 高**2"),
    *("`width`*`height`*`depth`", "(*p)*(*q)", "*p++ = *q++;", "y = base**exp**mod"),
    # names
    *("_private and __dunder__", r"C:\Users\name\*.txt and D:\x\_a_\b_", r"\\server\share\_x_"),
    *("__init__.py", "a_b_c", "*args, **kwargs", "f(**kwargs)", "f(*args, **kwargs)", "fn(*a,*b)"),
    *("char *p, *q", "char **argv, **envp", "int *a, *b;", "[*a, *b] and {**x, **y}"),
    *("use __dunder__ alone", "__init__ and __main__", "path/__init__.py and __pycache__/x"),
    *("snake_case_name and other_name_here", "$_GET and $_POST", "MY_VAR=__FILE__:__LINE__"),
    *("/_next/static/_buildManifest", "(_, x) => _", "f(_,_,_)", "_.map(x, _.y)"),
    *("def f(*, a, **kw): pass", "(*p).x + (*q).y", "print(*a, sep=''); print(*b)"),
    *("import * as x from 'y'; export * from 'z'", "-*- coding: utf-8 -*-", "-*-"),
    # patterns and paths
    *("*.py and *.md", "**/*.ts", "src/*.py and tests/*.py", "src/**/*.ts, lib/**/*.js"),
    *("**/*.{js,ts}, !**/*.test.ts", "/usr/*/bin/* and ~/*", "5* hotel and 4* hotel"),
    *("exclude **/node_modules/** and **/dist/**", "Accept: */*", "Accept: text/*, image/*"),
    *('"*.py", "*.js"', '"*" or "*"', "'*' and '*'", "(*) and (*)", "foo*bar* baz*", "copy *.* d:"),
    *("^.*foo.*$", "a.*b.*c and .*", "(.*)-(.*)", "[a-z]*[0-9]*", "*.log* and *.tar*", "a^*b*"),
    *("*/5 * * * *", "0 0 */2 * *", "/* comment */ and /* x */", "/*comment*/", "rm -rf *~ *.bak"),
    *("test_*.py and data_*.py", "$HOME/*/bin/*", "*) all *) none", "ls *; rm *"),
    # code that is not marked as such
    *("SELECT * FROM t WHERE a*b", "if (a||b||c)", "a || b || c", "first||' '||last"),
    *('"a"||"b"||"c"', "~5 and ~6"),
    # footnotes, blanks and hidden words
    *("Price* and Tax*", "**** **** **** 1234", "****-****-****-1234", "f**k this s**t"),
    *("f*** you b***h", "The ___ jumped over the ___.", "Name: ____ Date: ____"),
]

EMPHASIS = {
    # Markdown: what is marked
    "**bold**": "bold",
    "*italic*": "italic",
    "**2**": "2",
    "*x*": "x",
    "**3 * 4**": "3 * 4",
    "***both***": "both",
    "_emph_": "emph",
    "__bold text__ here": "bold text",
    "**bold *nested* bold**": "bold nested bold",
    '**"quoted"**': '"quoted"',
    "(**bold**)": "bold",
    "**a**/**b**": "a|b",
    "*a*/*b*": "a|b",
    "**Price:** $5": "Price:",
    "**5 kg**": "5 kg",
    "**Total:**5 kg": "Total:",
    "**Note:**text": "Note:",
    "_Note:_ text": "Note:",
    "*Note:*text": "Note:",
    "**Key:**`value`": "Key:",
    "**Done ✅**now": "Done ✅",
    "🎉**Party**🎉": "Party",
    "**.NET** and **.env**": ".NET|.env",
    "**/help** and **/etc/hosts**": "/help|/etc/hosts",
    "**--flag** **-5** **+5%** **@user** **#1** **$5**": "--flag|-5|+5%|@user|#1|$5",
    "**Ctrl**+**C**": "Ctrl|C",
    "**C++** and *C++*, ok": "C++|C++",
    "end.**Next** step": "Next",
    '"*quoted*" and “*quoted*”': "quoted|quoted",
    "—*aside*—": "aside",
    "*f*(x) is": "f",
    "non-*standard*": "standard",
    "*...and then*": "...and then",
    "the *y* axis and the *x* axis": "y|x",
    "the answer is *42*": "42",
    "**Node**.js": "Node",
    "`code`**bold**": "bold",
    "**`x`**text": "x",
    "**https://e.org**": "https://e.org",
    "~~gone~~ ||hidden|| text": "gone|hidden",
    # a part of a word
    "**API**s and **PDF**s": "API|PDF",
    "**N**ational **A**eronautics": "N|A",
    "com**PU**ter ba**nan**a": "PU|nan",
    "**100**GB **1**st": "100|1",
    "*un*happy": "un",
    "**bold text**s": "bold text",
    "**E-Mail**adresse": "E-Mail",
    "**e\u0301te\u0301**s": "e\u0301te\u0301",
    "**हिन्दी**में नमस्ते**जी**": "हिन्दी|जी",
    "**தமிழ்**இல்": "தமிழ்",
    "الـ**مُهِمّ**ة": "مُهِمّ",
    "**می\u200cخواهم**ها": "می\u200cخواهم",
    # scripts without spaces
    "**注意：**请": "注意：",
    "这是**“重点”**内容": "“重点”",
    "**版本（1.0）**已发布": "版本（1.0）",
    "**重点。**下一句": "重点。",
    "**我叫Reasonix，**一个": "我叫Reasonix，",
    "使用**API**接口和**Python**语言": "API|Python",
    "第**3**章": "3",
    "这是*重点*内容": "重点",
    "*这是斜体（带括号）。*这句": "这是斜体（带括号）。",
    "**“a”**、**“b”**和**（c）**": "“a”|“b”|（c）",
    "**强调**（说明）": "强调",
    "**[链接](http://e.org)**文字": "链接",
    "使用 **`npm install`**命令": "npm install",
    "__重点__内容": "重点",
    "~~删除（带括号）。~~这个": "删除（带括号）。",
    "||剧透：||内容": "剧透：",
    "강조 **강조(테스트)**입니다": "강조(테스트)",
    "これは**「重要」**です。": "「重要」",
    "これは__重要__です": "重要",
    "**ภาษา**ไทย **คำเตือน:**โปรด": "ภาษา|คำเตือน:",
    "**«цитата»** и **«другая»**и": "«цитата»|«другая»",
    "**هام:**نص": "هام:",
    "**सूचना:**यह": "सूचना:",
}


def inline(markdown: str) -> Inline:
    (block,) = parse(markdown)
    assert isinstance(block, Paragraph | Heading)
    return block.runs


def is_marked(run: Run) -> bool:
    return run.bold or run.italic or run.strike or run.spoiler


def marked(runs: Inline) -> str:
    """The marked texts, with a bar between those that are apart."""
    texts = "".join(run.text if is_marked(run) else "\0" for run in runs)
    return "|".join(re.findall("[^\0]+", texts))


def plain(markdown: str) -> str:
    return markdown.replace("`", "")


@for_each("text", LITERAL)
def test_operators_names_and_patterns_keep_every_sign(text: str) -> None:
    for markdown in (text, f"Here: {text}", f"({text})", f"**Note:** {text}"):
        runs = tuple(run for run in inline(markdown) if run.text != "Note:")
        assert not any(map(is_marked, runs)), markdown
        assert letters(visible(parse(markdown))) == letters(
            plain(markdown.replace("**Note:**", "Note:"))
        )


@for_each("text", LITERAL)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_platform_shows_every_sign(text: str, platform: str) -> None:
    cell = text.replace("|", "\\|")
    for markdown in (f"So {text}", f"## So {text}", f"- So {text}", f"> So {text}"):
        assert letters(read(render(markdown, platform), platform)).endswith(
            letters(plain(f"So{text}"))
        )
    shown = read(render(f"| n |\n|---|\n| {cell} |", platform), platform)
    assert letters(plain(text)) in letters(shown)


@for_each(("markdown", "seen"), EMPHASIS.items())
def test_emphasis_is_read(markdown: str, seen: str) -> None:
    assert marked(inline(markdown)) == seen
    assert marked(inline(f"# {markdown}")) == seen
    if "](" not in markdown and "://" not in markdown:
        assert marked(inline(f"[{markdown}](http://e.org)")) == seen
    if "|" not in markdown:
        (table,) = parse(f"| a |\n|---|\n| {markdown} |")
        assert isinstance(table, Table)
        assert marked(table.rows[0][0]) == seen


@for_each("markdown", EMPHASIS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_sign_of_emphasis_is_shown(markdown: str, platform: str) -> None:
    shown = read(render(markdown, platform), platform)
    assert not any(sign in shown.replace("3 * 4", "") for sign in ("*", "~~", "||", "__")), shown


NUMBERS = st.sampled_from(["2", "10", "3.5", "1,000", "-4", "0.19"])
NAMES = st.sampled_from(["x", "n", "qty", "price_net", "x_1", "f(x)", "(a+b)", "arr[i]", "π", "5!"])
OPERATORS = st.sampled_from(["*", "*", " * ", "+", " - ", "/"])
POWERS = st.sampled_from(["**", " ** ", "*"])
AROUND = st.sampled_from(
    ["{}", "So {}.", "({})", "请看 {}。", "合計：{}", "**Sum:** {}", "- {}", "# {}"]
)
EQUALS = st.sampled_from([" = 24", "", ", ok", "; done"])


@st.composite
def expressions(draw: st.DrawFn) -> str:
    parts = [draw(st.one_of(NUMBERS, NAMES))]
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            parts += [draw(OPERATORS), draw(st.one_of(NUMBERS, NAMES))]
        else:
            parts += [draw(POWERS), draw(NUMBERS)]
    return draw(AROUND).format("".join(parts) + draw(EQUALS))


@settings(max_examples=cases(300), deadline=None)
@given(expressions())
def test_no_operator_of_an_expression_is_lost(markdown: str) -> None:
    text = re.sub(r"^(?:- |# )", "", markdown).replace("**Sum:**", "Sum:")
    assert letters(visible(parse(markdown))) == letters(text)


PHRASES = st.sampled_from(
    [
        "注意",
        "“重点”",
        "版本（1.0）",
        "注意：",
        "「重要」",
        "강조(테스트)",
        "คำเตือน:",
        "重要。",
        "API",
    ]
)
BESIDE = st.sampled_from(
    ["请", "です", "입니다", "ไทย", "，", "。", "、", "", " ", "（说明）", "的内容"]
)


@settings(max_examples=cases(300), deadline=None)
@given(
    st.lists(st.tuples(BESIDE, PHRASES), min_size=1, max_size=4),
    BESIDE,
    st.sampled_from(["**", "***"]),
)
def test_every_phrase_of_a_script_without_spaces_is_marked(
    pairs: list[tuple[str, str]], end: str, mark: str
) -> None:
    # Two phrases without a letter between them are no text of a person.
    pairs = [
        (beside if index == 0 or beside.strip() else "と", text)
        for index, (beside, text) in enumerate(pairs)
    ]
    markdown = "".join(f"{beside}{mark}{text}{mark}" for beside, text in pairs) + end
    assert marked(inline(markdown)) == "|".join(text for _, text in pairs)


@settings(max_examples=cases(300), deadline=None)
@given(
    st.text(alphabet="ab1 *_.()（。请", min_size=1, max_size=24).filter(
        lambda text: text.strip("*_ ")
    )
)
def test_no_letter_is_lost_and_signs_vanish_in_pairs_only(text: str) -> None:
    document = parse(f"a {text} a")
    runs = [run for block in document if isinstance(block, Paragraph) for run in block.runs]
    seen, signs = "".join(run.text for run in runs), "*_"
    assert letters(seen.translate({ord(sign): None for sign in signs})) == letters(
        text.translate({ord(sign): None for sign in signs}).join("aa")
    )
    for sign in signs:
        gone = f"a {text} a".count(sign) - seen.count(sign)
        assert gone % 2 == 0
        assert gone >= 0
    if not any(map(is_marked, runs)):
        assert letters(seen) == letters(f"a{text}a")


@pytest.mark.parametrize(
    "seed", ["*", "**a", "*a ", "a*b", "_", "__a", "~~a", "||a", "*a。", "是**“", "**/", " *5"]
)
def test_many_signs_are_read_in_linear_time(seed: str) -> None:
    long = (seed * 40_000)[:40_000]
    limit = max(40 * seconds(lambda: parse(long[:4_000])), 1)
    assert seconds(lambda: parse(long), limit) < limit
