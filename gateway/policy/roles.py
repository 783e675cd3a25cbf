"""Roles of people, and the tools that a role may use in front of an audience."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from gateway.people import Audience, PersonId, Role
from gateway.policy.access import listed
from gateway.settings import Section
from gateway.tool_spec import ToolSpec


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
