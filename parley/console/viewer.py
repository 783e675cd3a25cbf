"""The viewer of the console, and the texts that a viewer may read."""

from typing import Final, Literal

from msgspec import Struct

from gateway.people import Audience, PersonId, Principal, Role
from gateway.policy.decision import Decision
from gateway.ports.rights import NOBODY, Credential, Proof

LOCAL_OPERATOR: Final = PersonId("console", "local", "operator")
"""The person of a link that `parley console link --operator` prints: whoever runs commands on this
machine. No platform has such an account."""
STAGE: Final = "console_text"
BREAK_GLASS: Final = "break_glass"
"""The reason for which an operator reads a private text in an emergency."""

Theme = Literal["", "light", "dark"]


class Viewer(Struct, frozen=True):
    """The person who uses the console or its API, with the present role.

    `persons` are the `str(PersonId)` of this person and of all linked identities. `session` is the
    id of the session, empty for a request with a token, which proves `token`. `zone` is a name of a
    time zone, empty for UTC. `breaks_glass`: `console.break_glass` is on.
    """

    principal: Principal
    """The person with tenant and role."""
    persons: frozenset[str]
    session: str = ""
    zone: str = ""
    theme: Theme = ""
    """The chosen colours; empty: those of the browser."""
    breaks_glass: bool = False
    token: Proof = NOBODY
    language: str = ""
    """The name of the language of pages; empty for the installation's."""

    @property
    def tenant(self) -> str:
        """The tenant, beyond which nothing is visible."""
        return self.principal.tenant

    @property
    def person(self) -> str:
        """The `str(PersonId)` of this person."""
        return str(self.principal.person)

    @property
    def role(self) -> Role:
        """The present role."""
        return self.principal.role

    @property
    def proof(self) -> Proof:
        """The proof of this person."""
        return Proof(Credential.SESSION, self.role) if self.session else self.token

    @property
    def is_operator(self) -> bool:
        """True for operators and owners."""
        return self.role.at_least(Role.OPERATOR)

    @property
    def is_owner(self) -> bool:
        """True for owners."""
        return self.role is Role.OWNER


class TextSource(Struct, frozen=True):
    """A stored text: its tenant, who could read it when it was written, and the `str(PersonId)` of
    the people it belongs to, empty for a text that belongs to everybody there. A private memory has
    the audience DIRECT. `shown_to` is the `str(PersonId)` of the operator who took the conversation
    over and may read this text, empty for none."""

    tenant: str
    audience: Audience
    persons: frozenset[str]
    shown_to: str = ""


def may_read_text(viewer: Viewer, source: TextSource, *, emergency: bool = False) -> Decision:
    """Decide if this viewer may read a text. Metadata, decisions and costs need no such decision.

    `emergency`: an operator asks for a text of somebody else ("break glass"). If that is allowed,
    the reason is `break_glass`: the caller records it and informs the person before it shows the
    text. A token reads neither such a text nor one of a takeover: both need the session.
    """
    if source.tenant != viewer.tenant:
        return Decision(STAGE, False, "other_tenant")
    if source.persons & viewer.persons:
        return Decision(STAGE, True, "own")
    if source.audience is not Audience.DIRECT and viewer.is_operator:
        return Decision(STAGE, True, "shared_room")
    if not viewer.is_operator:
        return Decision(STAGE, False, "not_yours")
    if not viewer.session:
        return Decision(STAGE, False, "private")
    if source.shown_to and source.shown_to == viewer.person:
        return Decision(STAGE, True, "taken_over")
    if emergency and viewer.breaks_glass:
        return Decision(STAGE, True, BREAK_GLASS)
    return Decision(STAGE, False, "private")
