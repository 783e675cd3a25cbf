"""Which conversations are a project's, as the beginnings of their stored names."""

import json

from gateway.errors import BadInput


def beginnings(tenant: str, project: str) -> tuple[str, str]:
    """How `str(ConversationKey)` begins in this workspace, and in this channel without one.

    Raises `BadInput` unless the project is "platform:account:id".
    """
    platform, _, rest = project.partition(":")
    account, _, inside = rest.partition(":")
    if not (platform and account and inside):
        raise BadInput(f"{project[:80]!r} is no project: write platform:account:id")
    whole = ([tenant, platform, account, inside], [tenant, platform, account, "", inside])
    in_workspace, in_channel = (json.dumps(parts)[:-1] + "," for parts in whole)
    return in_workspace, in_channel
