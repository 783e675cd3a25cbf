"""A page of the documentation as HTML."""

import html
import re
from collections.abc import MutableMapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from parley.documentation.files import KINDS, START, pages, title_of

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Parley documentation</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}style.css">
</head>
<body>
<a class="skip" href="#content">Go to the text</a>
<header><a href="{root}">Parley documentation</a></header>
<nav aria-label="Pages"><details><summary>All pages</summary>{menu}</details></nav>
<main id="content">
{body}</main>
</body>
</html>
"""


_PICTURES: Final = re.compile(
    r'(?:<img src="(?:\.\./)*images/[\w./-]+" width="\d+" alt="[^"<>]*">\s*)+'
)


def anchor(heading: str) -> str:
    """The anchor of a heading, given as plain text, as forges name it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page(name: str, text: str) -> str:
    """The page `name`, such as `reference/status`, as HTML. Its links lead to other pages; those
    that leave the documentation, to files of the repository, lead nowhere."""
    root = "../" * name.count("/") or "./"
    parser = _parser()
    env: dict[str, int] = {"depth": name.count("/")}
    body = parser.render(text, env)
    menu = "".join(_menu_of(kind, root) for kind in KINDS)
    return _PAGE.format(title=html.escape(title_of(text)), root=root, menu=menu, body=body)


def _menu_of(kind: str, root: str) -> str:
    """The pages of one kind, below a link to the page that describes them."""
    titles = {name: title for name, title in pages() if name.startswith(f"{kind}/")}
    first = titles.pop(f"{kind}/{START}", kind)
    items = (f"<li>{_to(name, title, root)}</li>" for name, title in titles.items())
    return f"<h2>{_to(f'{kind}/{START}', first, root)}</h2><ul>{''.join(items)}</ul>"


def _to(name: str, title: str, root: str) -> str:
    return f'<a href="{root}{name}.md">{html.escape(title.replace("`", ""))}</a>'


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("html_block", _markup)
    parser.add_render_rule("html_inline", _markup)
    parser.add_render_rule("table_open", lambda *_: '<div class="wide" tabindex="0"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _heading(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    inner = tokens[index + 1].children or ()
    plain = "".join(one.content for one in inner if one.type in {"text", "code_inline"})
    tokens[index].attrSet("id", anchor(plain))
    return renderer.renderToken(tokens, index, options, env)


def _link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: Any,
    env: MutableMapping[str, int],
) -> str:
    target = urlsplit(str(tokens[index].attrs.get("href", "")))
    if not target.scheme and target.path.count("../") > env["depth"]:
        tokens[index].attrs.pop("href")  # a file of the repository, which is not installed
    return renderer.renderToken(tokens, index, options, env)


def _code(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    """A block of code that the keyboard reaches, because it may scroll."""
    return f'<pre tabindex="0"><code>{html.escape(tokens[index].content)}</code></pre>\n'


def _markup(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    """Pictures of the documentation as they are; other HTML as text."""
    content = tokens[index].content
    return content if _PICTURES.fullmatch(content) else html.escape(content)
