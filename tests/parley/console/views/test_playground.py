"""The playground: the real pipeline in a sandbox, of which only the cost is stored, on both
databases."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from db import Statement
from gateway.ports import ModelMessage, ModelRequest, ToolCall, ToolSpec
from gateway.ports.clock import SystemClock
from memory.model.record import Draft, Kind
from parley.console import playgrounds
from parley.wiring.sandbox import NOT_RUN
from tests.parley.console.kit import (
    OPERATOR,
    OWNER,
    Console,
    Sections,
    console_in,
    console_settings,
    on_postgres,
    person_named,
)
from tests.support.gateway import Model
from tests.support.immutable import force
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")
PRICES = {"offline": {"input": 1000.0, "output": 1000.0}}
SPENT = Statement("SELECT tenant, person, workspace, micros FROM usage ORDER BY id")
MARK = "xylophone"
KEPT = {"usage", "spent", "memory_audit"}
"""The tables that a playground writes to: its cost, and that it was opened."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Console]:
    folder: Path = tmp_path_factory.mktemp("playground")
    budgets = {"prices": PRICES, "user_per_day": 1000}
    async with console_in(console_settings(folder, budgets=budgets)) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def console(shared: Console) -> AsyncIterator[Console]:
    """The program, of which no playground is open."""
    yield shared
    await shared.app.playgrounds.stop()


@pytest_asyncio.fixture(
    loop_scope="module",
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))],
)
async def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Console]:
    """A program of its own, on either database."""
    sections: Sections = {"budgets": {"prices": PRICES, "user_per_day": 1000}}
    if request.param == "postgres":
        sections = {**sections, **on_postgres(request.getfixturevalue("postgres"), tmp_path)}
    async with console_in(console_settings(tmp_path, **sections)) as started:
        yield started


@pytest.fixture
def model(console: Console, monkeypatch: pytest.MonkeyPatch) -> Model:
    """The program's model, in the hand of the test."""
    return model_of(console, monkeypatch)


def model_of(console: Console, monkeypatch: pytest.MonkeyPatch) -> Model:
    made = Model(reply=lambda _: f"**{MARK}** answers")
    made.open.set()
    monkeypatch.setattr(console.app.services.provider, "_provider", made)
    return made


@contextmanager
def changed(holder: object, name: str, value: object) -> Iterator[None]:
    """A frozen value of the configuration with another field."""
    before = getattr(holder, name)
    force(holder, name, value)
    yield
    force(holder, name, before)


@dataclass
class Tools:
    """Implements `ToolProvider`: one tool that reads, one that changes, one with secrets."""

    called: list[str] = field(default_factory=list)

    async def tools(self) -> tuple[ToolSpec, ...]:
        schema: dict[str, object] = {"type": "object", "properties": {}}
        return (
            ToolSpec("look", "reads", schema, side_effects=False),
            ToolSpec("order", "changes", schema),
            ToolSpec("keys", "has secrets", schema, side_effects=False, secrets=True),
        )

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        self.called.append(name)
        return "done"

    async def close(self) -> None:
        """Do nothing."""


async def played(console: Console, by: str = OPERATOR, **fields: str) -> Any:
    """Ask in the playground of this person's session; return its state after the answer."""
    client = console.signed_in(by)
    form = {"text": f"what is a {MARK}?", "platform": "web", **fields}
    asked = await client("POST", "/console/playground/ask", form)
    assert asked.status == 200, asked.json
    return await answered(console, by)


async def answered(console: Console, name: str = OPERATOR) -> Any:
    client = console.signed_in(name)

    async def done() -> bool:
        return not (await client("GET", "/console/playground")).json["writing"]

    await eventually(done)
    return (await client("GET", "/console/playground")).json


async def tables(console: Console) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    found = {}
    storage = console.app.storage
    for database in {storage.takeovers._database, storage.hot.inbox._database}:  # type: ignore[attr-defined]  # not in the ports
        names = (
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
            if database.engine == "sqlite"
            else "SELECT quote_ident(table_name) FROM information_schema.tables"
            " WHERE table_schema = current_schema()"
        )
        for (name,) in await database.fetch(Statement(names)):
            rows = await database.fetch(Statement(f"SELECT * FROM {name}"))
            if name not in ("sqlite_sequence", "claimed_keys"):  # of SQLite and of health checks
                kept = sorted(str(row) for row in rows if "watch" not in row)
                found[f"{database.engine} {name}"] = kept
    return found


async def test_a_message_is_handled_as_in_a_chat_and_shown_on_each_platform(
    console: Console, model: Model
) -> None:
    state = await played(console, who="member", name="Mina", place="public", mention="yes")
    (one,) = state["tries"]
    assert (one["role"], one["name"], one["outcome"]) == ("member", "Mina", "answered")
    assert one["answer"]["text"] == f"**{MARK}** answers"
    chosen = state["chosen"]
    titles = [step["title"] for step in chosen["timeline"]["steps"]]
    assert titles[:5] == [
        "Addressed to the assistant",
        "Role of the person",
        "Check for bot loops",
        "Access",
        "Rate limits",
    ]
    assert [block["kind"] for block in chosen["timeline"]["blocks"]][:1] == ["system"]
    by_name = {one["platform"]: one["parts"] for one in chosen["renderings"]}
    assert {"discord", "slack", "telegram", "whatsapp"} <= set(by_name)
    assert by_name["telegram"][0]["body"]["text"] == f"<b>{MARK}</b> answers"
    assert by_name["whatsapp"][0]["body"]["text"] == f"*{MARK}* answers"
    received = "\n".join(piece["text"]["text"] for piece in chosen["prompt"])
    assert "You are Parley" in received
    assert "[Mina]" in received

    again = await played(console, who="member", name="Mina", place="public", mention="yes")
    assert len(again["tries"]) == 2
    assert len(model.requests[-1].messages) > len(model.requests[0].messages)


async def test_nothing_but_the_cost_is_stored_and_nothing_is_sent(
    fresh: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, sent = model_of(fresh, monkeypatch), list[object]()
    for account in fresh.app.services.connected.values():
        monkeypatch.setattr(type(account.adapter), "send", lambda *given: sent.append(given))
    call = ToolCall("c1", "memory_store", '{"text": "I like xylophones", "type": "preference"}')
    first = ModelMessage("assistant", (call,))
    replies: Iterator[str | ModelMessage] = iter([first, f"{MARK} noted", MARK, MARK])
    model.reply = lambda _: next(replies)
    fresh.program.token(OPERATOR)  # which creates the key of tokens
    await fresh.signed_in(OPERATOR)("GET", "/console/account")
    before, files = await tables(fresh), {one.name for one in tmp_path.rglob("*")}
    await played(fresh, who="self")
    for place in ("private", "thread"):
        await played(fresh, who="guest", name="Gert", place=place, mention="yes")
    after = await tables(fresh)
    assert {name.split()[1] for name in after if after[name] != before[name]} == KEPT
    assert not [row for rows in after.values() for row in rows if MARK in row or "Gert" in row]
    assert {one.name for one in tmp_path.rglob("*")} == files
    assert sent == []
    assert not fresh.app.activity.recent

    rows = await fresh.app.storage.stores.usage._database.fetch(SPENT)
    paid = ("default", person_named(OPERATOR), "console:playground:")
    assert [tuple(row[:3]) for row in rows] == [paid] * 3
    assert [row[3] for row in rows] == [240_000, 120_000, 120_000]
    spending = await fresh.app.storage.stores.usage.largest("user", _today(), 10)
    assert spending == [(f"default:{person_named(OPERATOR)}", 480_000)]


def _today() -> str:
    return SystemClock().now().strftime("%Y-%m-%d")


async def test_a_used_up_budget_of_the_operator_refuses(console: Console, model: Model) -> None:
    with changed(console.app.services.policies.budgets, "user_per_day", 0.0001):
        state = await played(console, who="member")
    assert state["tries"][0]["outcome"] == "refused:budget"
    assert state["tries"][0]["said"]["text"]
    assert model.requests == []
    steps = state["chosen"]["timeline"]["steps"]
    assert ("budget", "user_per_day") in [(one["stage"], one["reason"]) for one in steps]


async def test_no_memory_of_a_real_person_is_read(console: Console, model: Model) -> None:
    memory = console.app.memory.memory
    assert memory is not None
    handle = await console.program.api_client(OPERATOR).in_private()
    await handle.write.remember(Draft("My secret word is marmalade", Kind.FACT))
    await played(console, who="self", text="What is my secret word?")
    assert "marmalade" not in str(model.requests[-1])


async def test_tools_that_change_something_do_not_run(
    console: Console, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Tools()
    monkeypatch.setattr(console.app.services.toolbox, "_providers", (tools,))
    calls = tuple(ToolCall(f"c{n}", name, "{}") for n, name in enumerate(("look", "order", "keys")))
    replies: Iterator[str | ModelMessage] = iter([ModelMessage("assistant", calls), "done"])
    model.reply = lambda _: next(replies)
    state = await played(console, OWNER, who="self")
    assert tools.called == ["look"]
    assert [one.name for one in model.requests[0].tools if one.name in ("look", "order", "keys")]
    used = {one["name"]: one["ok"] for one in state["chosen"]["timeline"]["tools"]}
    assert used == {"look": True, "order": False, "keys": False}
    texts = [str(block) for block in model.requests[-1].messages[-1].content]
    assert sum(NOT_RUN in text for text in texts) == 2


@dataclass(frozen=True)
class Case:
    """Fields of a message, and how it ends."""

    fields: Mapping[str, str]
    outcome: str
    reason: str


CASES = (
    Case({"place": "public"}, "ignored", "not_addressed"),
    Case({"place": "public", "mention": "yes"}, "refused:access", "channel_not_allowed"),
    Case({"place": "public", "mention": "yes", "channel": "C1"}, "answered", "mention"),
    Case({"place": "direct"}, "refused:access", "channel_not_allowed"),
    Case({"who": "operator", "place": "direct"}, "answered", "trusted"),
    Case({"who": "self", "place": "public", "mention": "yes"}, "answered", "operator"),
)


async def test_rules_of_access_and_invocation_decide(console: Console, model: Model) -> None:
    policy = console.app.services.policies.access
    for case in CASES:
        with changed(policy, "allowed_channels", frozenset({"web:C1"})):
            state = await played(console, **{"who": "member", **case.fields})
        assert state["tries"][-1]["outcome"] == case.outcome, case
        steps = state["chosen"]["timeline"]["steps"]
        assert case.reason in [one["reason"] for one in steps], case


async def test_what_cannot_be_asked_is_refused(console: Console, model: Model) -> None:
    client = console.signed_in(OPERATOR)
    for fields, problem in (
        ({"text": "  "}, "empty"),
        ({"text": "/privacy erase"}, "runs no commands"),
        ({"text": "x", "platform": "fax"}, "no platform"),
        ({"text": "x" * 4001}, "4000"),
        ({"text": "x", "channel": "a b"}, "pattern"),
        ({"text": "x", "who": "owner"}, "guest"),
    ):
        answer = await client("POST", "/console/playground/ask", fields)
        assert answer.status in (400, 422), fields
        assert problem in str(answer.json), answer.json
    assert (await client("GET", "/console/playground")).json["open"] is False
    for action in ("stop", "end"):
        assert (await client("POST", f"/console/playground/{action}")).status == 422


async def test_one_answer_at_a_time_which_can_be_stopped(console: Console, model: Model) -> None:
    model.open.clear()
    visitor = await console.visitor(OPERATOR)
    form = {"text": "hello", "platform": "web"}
    assert (await visitor.post("/playground/ask", form)).location.startswith("/console/playground")
    page = await visitor.get("/playground")
    assert "Stop the answer" in page.text
    assert "<noscript>" in page.text
    refused = await visitor.post("/playground/ask", form)
    assert (refused.status, "still answering" in refused.text) == (422, True)
    assert (await visitor.post("/playground/stop")).status == 303
    assert "You stopped the answer" in (await visitor.get("/playground")).text


async def test_the_numbers_of_messages_and_playgrounds_are_bounded(
    console: Console, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playgrounds, "MOST_MESSAGES", 2)
    visitors = [await console.visitor(OPERATOR) for _ in range(playgrounds.MOST_EACH + 1)]
    form = {"text": "hello", "platform": "web"}
    answers = [await one.post("/playground/ask", form) for one in visitors]
    assert [one.status for one in answers] == [303] * playgrounds.MOST_EACH + [422]
    first = visitors[0]

    async def done() -> bool:
        return "Stop the answer" not in (await first.get("/playground")).text

    await eventually(done)
    assert (await first.post("/playground/ask", form)).status == 303
    await eventually(done)
    refused = await first.post("/playground/ask", form)
    assert (refused.status, "takes 2 messages" in refused.text) == (422, True)
    assert (await first.post("/playground/end")).status == 303
    assert (await visitors[-1].post("/playground/ask", form)).status == 303


async def test_sessions_do_not_see_each_others_playgrounds(console: Console, model: Model) -> None:
    one, other = await console.visitor(OPERATOR), await console.visitor(OPERATOR)
    await one.post("/playground/ask", {"text": MARK, "platform": "web"})
    assert MARK in (await one.get("/playground")).text
    assert MARK not in (await other.get("/playground")).text
    assert MARK not in (await (await console.visitor(OWNER)).get("/playground")).text


@pytest.mark.parametrize("how", ["signed out", "page closed", "left alone", "too old"])
async def test_a_playground_ends_with_its_session_or_page(
    console: Console, model: Model, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(playgrounds, "LOOK", 0.01)
    model.open.clear()  # an answer that is written ends too
    visitor = await console.visitor(OPERATOR)
    await visitor.post("/playground/ask", {"text": MARK, "platform": "web"})
    running = console.app.playgrounds
    ((owner, playground),) = running._all.items()
    close = running.watch(owner)
    if how == "signed out":
        await visitor.post("/sign-out")
    elif how == "page closed":
        monkeypatch.setattr(playgrounds, "GRACE", 0.0)
        await asyncio.sleep(0.05)
        assert running._all
        close()
    elif how == "left alone":
        monkeypatch.setattr(playgrounds, "IDLE", 0.0)
        playground.watched = False
        close()
    else:
        monkeypatch.setattr(playgrounds, "LIFE", 0.0)

    await eventually(lambda: playground.tries[0].problem == playgrounds.STOPPED)
    assert running.version(owner) is None


async def test_a_person_who_is_no_operator_any_more_sees_nothing(
    console: Console, model: Model
) -> None:
    visitor = await console.visitor(OPERATOR)
    await visitor.post("/playground/ask", {"text": MARK, "platform": "web"})
    with changed(console.app.services.policies.roles, "operators", frozenset()):
        for path in ("/playground", "/events?follow=playground"):
            page = await visitor.get(path)
            assert page.status in (403, 404)
            assert MARK not in page.text


async def test_a_failing_model_is_said(console: Console, model: Model) -> None:
    def broken(_: ModelRequest) -> str:
        raise RuntimeError("boom")

    model.reply = broken
    state = await played(console, who="member")
    assert "language model" in str(state["tries"][0])
