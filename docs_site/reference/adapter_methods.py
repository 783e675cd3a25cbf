"""The page of an adapter's methods, written from the protocols of `gateway.ports`."""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway import errors, message
from gateway.authorship import Material
from gateway.ports import (
    AccountSettings,
    AdapterContext,
    AdapterManifest,
    Capabilities,
    CommandSpec,
    PlatformAdapter,
    SendPace,
    abilities,
)
from gateway.ports.abilities import REMOTE_ABILITIES
from gateway.ports.http_routes import CanServePages

HEAD: Final = """\
# Methods and values of an adapter

An adapter has the methods of `PlatformAdapter`. It has an optional ability if it has all methods of
its protocol; it is not registered anywhere. An ability with the note *remote* also belongs in
`abilities` of the manifest. [Write an adapter](../how-to/write-an-adapter.md) explains the parts of
an adapter in the order of writing.

`python -m docs_site.reference` writes this page from [`gateway/ports/`](../../gateway/ports/).
"""
OPEN: Final = "<!-- not run: written from the code -->\n```python"
VALUES: Final[Mapping[str, tuple[type, ...]]] = {
    "Values of these methods": (
        *(abilities.LiveStyle, abilities.LiveView, abilities.Liveness, abilities.Check),
    ),
    "The context of an adapter": (AdapterContext, CommandSpec),
    "The manifest": (AdapterManifest, Capabilities, SendPace, AccountSettings),
    "Events": (
        *(message.MessageReceived, message.MessageEdited, message.MessageDeleted),
        *(message.CommandInvoked, message.ButtonPressed, message.ReactionChanged),
        *(message.MembershipChanged, message.InlineQueried),
    ),
    "The parts of a message": (
        *(message.ChatMessage, message.MessageAuthor, message.Place, message.Quote),
        *(message.Attachment, Material),
    ),
    "Sends": (
        *(message.Outbound, message.Part, message.OutboundFile, message.Button, message.Receipt),
    ),
    "Errors": (
        *(errors.StartError, errors.DeliveryError, errors.Transient, errors.Busy, errors.Permanent),
        *(errors.WindowClosed, errors.FormatRejected, errors.Ambiguous, errors.BadInput),
    ),
}
"""The values that an adapter receives, returns and raises, by the heading of their section."""


def adapter_methods() -> str:
    """The text of the page."""
    optional = [
        value
        for name, value in vars(abilities).items()
        if name.startswith("Can") and value.__module__ == abilities.__name__
    ]
    parts = [HEAD, "## Required: `PlatformAdapter`\n", *_methods(PlatformAdapter)]
    parts.append("## Optional\n")
    for protocol in sorted([*optional, CanServePages], key=lambda one: one.__name__):
        note = " (remote)" if protocol in REMOTE_ABILITIES else ""
        parts += [f"### `{protocol.__name__}`{note}\n", *_methods(protocol)]
    for title, values in VALUES.items():
        parts += [f"## {title}\n", f"From {_modules(values)}.\n"]
        parts += [_value(value) for value in values]
    return "\n".join(parts).rstrip() + "\n"


def _methods(protocol: type) -> Iterator[str]:
    """The signature of each method in a code block, then its documentation."""
    for node in _body(protocol):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        is_property = any(
            isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list
        )
        yield f"{OPEN}\n{'@property' + chr(10) if is_property else ''}{_signature(node)}\n```\n"
        text = ast.get_docstring(node)
        if text:
            yield f"{_wrapped(text)}\n"


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}: ..."


def _modules(values: Iterable[type]) -> str:
    """The modules that define the values, as code."""
    names = dict.fromkeys(value.__module__ for value in values)
    return " and ".join(f"`{name}`" for name in names)


def _value(value: type) -> str:
    """A frozen value or an error: its documentation, and its fields with their types and defaults,
    or its constructor."""
    body = _body(value)
    lines = [ast.unparse(node) for node in body if isinstance(node, ast.AnnAssign)]
    lines += [
        _signature(node)
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    block = "\n".join(lines).replace("''", '""')
    meaning = _wrapped(inspect.getdoc(value) or "")
    code = f"{OPEN}\n{block}\n```\n" if block else ""
    return f"### `{value.__name__}`\n\n{meaning}\n\n{code}"


def _body(value: type) -> list[ast.stmt]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    (definition,) = tree.body
    return definition.body if isinstance(definition, ast.ClassDef) else []


def _wrapped(text: str) -> str:
    """A documentation with its paragraphs in lines of at most 120 characters."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(textwrap.fill(" ".join(one.split()), 120) for one in paragraphs)
