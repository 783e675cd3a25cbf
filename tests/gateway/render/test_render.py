"""The renderer of each platform, and the fallback when one fails."""

import subprocess
import sys

from gateway.markdown.tree import Document
from gateway.message import Part
from gateway.render import render, render_with
from tests.support.patience import PATIENCE


def test_a_failing_renderer_falls_back_to_plain_text() -> None:
    def broken(blocks: Document) -> list[Part]:
        raise ZeroDivisionError

    assert render_with(broken, "**a** b") == [Part("a b", "a b")]


def test_only_the_requested_renderer_is_imported() -> None:
    program = (
        "import sys\n"
        "from gateway.render import render\n"
        "assert render('**a**', 'telegram')[0].payload == '<b>a</b>'\n"
        "print([name for name in sys.modules if name.endswith('.render') and 'adapters' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == "['adapters.telegram.render']\n"


def test_a_platform_without_a_renderer_gets_plain_text() -> None:
    assert render("# **a** `b`", "carrier-pigeon") == [Part("a b", "a b")]
