"""Access control by ids: decides whether a person may use the assistant in a place."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, Literal, TypeVar

from msgspec import Struct

from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.policy.decision import Decision

T = TypeVar("T")
STAGE = "access"
ANY = "*"
"""Stands for a workspace id: matches every place of the platform, with or without a workspace."""
AdmissionRule = Literal["everybody", "approved", "owners"]
NOT_APPROVED: Final = "not_approved"
"""The reason for a person who may ask for admission."""


class AccessPolicy(Struct, frozen=True):
    """Lists of ids: "platform:id" for one platform, or the bare id. A list with entries denies
    everything that is not on it. An empty list has no effect; if all are empty, everybody is
    admitted (the default policy of the source). In a direct conversation a person on
    `allowed_users` needs no allowed channel, because the ids of direct conversations are not known
    in advance.

    With `allowed_workspaces` set, a place without a workspace (a platform that has none, a direct
    conversation on Discord) is refused too, except the direct conversation of a person on
    `allowed_users`. "platform:*" stands for all places of a platform.

    `admission` decides about people: with "approved" or "owners" a person needs an entry in
    `allowed_users`, or the role owner or operator; with "approved" an approval is sufficient too.
    """

    admission: AdmissionRule = "everybody"
    allowed_channels: AbstractSet[str] = frozenset()
    blocked_channels: AbstractSet[str] = frozenset()
    allowed_users: AbstractSet[str] = frozenset()
    blocked_users: AbstractSet[str] = frozenset()
    allowed_workspaces: AbstractSet[str] = frozenset()
    blocked_workspaces: AbstractSet[str] = frozenset()

    @property
    def serves_everybody(self) -> bool:
        """True when no list is in force, and nobody needs an admission."""
        return self.admission == "everybody" and not (
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


def named_channel(channels: Mapping[str, T], platform: str, ids: Iterable[str]) -> T | None:
    """Return the entry of a channel, named "platform:id" or by a bare id."""
    names = (name for id_ in ids for name in (f"{platform}:{id_}", id_))
    return next((channels[name] for name in names if name in channels), None)


def decide_access(
    person: PersonId,
    place: Place,
    policy: AccessPolicy,
    *,
    aliases: tuple[str, ...] = (),
    former: tuple[str, ...] = (),
    trusted: bool = False,
    approved: bool = False,
) -> Decision:
    """Decide if `person` is served in `place`.

    `aliases` are further immutable ids of the person. `former` are earlier ids: they can block the
    person, but never allow anything. `trusted` people (owners and operators) need no entry on an
    allow list, but block lists apply to them. `approved` people have an admission, which is needed
    only for the reason `NOT_APPROVED`.
    """
    if policy.serves_everybody:
        return Decision(STAGE, True, "trusted" if trusted else "open")
    ids = (person.id, *aliases)
    blocked = _blocked((*ids, *former), place, policy)
    if blocked:
        return Decision(STAGE, False, blocked)
    if trusted:
        return Decision(STAGE, True, "trusted")
    known = listed(policy.allowed_users, place.platform, ids)
    approved = approved and policy.admission == "approved"
    if policy.admission == "everybody" and policy.allowed_users and not known:
        return Decision(STAGE, False, "user_not_allowed")
    welcome = known or approved or policy.admission == "everybody"
    if place.audience is not Audience.DIRECT or not (known or approved):
        refused = _closed_place(place, policy, stranger=not welcome)
        if refused:
            return Decision(STAGE, False, refused)
    if not welcome:
        reason = NOT_APPROVED if policy.admission == "approved" else "owners_only"
        return Decision(STAGE, False, reason)
    return Decision(STAGE, True, "listed" if known else "approved" if approved else "open")


def _blocked(ids: tuple[str, ...], place: Place, policy: AccessPolicy) -> str:
    """Return the reason for which a block list refuses; empty for none."""
    if listed(policy.blocked_users, place.platform, ids):
        return "user_blocked"
    if listed(policy.blocked_channels, place.platform, (*place.channel_ids, place.thread_id)):
        return "channel_blocked"
    if listed(policy.blocked_workspaces, place.platform, (place.workspace_id, ANY)):
        return "workspace_blocked"
    return ""


def _closed_place(place: Place, policy: AccessPolicy, *, stranger: bool) -> str:
    """Return the reason for which a list of places refuses; empty for none. Direct conversations
    of strangers are closed only for another workspace: their admission opens them."""
    workspace, rooms = (place.workspace_id, ANY), (*place.channel_ids, place.thread_id)
    first_contact = stranger and place.audience is Audience.DIRECT
    within = listed(policy.allowed_workspaces, place.platform, workspace)
    in_none = first_contact and not place.workspace_id
    if policy.allowed_workspaces and not (within or in_none):
        return "workspace_not_allowed"
    within = listed(policy.allowed_channels, place.platform, rooms)
    if policy.allowed_channels and not (within or first_contact):
        return "channel_not_allowed"
    return ""
