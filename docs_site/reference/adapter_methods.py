"""The page of an adapter's methods, written from the protocols of `gateway.ports`."""

from collections.abc import Mapping
from typing import Final

from docs_site.reference.code_values import methods, modules, value
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
    SettingChoices,
    abilities,
    http_routes,
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
VALUES: Final[Mapping[str, tuple[type, ...]]] = {
    "Values of these methods": (
        *(abilities.LiveStyle, abilities.LiveView, abilities.ThreadMessages),
        *(abilities.ThreadMessage, abilities.Liveness, abilities.Check),
    ),
    "The context of an adapter": (AdapterContext, CommandSpec),
    "The manifest": (
        *(AdapterManifest, Capabilities, SendPace, message.TextCut, AccountSettings),
        SettingChoices,
    ),
    "Events": (
        *(message.MessageReceived, message.MessageEdited, message.MessageDeleted),
        *(message.CommandInvoked, message.ButtonPressed, message.ReactionChanged),
        *(message.MembershipChanged, message.InlineQueried),
    ),
    "The parts of a message": (
        *(message.ChatMessage, message.MessageAuthor, message.Place, message.Quote),
        *(message.Attachment, message.Extras, Material),
    ),
    "Sends": (
        *(message.Outbound, message.Part, message.OutboundFile, message.Button, message.Receipt),
    ),
    "Pages and webhooks": (
        *(http_routes.WebhookRequest, http_routes.WebhookResponse, http_routes.LocalRoute),
        *(http_routes.LocalRequest, http_routes.LocalResponse),
        *(http_routes.EventStream, http_routes.ServerEvent),
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
        ability
        for name, ability in vars(abilities).items()
        if name.startswith("Can") and ability.__module__ == abilities.__name__
    ]
    parts = [HEAD, "## Required: `PlatformAdapter`\n", *methods(PlatformAdapter)]
    parts.append("## Optional\n")
    for protocol in sorted([*optional, CanServePages], key=lambda one: one.__name__):
        note = " (remote)" if protocol in REMOTE_ABILITIES else ""
        parts += [f"### `{protocol.__name__}`{note}\n", *methods(protocol)]
    for title, values in VALUES.items():
        parts += [f"## {title}\n", f"From {modules(values)}.\n"]
        parts += [value(shown) for shown in values]
    return "\n".join(parts).rstrip() + "\n"
