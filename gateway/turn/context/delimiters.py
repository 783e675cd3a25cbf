"""The tags around material in a prompt, and the escaping of their content.

Tags help a model to tell instructions from material, but do not stop it from following them, which
is why the prompt's rules say so too.
"""

from collections.abc import Mapping


def escaped(text: str) -> str:
    """Escape a text so that it starts no tag."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def tagged(tag: str, inside: str, attributes: Mapping[str, str] | None = None) -> str:
    """Put `inside`, which is escaped or made of tags, into a tag."""
    pairs = "".join(f' {name}="{_value(value)}"' for name, value in (attributes or {}).items())
    return f"<{tag}{pairs}>\n{inside}\n</{tag}>"


def _value(text: str) -> str:
    """Return an attribute's value in one line."""
    return escaped(" ".join(text.split())).replace(">", "&gt;").replace('"', "&quot;")
