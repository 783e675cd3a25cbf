"""Several tool providers as one, and the tools that one turn may use."""

from collections.abc import Sequence

import pytest

from gateway.errors import ToolError
from gateway.people import Audience, Role
from gateway.policy.access import ToolPolicy, allowed_tools
from gateway.ports import ToolSpec
from gateway.turn.tools import MAX_TOOLS, Toolbox
from tests.gateway.turn.stubs import StubTools, spec


class Broken(StubTools):
    async def tools(self) -> tuple[ToolSpec, ...]:
        raise RuntimeError("a bug")

    async def close(self) -> None:
        raise RuntimeError("a bug")


async def test_tools_of_all_providers_are_offered_and_routed_to_their_provider() -> None:
    first, second = StubTools(spec("a")), StubTools(spec("b"), spec("a"))
    toolbox = Toolbox([first, second])

    names = [each.name for each in await toolbox.tools()]

    assert names == ["a", "b"]
    assert await toolbox.call("a", {"x": 1}) == "a done"
    assert await toolbox.call("b", {}) == "b done"
    assert first.called == [("a", {"x": 1})]
    assert second.called == [("b", {})]


async def test_a_failing_provider_is_omitted_and_named() -> None:
    toolbox = Toolbox([Broken(), StubTools(spec("a"))])

    assert [each.name for each in await toolbox.tools()] == ["a"]
    assert toolbox.problems == ("a tool provider failed: RuntimeError",)
    await toolbox.close()


async def test_the_number_of_tools_is_limited() -> None:
    toolbox = Toolbox([StubTools(*(spec(f"t{n}") for n in range(500)))])

    assert len(await toolbox.tools()) == MAX_TOOLS


async def test_a_forbidden_tool_is_not_offered_and_refused_like_an_unknown_one() -> None:
    provider = StubTools(spec("a"), spec("b"))
    view = Toolbox([provider]).limited(lambda _specs: {"a"})

    assert [each.name for each in await view.tools()] == ["a"]
    assert await view.call("a", {}) == "a done"
    for name in ("b", "c"):
        with pytest.raises(ToolError, match=f"there is no tool '{name}'"):
            await view.call(name, {})
    assert provider.called == [("a", {})]


async def test_a_view_that_was_never_listed_also_refuses() -> None:
    provider = StubTools(spec("a"))

    with pytest.raises(ToolError):
        await Toolbox([provider]).limited(lambda _specs: ()).call("a", {})
    assert provider.called == []


@pytest.mark.parametrize(
    ("role", "audience", "names"),
    [
        (Role.MEMBER, Audience.DIRECT, ["read", "write"]),
        (Role.MEMBER, Audience.PUBLIC_ROOM, ["read"]),
        (Role.GUEST, Audience.PUBLIC_ROOM, []),
        (Role.OPERATOR, Audience.DIRECT, ["read", "write", "reveal"]),
        (Role.OPERATOR, Audience.PUBLIC_ROOM, ["read"]),
    ],
)
async def test_role_and_audience_decide_which_tools_are_offered(
    role: Role, audience: Audience, names: list[str]
) -> None:
    provider = StubTools(
        spec("read"),
        spec("write", side_effects=True),
        ToolSpec("reveal", "Shows secrets.", {"type": "object"}, secrets=True),
    )

    def permit(specs: Sequence[ToolSpec]) -> frozenset[str]:
        return allowed_tools(specs, role, audience, ToolPolicy())

    view = Toolbox([provider]).limited(permit)

    assert [each.name for each in await view.tools()] == names
