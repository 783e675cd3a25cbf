"""Access control by ids: whether a person may use the assistant in a place, the role of a person,
and the tools that a role may use in front of an audience."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, Literal, TypeVar

from msgspec import Struct, field

from gateway.message import Place
from gateway.people import Audience, PersonId, Role
from gateway.policy.decision import Decision
from gateway.settings import Section
from gateway.tool_spec import ToolSpec

T = TypeVar("T")
STAGE = "access"
ANY = "*"
"""Stands for a workspace id: matches every place of the platform, with or without a workspace."""
AdmissionRule = Literal["everybody", "approved", "owners"]
NOT_APPROVED: Final = "not_approved"
"""The reason for a person who may ask for admission."""
OWNERS_ONLY: Final = "owners_only"
"""The reason for a person where nobody can be approved."""


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
        reason = NOT_APPROVED if policy.admission == "approved" else OWNERS_ONLY
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


class RolePolicy(Struct, frozen=True):
    """Ids of owners, operators and members ("platform:id" or bare); everybody else has the
    `default` role."""

    owners: AbstractSet[str] = frozenset()
    operators: AbstractSet[str] = frozenset()
    members: AbstractSet[str] = frozenset()
    default: Role = Role.MEMBER


def role_of(
    person: PersonId,
    policy: RolePolicy,
    *,
    aliases: tuple[str, ...] = (),
    outside: bool = False,
    granted: Role | None = None,
) -> Role:
    """Return the highest role of the person's immutable ids; at most guest for an author from
    outside, even if an id is listed. `granted` is a stored role beside the lists."""
    if outside:
        return Role.GUEST
    if granted is Role.OWNER:
        return granted
    ids = (person.id, *aliases)
    for names, role in (
        (policy.owners, Role.OWNER),
        (policy.operators, Role.OPERATOR),
        (policy.members, Role.MEMBER),
    ):
        if names and listed(names, person.platform, ids):
            return role
    return policy.default


def may_decide(policy: RolePolicy) -> bool:
    """Return True if the lists name somebody who may approve people."""
    return bool(policy.owners or policy.operators)


class ToolRule(Section):
    """The people who may use a tool, and the audiences in which it is available."""

    role: Role = Role.MEMBER
    """Lowest role that may use the tool: guest, member, operator or owner."""
    audiences: tuple[Audience, ...] = tuple(Audience)
    """Audiences in which the tool is available: direct, private_room, public_room."""


READ_ONLY = ToolRule()
SIDE_EFFECTS = ToolRule(audiences=(Audience.DIRECT, Audience.PRIVATE_ROOM))
SECRETS = ToolRule(role=Role.OPERATOR, audiences=(Audience.DIRECT,))


class ToolPolicy(Struct, frozen=True):
    """Rules by tool name or by server (the part before `__`); the defaults depend on the tool.

    Without a rule, tools with side effects are not used in public rooms, and tools that handle
    secrets are for operators in a direct conversation. A tool has side effects unless it declares
    that it only reads.
    """

    rules: Mapping[str, ToolRule] = field(default_factory=dict)

    def rule_for(self, tool: ToolSpec) -> ToolRule:
        """Return the rule for a tool."""
        if self.rules:
            configured = self.rules.get(tool.name) or self.rules.get(tool.name.partition("__")[0])
            if configured is not None:
                return configured
        if tool.secrets:
            return SECRETS
        return SIDE_EFFECTS if tool.side_effects else READ_ONLY


def allowed_tools(
    tools: Iterable[ToolSpec], role: Role, audience: Audience, policy: ToolPolicy
) -> frozenset[str]:
    """Return the names of the tools that `role` may use before `audience`. Guests get tools only
    through a rule."""
    names = set()
    for tool in tools:
        rule = policy.rule_for(tool)
        if role.at_least(rule.role) and audience in rule.audiences:
            names.add(tool.name)
    return frozenset(names)
