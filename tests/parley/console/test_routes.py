"""The route table: each route answers each kind of person as its rule says, as a page and in the
API. Generated, so that a new route is tested by being listed."""

import dataclasses
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from gateway.people import PersonId, Principal, Role
from gateway.ports.action import Input, Nothing
from gateway.ports.rights import Credential, Proof, TokenScope, in_person, to_read
from parley.console.pages import TEMPLATES
from parley.console.route import AnyRoute, ItemParams, may_use
from parley.console.routes import ROUTES
from parley.console.viewer import Viewer
from tests.parley.console.kit import (
    OPERATOR,
    OTHER,
    OWNER,
    PERSON,
    Console,
    console_in,
    console_settings,
)
from tests.support.for_each import for_each

PEOPLE = {PERSON: Role.MEMBER, OTHER: Role.MEMBER, OPERATOR: Role.OPERATOR, OWNER: Role.OWNER}
FIRST = ROUTES[0]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Console]:
    folder: Path = tmp_path_factory.mktemp("console")
    async with console_in(console_settings(folder)) as started:
        yield started


def address(route: AnyRoute) -> tuple[str, dict[str, str]]:
    """The path of a route with its example parameters, and the others of them."""
    values = dict(route.example)
    path = route.path.replace("{id}", values.pop("id", "0123456789abcdef"))
    return path, values


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", ["", *PEOPLE])
@for_each("route", ROUTES)
async def test_a_page_answers_those_whom_its_rule_names(
    shared: Console, route: AnyRoute, name: str
) -> None:
    visitor = await shared.visitor(name)
    path, values = address(route)
    if route.method == "GET":
        query = "&".join(f"{key}={value}" for key, value in values.items())
        page = await visitor.get(f"{path}?{query}" if query else path)
    else:
        page = await visitor.post(path, values)
    if not name:
        assert page.status == 401
    elif PEOPLE[name].at_least(route.allowed.role):
        assert page.status in (200, 303, 404, 409, 422), page.text
    else:
        assert page.status == 403


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", ["", *PEOPLE])
@for_each("route", ROUTES)
async def test_the_api_answers_those_whom_the_rule_names(
    shared: Console, route: AnyRoute, name: str
) -> None:
    client = shared.signed_in(name)
    path, values = address(route)
    if route.method == "GET":
        answer = await client("GET", f"/console{path}", params=values)
    else:
        given = route.params.model_validate(values, strict=False)
        fields = given.model_dump(mode="json", exclude_unset=True)
        body = None if set(route.params.model_fields) <= {"id"} else fields
        answer = await client("POST", f"/console{path}", body)
    if not name:
        assert answer.status == 401
    elif PEOPLE[name].at_least(route.allowed.role):
        assert answer.status in (200, 404, 409, 422), answer.json
        if answer.status == 200:
            route.result.model_validate_json(
                route.result.model_validate(answer.json, strict=False).model_dump_json()
            )
    else:
        assert answer.status == 403
        assert answer.code == "not_allowed"


@for_each("needed", Role)
@for_each("role", Role)
def test_a_rule_admits_its_role_and_higher_ones(needed: Role, role: Role) -> None:
    viewer = Viewer(Principal("t", PersonId("p", "a", "x"), role), frozenset({"p:a:x"}), "s1")
    decision = may_use(viewer, dataclasses.replace(FIRST, allowed=to_read(needed)))
    assert decision.allowed == role.at_least(needed)
    assert decision.reason == (role.value if decision.allowed else f"needs_{needed.value}")


def test_a_rule_for_people_admits_no_token() -> None:
    owner = Principal("t", PersonId("p", "a", "x"), Role.OWNER)
    token = Proof(Credential.TOKEN, Role.OWNER, frozenset(TokenScope))
    viewer = Viewer(owner, frozenset({"p:a:x"}), token=token)
    assert may_use(viewer, FIRST).allowed
    assert not may_use(viewer, dataclasses.replace(FIRST, allowed=in_person(Role.GUEST))).allowed


@for_each("route", ROUTES)
def test_no_action_takes_a_token(route: AnyRoute) -> None:
    assert (route.method == "GET") or route.allowed.by == {Credential.SESSION}


def test_names_and_paths_are_unique() -> None:
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"allowed": None}, "declares who may use it"),
        ({"method": "POST", "template": "x"}, "and no token"),
        ({"path": "/x/{id}", "form": Input}, "ItemParams"),
        ({"method": "POST", "template": "", "allowed": in_person(Role.GUEST)}, "an action needs"),
        ({"template": ""}, "a view needs a template"),
    ],
)
def test_an_incomplete_route_cannot_be_made(change: dict[str, object], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        dataclasses.replace(FIRST, **change)  # type: ignore[arg-type]  # wrong on purpose


@for_each("route", ROUTES)
def test_a_route_is_complete(route: AnyRoute) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*", route.name)
    assert re.fullmatch(r"(/[a-z-]+|/\{id\})+(\.csv)?", route.path)
    assert route.summary
    assert not str(route.summary).endswith(".")
    assert issubclass(route.params, Input)
    assert ("{id}" in route.path) == issubclass(route.params, ItemParams)
    assert not route.template or (TEMPLATES / route.template).is_file()
    if route.method == "GET":
        assert route.params is Nothing or route.params.__name__.endswith(("Query", "Params"))
