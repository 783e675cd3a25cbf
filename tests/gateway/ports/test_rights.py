"""What a caller lacks, and declarations that cannot be made."""

import pytest

from gateway.people import Role
from gateway.ports.http_routes import LocalRoute
from gateway.ports.rights import (
    AGENT_READS,
    AGENT_WRITES,
    BY_PLATFORM,
    EVERY_SCOPE,
    IN_CHAT,
    LOCAL_PAGES,
    OPEN,
    TOKEN_READS,
    TOKEN_WRITES,
    Allowed,
    Credential,
    Proof,
    TokenScope,
    by_agent_too,
    in_person,
    missing,
    to_read,
)
from tests.support.for_each import for_each

READS = frozenset({TokenScope.READ})
DECLARED = (
    in_person(Role.GUEST),
    to_read(Role.GUEST),
    TOKEN_READS,
    TOKEN_WRITES,
    AGENT_WRITES,
    IN_CHAT,
    LOCAL_PAGES,
    BY_PLATFORM,
)


@for_each("allowed", DECLARED)
@for_each("credential", Credential)
def test_only_a_declared_credential_is_enough(allowed: Allowed, credential: Credential) -> None:
    lacks = missing(allowed, Proof(credential, Role.OWNER, EVERY_SCOPE))
    assert bool(lacks) == (credential not in allowed.by)


@for_each("credential", Credential)
def test_what_is_open_needs_nothing(credential: Credential) -> None:
    assert missing(OPEN, Proof(credential, Role.GUEST)) == ""


def test_a_token_needs_the_scope_and_a_session_needs_none() -> None:
    reads, nothing = Proof(Credential.TOKEN, Role.OWNER, READS), Proof(Credential.TOKEN, Role.OWNER)
    assert missing(TOKEN_WRITES, reads) == "write"
    assert missing(TOKEN_READS, reads) == ""
    assert missing(TOKEN_READS, nothing) == "read"
    assert missing(to_read(Role.GUEST), Proof(Credential.SESSION, Role.GUEST)) == ""


def test_an_agent_needs_to_be_named_the_scope_and_the_capability() -> None:
    agent = Proof(Credential.AGENT, Role.GUEST, READS, frozenset({"memory_read"}))
    assert missing(TOKEN_READS, agent) == "token"  # default deny
    assert missing(AGENT_READS, agent) == ""
    assert missing(AGENT_WRITES, agent) == "write"
    assert missing(by_agent_too(TokenScope.READ, "memory_read"), agent) == ""
    assert missing(by_agent_too(TokenScope.READ, "kb_search"), agent) == "kb_search"
    person = Proof(Credential.TOKEN, Role.GUEST, READS)
    assert missing(by_agent_too(TokenScope.READ, "kb_search"), person) == ""


@for_each("role", Role)
@for_each("needed", Role)
def test_the_role_is_the_least_one(role: Role, needed: Role) -> None:
    lacks = missing(in_person(needed), Proof(Credential.SESSION, role))
    assert lacks == ("" if role.at_least(needed) else needed.value)


def test_an_incomplete_declaration_cannot_be_made() -> None:
    by_token = frozenset({Credential.TOKEN})
    with pytest.raises(TypeError, match="name a credential"):
        Allowed(frozenset(), Role.GUEST, None, "")
    with pytest.raises(TypeError, match="scope"):
        Allowed(by_token, Role.GUEST, None, "")
    with pytest.raises(TypeError, match="scope"):
        Allowed(frozenset({Credential.CHAT}), Role.GUEST, TokenScope.READ, "")
    with pytest.raises(TypeError):
        Allowed(by_token)  # type: ignore[call-arg]  # wrong on purpose
    with pytest.raises(TypeError):
        LocalRoute("GET", "/x", None)  # type: ignore[call-arg,arg-type]  # wrong on purpose
