"""The tags around what the model reads. What stands inside cannot step outside.

Tags help a model to tell instructions from material; they do not stop it from following what it
reads, which is why the rules of the prompt say so as well.
"""

from collections.abc import Mapping


def escaped(text: str) -> str:
    """A text in which no tag begins."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def tagged(tag: str, inside: str, attributes: Mapping[str, str] | None = None) -> str:
    """`inside`, which is escaped or made of tags already, in a tag of its own."""
    told = "".join(f' {name}="{_value(value)}"' for name, value in (attributes or {}).items())
    return f"<{tag}{told}>\n{inside}\n</{tag}>"


def _value(text: str) -> str:
    """An attribute's value in one line."""
    return escaped(" ".join(text.split())).replace(">", "&gt;").replace('"', "&quot;")
