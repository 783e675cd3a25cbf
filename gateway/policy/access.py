"""Access control by ids: decides whether a person may use the assistant in a place."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.policy.decision import Decision

STAGE = "access"
ANY = "*"
"""Stands for a workspace id: matches every place of the platform, with or without a workspace."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Lists of ids: "platform:id" for one platform, or the bare id. A list with entries denies
    everything that is not on it.

    An empty list is not in force; if all are empty, everybody is served (the default policy of the
    source). In a direct conversation a person on `allowed_users` needs no allowed channel, because
    the ids of direct conversations are not known in advance.

    With `allowed_workspaces` set, a place without a workspace (a platform that has none, a direct
    conversation on Discord) is refused too, except the direct conversation of a person on
    `allowed_users`. "platform:*" stands for all places of a platform.
    """

    allowed_channels: AbstractSet[str] = frozenset()
    blocked_channels: AbstractSet[str] = frozenset()
    allowed_users: AbstractSet[str] = frozenset()
    blocked_users: AbstractSet[str] = frozenset()
    allowed_workspaces: AbstractSet[str] = frozenset()
    blocked_workspaces: AbstractSet[str] = frozenset()

    @property
    def serves_everybody(self) -> bool:
        """True when no list is in force."""
        return not (
            self.allowed_channels
            or self.blocked_channels
            or self.allowed_users
            or self.blocked_users
            or self.allowed_workspaces
            or self.blocked_workspaces
        )


def listed(names: AbstractSet[str], platform: str, ids: tuple[str, ...]) -> bool:
    """Return True if one of the ids is on the list, bare or with its platform."""
    return bool(names) and any(i in names or f"{platform}:{i}" in names for i in ids if i)


def decide_access(
    person: PersonId,
    place: Place,
    policy: AccessPolicy,
    *,
    aliases: tuple[str, ...] = (),
    former: tuple[str, ...] = (),
    trusted: bool = False,
) -> Decision:
    """Decide if `person` is served in `place`.

    `aliases` are further immutable ids of the person. `former` are earlier ids: they can block the
    person, but never allow anything. `trusted` people (owners and operators) need no entry on an
    allow list, but block lists apply to them.
    """
    if policy.serves_everybody:
        return Decision(STAGE, True, "trusted" if trusted else "open")
    ids = (person.id, *aliases)
    rooms = (place.channel_id, place.thread_id)
    if listed(policy.blocked_users, place.platform, (*ids, *former)):
        return Decision(STAGE, False, "user_blocked")
    if listed(policy.blocked_channels, place.platform, rooms):
        return Decision(STAGE, False, "channel_blocked")
    workspace = (place.workspace_id, ANY)
    if listed(policy.blocked_workspaces, place.platform, workspace):
        return Decision(STAGE, False, "workspace_blocked")
    if trusted:
        return Decision(STAGE, True, "trusted")
    known = listed(policy.allowed_users, place.platform, ids)
    if policy.allowed_users and not known:
        return Decision(STAGE, False, "user_not_allowed")
    direct = known and place.audience is Audience.DIRECT
    in_workspace = listed(policy.allowed_workspaces, place.platform, workspace)
    if policy.allowed_workspaces and not in_workspace and not direct:
        return Decision(STAGE, False, "workspace_not_allowed")
    in_channel = listed(policy.allowed_channels, place.platform, rooms)
    if policy.allowed_channels and not in_channel and not direct:
        return Decision(STAGE, False, "channel_not_allowed")
    return Decision(STAGE, True, "listed" if policy.allowed_users else "open")
