"""The OpenAPI description, made from the addresses of the actions and the views of the console."""

from typing import Any, cast

import pytest

from gateway.people import Role
from gateway.ports.action import EVERYBODY, ActionCall, Effect, Nothing, Output, action
from gateway.ports.rights import Credential, Denied, Proof, TokenScope, in_person
from parley.console.api import operations_of
from parley.console.routes import ROUTES
from parley.http.api.addresses import OPERATIONS
from parley.http.api.openapi import describe


def test_each_model_has_a_name_of_its_own() -> None:
    """Two models of one name would be told apart by the modules they are in."""
    described = cast("dict[str, Any]", describe((*OPERATIONS, *operations_of(ROUTES))))
    names = described["components"]["schemas"]
    assert len(names) > 150
    assert [name for name in names if "__" in name] == []


def test_an_address_takes_the_tokens_that_its_action_takes() -> None:
    for one in OPERATIONS:
        assert one.allowed.by <= {Credential.TOKEN, Credential.AGENT}
        reads = one.method == "GET"
        assert one.allowed.scope is (TokenScope.READ if reads else TokenScope.WRITE), one.name


def test_an_action_without_rights_cannot_be_made() -> None:
    with pytest.raises(TypeError):
        action("Read")  # type: ignore[call-arg] # wrong on purpose
    with pytest.raises(TypeError, match="effect"):
        action("Read", by=EVERYBODY, capability="memory_read")  # type: ignore[call-arg] # wrong on purpose
    with pytest.raises(TypeError, match="which capability"):
        action("Read", by=EVERYBODY, effect=Effect.READS)
    with pytest.raises(TypeError, match="nobody"):

        @action("Read", by=frozenset(), effect=Effect.READS)
        async def read(call: ActionCall, given: Nothing) -> Output:
            """Nobody reads this."""
            return Output()


async def test_an_address_can_only_take_away_rights() -> None:
    @action("Write", by=EVERYBODY, capability="memory_write", effect=Effect.WRITES)
    async def write(call: ActionCall, given: Nothing) -> Output:
        """Write."""
        return Output()

    everywhere = write.on(*Credential)
    assert everywhere == write.allowed
    browser = write.on(Credential.SESSION)
    assert browser == in_person(Role.GUEST)
    with pytest.raises(TypeError, match="nobody"):
        write.on(Credential.LOCAL)
    reads = Proof(Credential.TOKEN, Role.OWNER, frozenset({TokenScope.READ}))
    with pytest.raises(Denied, match="only reads"):
        await write(ActionCall(reads), Nothing())
