"""HTML files of pages whose sentences are marked: `[[Send]]`.

A file names its language as `<html lang="en" dir="ltr">`, and has an empty block "sentences" for
those of its scripts.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from gateway.languages import scripts
from gateway.text import Language, Sentence, Text

MARKED: Final = re.compile(r"\[\[([^\[\]\n]+)\]\]")
"""A sentence in a file; what stands in backticks in it becomes code."""
LANGUAGE: Final = '<html lang="en" dir="ltr">'
BLOCK: Final = '<script type="application/json" id="sentences"></script>'


def page(source: str, language: Language, sentences: Iterable[Sentence] = ()) -> str:
    """Return a file in a language; `sentences` are those of its scripts."""
    root = f'<html lang="{escape(language.tag)}" dir="{language.direction}">'
    block = BLOCK.replace("><", f">{scripts.block(language, sentences)}<")
    shown = MARKED.sub(lambda marked: words(language, Sentence(marked[1])), source)
    return shown.replace(LANGUAGE, root, 1).replace(BLOCK, block, 1)


def words(language: Language, text: Text) -> str:
    """Return a text as HTML."""
    pieces = escape(language.shown(text)).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(
        f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces)
    )
