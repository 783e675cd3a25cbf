"""Who somebody is to the assistant, and which tools that role may use before whom."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from gateway.people import Audience, PersonId, Role
from gateway.policy.access import listed
from gateway.ports import ToolSpec


@dataclass(frozen=True, slots=True)
class RolePolicy:
    """Ids of owners, operators and members ("platform:id" or bare); everybody else is `default`."""

    owners: AbstractSet[str] = frozenset()
    operators: AbstractSet[str] = frozenset()
    members: AbstractSet[str] = frozenset()
    default: Role = Role.MEMBER


def role_of(
    person: PersonId, policy: RolePolicy, *, aliases: tuple[str, ...] = (), outside: bool = False
) -> Role:
    """The highest role that one of the person's immutable ids holds; at most guest for an author
    from outside, also where an id of theirs is listed."""
    if outside:
        return Role.GUEST
    ids = (person.id, *aliases)
    for names, role in (
        (policy.owners, Role.OWNER),
        (policy.operators, Role.OPERATOR),
        (policy.members, Role.MEMBER),
    ):
        if names and listed(names, person.platform, ids):
            return role
    return policy.default


@dataclass(frozen=True, slots=True)
class ToolRule:
    """Who may use a tool: from which role on, and before which audiences."""

    role: Role = Role.MEMBER
    audiences: AbstractSet[Audience] = frozenset(Audience)


READ_ONLY = ToolRule()
SIDE_EFFECTS = ToolRule(audiences=frozenset({Audience.DIRECT, Audience.PRIVATE_ROOM}))
SECRETS = ToolRule(role=Role.OPERATOR, audiences=frozenset({Audience.DIRECT}))


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """Rules by tool name or by server (what stands before `__`); the defaults follow the tool.

    Without a rule, what changes something stays out of public rooms and what handles secrets is
    for operators in a direct conversation: a tool that does not say it only reads is taken as one
    that changes something.
    """

    rules: Mapping[str, ToolRule] = field(default_factory=dict)

    def rule_for(self, tool: ToolSpec) -> ToolRule:
        """The rule in force for a tool."""
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
    """Names of the tools that `role` may use before `audience`. Guests use read-only tools at most
    where a rule says so."""
    names = set()
    for tool in tools:
        rule = policy.rule_for(tool)
        if role.at_least(rule.role) and audience in rule.audiences:
            names.add(tool.name)
    return frozenset(names)
