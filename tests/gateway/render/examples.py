"""Texts for every construct of CommonMark and what models add to it, written for these tests."""

EXAMPLES: list[str] = [
    # tabs and precedence
    "\tfour columns in", "- a\n\n\tb", "- `one\n- two`", "\t\tdeep\n", ">\t\tquoted code",
    # rules
    "***", "---", "___", "+++", " * * *", "- foo\n***\n- bar", "a\n***\nb", "_ _ _ _ a",
    # headings
    "# one", "###### six", "####### seven", "#no space", r"\# not", "## two ##", "# a *b* `c`",
    "#", "## ", "Setext\n===", "Two\nlines\n---", "> quoted\n---", "`a\n---\nb`", r"### x \###",
    "# [link](http://e.org/a_b) & <tag>", "- # heading in a list\n- b",
    # code
    "    indented\n      more", "```\nx < 1 && y > 2\n```", "```python\nprint('hi')\n```",
    "~~~\ntilde\n~~~", "````\n```\n````", "```\nnever closed", "```\n\n```", "```c++ linenos\nx\n```",
    "```\n> no quote\n# no heading\n```", "`a``b`", "`` ` ``", "` `` `", "`\\`", "`a\nb`",
    "```bad lang!\nx\n```", "a ``` b ``` c", "```md\n**a** __b__ ||c||\n```",
    # HTML is text
    "<b>bold</b>", "<script>alert(1)</script>", "<!-- note -->", "<div>\n*x*\n</div>", "a <br> b",
    "<a href=\"javascript:x\">y</a>", "</pre></code>", "&lt;b&gt; &amp; &copy; &nope; &#35; &#0;",
    # references
    "[foo]: /url \"title\"\n\n[foo]", "[foo]: http://e.org", "[a][b]\n\n[b]: http://e.org/x",
    "Sources:\n\n[1]: http://one.example\n[2]: http://two.example", "[x]: <>\n\n[x]",
    # paragraphs, breaks
    "a\n\nb", "a\nb", "a  \nb", "a\\\nb", "  a\n b", "trailing   ", "a\u00a0b\u2003c", "\ufeffx",
    # quotes
    "> a\n> b", "> a\n\n> b", ">>> deep", "> a\nlazy", "> - a\n>   - b\n> 1. c", "> ```\n> x\n> ```",
    "> # h\n> | a | b |\n> |---|---|\n> | 1 | 2 |", "> > a\n>\n> b", ">", "> **a\n> b**",
    # lists
    "- a\n- b", "1. a\n2. b", "7) a\n8) b", "0. zero", "-1. no list", "- a\n  - b\n    - c\n      1. d",
    "- a\n\n  b\n\n  c", "- a\n\n  ```sh\n  ls\n  ```\n- b", "-\n- b", "1.\n2. x", "- - a\n  - b",
    "- > quote\n- | x |", "* a\n+ b", "- [ ] todo\n- [x] done\n- [X] big\n- [y] no", "1. [ ] n",
    "- a\n\n      code\n- b", "123456789. big\n1234567890. no", "- **a**: b\n- `c`: d", "10. a\n11. b",
    "1. a\n   - b\n\n     c\n2. d", "- ```\n  a\n  ```",
    # emphasis
    "*a*", "**a**", "***a***", "_a_", "__a__", "*a **b** c*", "**a *b* c**", "a*b*c", "a_b_c",
    "a * b * c", "**a", "*a", "**a** **b**", "*a*b", "**a**b", "***a** b*", "*foo**bar*", "** a **",
    "*(**x**)*", "snake_case_name and __init__", "2 * 3 * 4 = 24", "**bold**_it_", "*a*_b_", "**a**.",
    "**\u00abтекст\u00bb**и", "中文**粗体**中文", "*a\nb*", "**a\n\nb**", "_**x**_y", r"\*a\*", "*a*~~b~~||c||",
    # strikethrough, spoilers
    "~~a~~", "~~a ~~ b", "~a~", "||a||", "|| a ||", "||a **b** c||", "a || b || c", "`a||b` || `c||d`",
    "|||a|||", "~~**||x||**~~", "||`code`||",
    # links and images
    "[a](http://e.org)", "[a](<http://e.org/x y>)", "[a](/rel)", "[a](javascript:x)", "[](http://e.org)",
    "[**a** `b`](http://e.org/(x)_y)", "[a[b]c](http://e.org)", "[a](http://e.org 'title')", "[a]()",
    "![alt](http://e.org/i.png)", "![](i.png)", "[![b](i.png)](http://e.org)", "![a ![b](c)](d)",
    "[http://shown.example](http://real.example)", "<http://e.org/a_b?c=d&e=f>", "<me@e.org>",
    "http://e.org/a_b_c*d*, and (https://e.org/x_(y)).", "**https://e.org**", "https://e.org/`x`",
    "[a](http://e.org)[b](http://e.org)", "[a\nb](http://e.org)", "[ref]", "[a](ftp://e.org)", "[a](x\ny)",
    "[mail](mailto:a@b.c)", "xhttp://e.org http:// https://.", "[a](http://e.org/%20\"<>)", "[**a](x)**",
    # tables
    "| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n--|--\n1", "| a |\n|:-:|\n| **b** `c` [d](http://e.org) |",
    "| a | b |\n|---|---|", "| a\\|b | c |\n|--:|:--|\n| `x\\|y` | z | too many |", "| 日本 | 🎉 |\n|--|--|\n| a | b |",
    "| a | b |\n| 1 | 2 |", "|a|b|\n|-|-|\n|||\n| | |", "text\n| a |\n|---|\n| 1 |\nafter",
    # what platforms would take for their own
    "@everyone @here <@123> <@&4> <#5> <:e:6> <t:1> <!channel> <id:guide>", "-# small", ">>> all",
    "~x~ *y* _z_ ~~~", "\\~x\\~ \\*y\\* \\_z\\_", "a\\_b\\_c", "¯\\\\\\_(ツ)\\_/¯", ":smile: 10:30:00", "1\\. a\n\\- b\n\\> c",
    "\\[a](http://e.org)", "\\`a\\` \\`\\`\\`", "&ast;a&ast; &lowbar;b&lowbar;", "C:\\dir\\*.py", "\\|\\|a\\|\\|",
    # characters
    "e\u0301 👩\u200d👩\u200d👧 🏳️\u200d🌈 🇩🇪🇫🇷 👍🏽", "\x00\x07\x1b[0m", "\ud800 lone \udfff", "\u202eabc", "ﷺ",
    "line\u2028sep\u0085next\x0cform", "a\r\nb\rc", "𝒳" * 10,
]
