"""A person's costs, decisions and conversations, over HTTP."""

from gateway.conversation import ConversationKey
from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.conversations import StoredTurn
from gateway.ports.usage import UsageRow
from memory.model.record import Draft, Kind
from tests.parley.http.api.kit import ApiClient, Program


async def test_a_person_sees_only_their_own_costs(
    program: Program, ada: ApiClient, eve: ApiClient
) -> None:
    now = SystemClock().now()
    row = UsageRow("default", "web:main:ada", "", "a-model", Usage(10, 5), 7, now)
    await program.app.services.stores.usage.settle("turn", (row,), ())
    response = (await ada("GET", "/usage?days=1")).json
    assert (response["micros"], response["budgets"]) == (7, [])
    (model,) = response["models"]
    assert (model["model"], model["answers"], model["output_tokens"]) == ("a-model", 1, 5)
    assert (await eve("GET", "/usage")).json == {"micros": 0, "models": [], "budgets": []}
    assert (await ada("GET", "/usage?days=0")).status == 400


async def test_decisions_are_listed_without_their_text(ada: ApiClient, eve: ApiClient) -> None:
    handle = await ada.in_private()
    waiting = await handle.write.infer(Draft("Ada may own a boat", Kind.FACT))
    assert (await ada("GET", "/brain/decisions")).json == {"decisions": []}
    await ada("POST", f"/brain/reviews/{waiting.review_id}/reject", {"reason": "no boat"})
    (decision,) = (await ada("GET", "/brain/decisions")).json["decisions"]
    assert (decision["id"], decision["decision"], decision["note"]) == (
        waiting.review_id,
        "rejected",
        "no boat",
    )
    assert "own a boat" not in str(decision)
    assert (await eve("GET", "/brain/decisions")).json == {"decisions": []}


async def test_working_memory_is_listed_as_a_tier(
    program: Program, ada: ApiClient, eve: ApiClient
) -> None:
    key = ConversationKey("default", "web", "main", "", "ada")
    turn = StoredTurn("m1", "user", "Ada asks", SystemClock().now(), "web:main:ada", "Ada")
    await program.app.services.stores.conversations.append(key, (turn,))
    response = (await ada("GET", "/brain/memories?tier=working")).json
    assert [(one["content"], one["tier"], one["role"]) for one in response["memories"]] == [
        ("Ada asks", "working", "user")
    ]
    assert response["next"] is None
    assert (await eve("GET", "/brain/memories?tier=working")).json["memories"] == []
    assert (await ada("GET", "/brain/memories")).json["memories"] == []
