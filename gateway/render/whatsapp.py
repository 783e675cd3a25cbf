"""WhatsApp's marks: faq.whatsapp.com/539178204879377.

There is no escape. Text that would be read as marked is shown as inline code, which keeps every
character; a line that would be read as a quote or an item begins with an invisible space.
"""

import re
from typing import Final

from gateway.render.inline import Mark
from gateway.render.layout import TextRenderer
from gateway.render.tree import CodeBlock, Heading, Run

BREAK: Final = "\u200b"
"""Zero width space."""

_LINE_START: Final = re.compile(r"([-*>] |\d{1,9}\. )")
_MARKED: Final = re.compile(
    r"(?<!\w)(?:"
    r"\*(?! )[^*\n`]{1,1000}(?<! )\*|_(?! )[^_\n`]{1,1000}(?<! )_|~(?! )[^~\n`]{1,1000}(?<! )~"
    r")(?!\w)"
)
_SIGNS: Final = re.compile(r"[*_~`]")


class WhatsAppRenderer(TextRenderer):
    """Writes WhatsApp's marks."""

    bullet = "- "

    def heading(self, heading: Heading) -> list[str]:
        """Bold: there are no headings."""
        runs = tuple(
            Run(run.text, True, run.italic, run.strike, False, run.code, run.link)
            for run in heading.runs
        )
        return self.inline(runs)

    def code_block(self, code: CodeBlock) -> list[str]:
        """Monospace; there are no languages."""
        body = code.text.replace("```", f"`{BREAK}`{BREAK}`")
        return ["```", *body.split("\n"), "```"]

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """Spoilers cannot be hidden; code stands in no other mark."""
        link = (("link", run.link),) if run.link and not run.is_bare_link else ()
        if run.code:
            return link
        signs = (("*", run.bold), ("_", run.italic), ("~", run.strike))
        return (*link, *((sign, "") for sign, is_set in signs if is_set))

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        """Marks work around whole words only, and around text that has no such sign itself."""
        kind, address = mark
        if kind == "link":
            return ("", f" ({address})")
        if before.isalnum() or after.isalnum() or kind in inner:
            return ("", "")
        return (kind, kind)

    def text(self, text: str, *, line_start: bool) -> str:
        """Literal text."""
        if _SIGNS.search(text):
            text = _MARKED.sub(r"`\g<0>`", text.replace("`", f"{BREAK}`{BREAK}"))
        if line_start and _LINE_START.match(text.lstrip()):
            return BREAK + text
        return text

    def code(self, text: str) -> str:
        """Inline code; a backtick inside would end it."""
        return f"`{text}`" if "`" not in text else f"```{text.replace('```', '` ` `')}```"


WHATSAPP = WhatsAppRenderer()
