"""The app manifest, which creates the Slack app in one step at api.slack.com/apps."""

from typing import Final, Literal

import yaml

from gateway.ports import CommandSpec
from gateway.text import Text, text

SCOPES: Final[dict[str, Text]] = {
    # Translators: after "missing: to".
    "app_mentions:read": text("see messages that mention it"),
    # Translators: after "missing: to".
    "channels:history": text(
        "read messages of public channels it was invited to, and their threads"
    ),
    # Translators: after "missing: to".
    "channels:read": text("notice when people join or leave public channels"),
    # Translators: after "missing: to".
    "chat:write": text("answer"),
    # Translators: after "missing: to".
    "commands": text("offer slash commands"),
    # Translators: after "missing: to".
    "files:read": text("open files that people send it"),
    # Translators: after "missing: to".
    "files:write": text("send files"),
    # Translators: after "missing: to".
    "groups:history": text(
        "read messages of private channels it was invited to, and their threads"
    ),
    # Translators: after "missing: to".
    "groups:read": text("notice when people join or leave private channels"),
    # Translators: after "missing: to".
    "im:history": text("read direct messages, and their threads"),
    # Translators: after "missing: to".
    "im:read": text("distinguish its own direct messages from those of other people"),
    # Translators: after "missing: to".
    "mpim:history": text("read group direct messages it is part of, and their threads"),
    # Translators: after "missing: to".
    "reactions:read": text("see reactions"),
    # Translators: after "missing: to".
    "reactions:write": text("add reactions"),
    # Translators: after "missing: to".
    "users:read": text("know people's display names, and who is a guest or has left"),
}
"""Every scope of the bot token, and its purpose."""

EVENTS: Final = (
    "app_mention",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
    "reaction_removed",
    "user_change",
)
"""The events that the bot subscribes to."""

RESERVED: Final = frozenset({"help"})
"""Commands that Slack reserves; people write them to the app as a message."""

_NAME_LIMIT: Final = 35
"""Characters of an app's name (docs.slack.dev, reference/app-manifest)."""


def app_manifest(
    name: str,
    mode: Literal["socket", "http"] = "socket",
    request_url: str = "",
    commands: tuple[CommandSpec, ...] = (),
) -> str:
    """The manifest as YAML.

    `request_url` is the public address of `/webhook/slack`, needed in `http` mode only. Raises
    ValueError when it is missing there, or not https.
    """
    if mode == "http" and not request_url.startswith("https://"):
        raise ValueError(
            "HTTP mode needs the public https address of the listener,"
            " such as https://chat.example.org/webhook/slack"
        )
    url = {} if mode == "socket" else {"request_url": request_url}
    slash = {} if mode == "socket" else {"url": request_url}
    manifest: dict[str, object] = {
        "display_information": {"name": name[:_NAME_LIMIT] or "Parley"},
        "features": {
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": name[:_NAME_LIMIT] or "Parley", "always_online": True},
            "slash_commands": [
                _slash_command(command) | slash
                for command in commands
                if command.name not in RESERVED
            ],
        },
        "oauth_config": {"scopes": {"bot": sorted(SCOPES)}},
        "settings": {
            "event_subscriptions": {**url, "bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True, **url},
            "org_deploy_enabled": False,
            "socket_mode_enabled": mode == "socket",
            "token_rotation_enabled": False,
        },
    }
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True)


def _slash_command(command: CommandSpec) -> dict[str, object]:
    described: dict[str, object] = {
        "command": f"/{command.name}",
        "description": str(command.description),
        "should_escape": True,
    }
    if command.takes_arguments:
        argument = str(command.argument_help or command.argument_name)
        described["usage_hint"] = f"[{argument}]"
    return described
