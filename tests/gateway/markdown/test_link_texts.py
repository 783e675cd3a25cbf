"""A link whose text names another address than the one that it opens shows both."""

import pytest

from gateway.markdown.parse import parse
from gateway.markdown.tree import Paragraph
from gateway.render import render
from tests.support.for_each import for_each

MISLEADING = {
    "[https://a.example](https://b.example)": "https://b.example",
    "[a.example](https://b.example)": "https://b.example",
    "[see **a.example/login** first](https://b.example/a.example/login)": "https://b.example/a.example/login",
    "[`a.example`](https://b.example/#a.example)": "https://b.example/#a.example",
    "[**https://a.example**](https://b.example)": "https://b.example",
    "https://[a.example](https://b.example)": "https://b.example",
    "bank.[com](https://b.example)": "https://b.example",
    "[https://a.example][1]\n\n[1]: https://b.example": "https://b.example",
    "![https://a.example](https://b.example/i.png)": "https://b.example/i.png",
    '<a href="https://b.example">https://a.example</a>': "https://b.example",
    "https://a.example@b.example/x": "https://b.example/x",
    "<https://a.example@b.example/x>": "https://b.example/x",
    "[sign in](https://a.example@b.example/x)": "https://b.example/x",
    "[sign in](https://a.example%2Flogin@b.example/x)": "https://b.example/x",
    "[a\u200b.example](https://b.example)": "https://b.example",
    "[ａ.example](https://b.example)": "https://b.example",
    "[аpple.com](https://apple.com)": "https://apple.com",
    "[apple.com](https://аpple.com)": "https://xn--pple-43d.com",
    "[10.0.0.1](https://b.example)": "https://b.example",
    "[https://a.example/x](https://a.example/y)": "https://a.example/y",
    "[bun.sh](https://b.example/x)": "https://b.example/x",
    "[me@bank.com](https://b.example)": "https://b.example",
    "[me@bank.com](mailto:you@b.example)": "mailto:you@b.example",
    "[+49 30 123456](tel:+4930999999)": "tel:+4930999999",
}
HONEST = {
    "[docs](https://b.example)": "https://b.example",
    "[www.a.example/x](https://a.example/x)": "https://a.example/x",
    "[https://a.example/](http://a.example)": "http://a.example",
    "[A.Example…](https://a.example/x)": "https://a.example/x",
    "https://user:word@git.example/r": "https://user:word@git.example/r",
    "https://web.example/2020/https://other.example/x": "https://web.example/2020/https://other.example/x",
    "[README.md](https://git.example/r/README.md)": "https://git.example/r/README.md",
    "[main.py](https://git.example/r/main.py#L3)": "https://git.example/r/main.py#L3",
    "[`asyncio.gather`](https://py.example/x#asyncio.gather)": "https://py.example/x#asyncio.gather",
    "[Node.js](https://node.example)": "https://node.example",
    "[v1.2.3](https://git.example/v1.2.3)": "https://git.example/v1.2.3",
    "[请看。谢谢](https://b.example)": "https://b.example",
    "https://例え.jp/あ": "https://例え.jp/あ",
    "<https://[::1]:80/x>": "https://[::1]:80/x",
    "[030 123456](tel:+4930123456)": "tel:+4930123456",
    "[me@b.example](mailto:me@b.example?subject=x)": "mailto:me@b.example?subject=x",
}


def links(markdown: str) -> list[tuple[str, str]]:
    (block,) = parse(markdown)
    assert isinstance(block, Paragraph)
    return [(run.text, run.link) for run in block.runs if run.link]


@for_each(("markdown", "address"), MISLEADING.items())
def test_only_the_true_address_is_a_link(markdown: str, address: str) -> None:
    shown = address.removeprefix("mailto:").removeprefix("tel:")
    assert links(markdown)[-1] == (shown, address)
    assert [link for _, link in links(markdown)].count(address) == 1


@for_each(("markdown", "address"), HONEST.items())
def test_a_text_that_names_no_other_address_stays_a_link(markdown: str, address: str) -> None:
    ((text, link),) = links(markdown)
    assert link == address
    assert f"({address})" not in text


@pytest.mark.parametrize("platform", ["discord", "slack", "telegram", "whatsapp", "web", "plain"])
@pytest.mark.parametrize(
    "markdown",
    [
        "[bank.example](https://evil.example/x)",
        "# [https://bank.example](https://evil.example/x)",
        "- [**bank.example**](https://evil.example/x)",
        "|a|\n|-|\n|[bank.example](https://evil.example/x)|",
        "[bank.example](https://bank.example@evil.example/x)",
    ],
)
def test_people_see_the_true_address_on_each_platform(markdown: str, platform: str) -> None:
    (part,) = render(markdown, platform)
    assert "evil.example/x" in part.text
    assert ">bank.example</a>" not in str(part.payload)
    assert "evil.example/x', 'text': 'bank" not in str(part.payload)
    assert "bank.example](" not in str(part.payload)
