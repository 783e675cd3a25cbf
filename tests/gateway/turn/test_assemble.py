"""The prompt of the model: blocks in their order, stable ones first, and shortened long
histories."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import pytest

from gateway.conversation import SummaryPolicy
from gateway.errors import ModelUnavailable
from gateway.immutable import replace
from gateway.llm.calibration import Calibration
from gateway.llm.tokens import by_script
from gateway.policy.persona import Assistant
from gateway.policy.rate_limits import RateLimits
from gateway.ports import (
    ModelMessage,
    ModelRequest,
    TextBlock,
    TextToolProvider,
    ToolCall,
    ToolOutcome,
    Usage,
)
from gateway.ports.memory import AnswerFooter, Caller, NoMemory, TurnMemory
from gateway.ports.prompt_blocks import KnowledgeItem, MissingPart, PromptParts
from gateway.text import Text
from gateway.turn.context import summary
from gateway.turn.context.token_budgets import figures_in
from gateway.turn.prompt import MEMORY_MISSING
from gateway.turn.services import Policies
from tests.gateway.llm.asking import ADD
from tests.gateway.turn.stubs import StubTools
from tests.support.gateway import Gateway, gateway
from tests.support.immutable import force
from tests.support.messages import AT, direct, place, received
from tests.support.patience import PATIENCE

LIFTED = Policies(
    limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
)
RYE = KnowledgeItem("k1", "Rye needs <b>time</b>.", "ADR-007", 0.9, at=AT)
WHEAT = KnowledgeItem("k2", "Wheat does not.", "memory of 2026-11-02", 0.7, label="from file")


class Remembers(NoMemory):
    """A memory that always tells the same."""

    tools: TextToolProvider = StubTools(ADD)
    keeps = True
    recalls = True

    def __init__(self, prompt_parts: PromptParts, *items: KnowledgeItem) -> None:
        self._told = prompt_parts
        self._items = items
        self.asked: list[str] = []

    async def turn(self, caller: Caller) -> TurnMemory:
        return self

    async def prompt_parts(self) -> PromptParts:
        return self._told

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        self.asked.append(question)
        return self._items

    async def tell_later(self, sentence: Text) -> None:
        """Do nothing; these tests do not need it."""

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[Text] = ()
    ) -> AnswerFooter:
        return AnswerFooter()


def with_memory(g: Gateway, memory: Remembers) -> None:
    force(g.services, "memory", memory)


def texts(message: ModelMessage) -> list[str]:
    return [block.text for block in message.content if isinstance(block, TextBlock)]


async def test_stable_text_comes_first_and_recalled_text_before_the_question() -> None:
    prompt_parts = PromptParts(
        "## Skill", "Likes tea.", "- [fact] Luna", "A bakery.", "142 members.", "Closed"
    )
    async with gateway(policies=LIFTED) as g:
        memory = Remembers(prompt_parts, RYE, WHEAT)
        with_memory(g, memory)
        await g.take(received("How long does rye take?"))
        sent = g.model.requests[-1]

        tags = ("## Skill", "<soul>", "<brief>", "<project>", "<bible>", "<heartbeat>", "<shared>")
        places = [sent.system.index(tag) for tag in tags]
        assert places == sorted(places)
        assert "2026" not in sent.system
        assert not sent.system_volatile
        knowledge, today, question = texts(sent.messages[-1])
        assert today == "Today is Saturday, 21 November 2026, 09:00 (UTC)."
        assert knowledge.startswith('<knowledge>\n<memory source="ADR-007" confidence="0.90"')
        assert "Rye needs &lt;b>time&lt;/b>." in knowledge
        assert 'trust="from file"' in knowledge
        assert question == "How long does rye take?"
        assert memory.asked == ["How long does rye take?"]


async def test_recalled_text_of_one_question_is_not_in_the_history_of_the_next() -> None:
    async with gateway(policies=LIFTED) as g:
        with_memory(g, Remembers(PromptParts(), RYE))
        await g.take(received("first", message_id="m1"))
        await g.take(received("second", message_id="m2"))
        sent = g.model.requests[-1]

        assert [texts(message) for message in sent.messages[:-1]] == [["first"], ["answer"]]
        assert sent.settled == 2


async def test_text_already_in_the_prompt_is_not_recalled() -> None:
    async with gateway(policies=LIFTED) as g:
        again = replace(RYE, message_id="m1")
        with_memory(g, Remembers(PromptParts(), again, WHEAT))
        await g.take(received("rye", message_id="m1"))
        await g.take(received("and now?", message_id="m2"))
        assert "Rye" not in texts(g.model.requests[-1].messages[-1])[0]
        assert "Wheat" in texts(g.model.requests[-1].messages[-1])[0]


async def test_entries_cut_from_the_brief_are_knowledge() -> None:
    lines = [f"- [fact] Boat {number} of the harbour is blue (2026-11-02)" for number in range(40)]
    items = [
        replace(RYE, id=f"b{number}", text=f"Boat {number} is blue.", line=lines[number])
        for number in (0, 39)
    ]
    for window, again in ((200_000, []), (8_192, ["b39"])):
        assistant = Assistant(window=window)
        async with gateway(policies=LIFTED, assistant=assistant) as g:
            prompt_parts = PromptParts(
                soul="Likes tea. " * 80, brief="\n".join(lines), bible="A port. " * 2_000
            )
            with_memory(g, Remembers(prompt_parts, *items))
            await g.take(received("which boats are blue?"))
            sent = g.model.requests[-1]
            assert ("Boat 39 of" in sent.system) is (again == [])
            text = "".join(texts(sent.messages[-1]))
            assert [one.id for one in items if one.text in text] == again


async def test_a_failing_recall_does_not_prevent_the_answer() -> None:
    class Broken(Remembers):
        async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
            raise RuntimeError("a bug")

    async with gateway(policies=LIFTED) as g:
        with_memory(g, Broken(PromptParts()))
        await g.take(received("hello"))
        (text,) = g.texts
        assert text.startswith("answer")
        assert "could not read my memory" in text
        assert MEMORY_MISSING in g.model.requests[-1].system_volatile
        assert "recall_failed" in [decision.reason for decision in g.traces[-1].decisions]
        assert g.counts["without_memory", "recall:failed"] == 1


async def test_recall_has_a_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow(Remembers):
        async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr("gateway.turn.memory.RECALL_SECONDS", 0.01)
    async with gateway(policies=LIFTED) as g:
        with_memory(g, Slow(PromptParts()))
        await g.take(received("hello"))
        async with asyncio.timeout(PATIENCE):
            while not g.texts:
                await g.rest()
        assert "could not read my memory" in g.texts[0]
        assert "recall_too_slow" in [decision.reason for decision in g.traces[-1].decisions]
        assert g.counts["without_memory", "recall:too_slow"] == 1


async def test_a_missing_brief_is_told_to_the_model_the_person_and_the_metrics() -> None:
    parts = PromptParts(missing=(MissingPart("brief", "too_slow"),))
    async with gateway(policies=LIFTED) as g:
        with_memory(g, Remembers(parts))
        await g.take(received("what do you know about me?"))
        assert "could not read my memory" in g.texts[0]
        assert MEMORY_MISSING in g.model.requests[-1].system_volatile
        noted = [(d.stage, d.reason, d.detail) for d in g.traces[-1].decisions]
        assert ("memory", "part_missing", "brief: too_slow") in noted
        assert g.counts["without_memory", "brief:too_slow"] == 1


async def test_the_task_is_among_the_material_before_the_question() -> None:
    async with gateway(policies=LIFTED) as g:

        def reply(request: ModelRequest) -> str | ModelMessage:
            if any(isinstance(b, ToolOutcome) for b in request.messages[-1].content):
                return "Noted."
            call = ToolCall("t1", "set_task", '{"task": "bake <rye>"}')
            return ModelMessage("assistant", (call,))

        g.model.reply = reply
        with_memory(g, Remembers(PromptParts()))
        await g.take(received("let us bake <rye>", message_id="m1"))
        before = g.model.requests[0]
        await g.take(received("go on", message_id="m2"))
        after = g.model.requests[2]

        task = '<task set_by="Ada (test:main:ada)">\nlet us bake &lt;rye>\n</task>'
        assert task in texts(after.messages[-1])
        assert before.system == after.system
        assert before.system_volatile == after.system_volatile


async def talk(g: Gateway, questions: int, first: int = 0) -> None:
    for n in range(first, first + questions):
        await g.take(received(f"question {n}", message_id=f"q{n}"))


async def test_a_long_conversation_is_summarised_in_steps() -> None:
    async with gateway(policies=LIFTED) as g:
        await talk(g, 20)
        begins = [texts(request.messages[0])[-1] for request in g.model.requests]

        assert len(set(begins)) <= 9
        assert max(len(request.messages) for request in g.model.requests) <= 11
        last = texts(g.model.requests[-1].messages[0])[0]
        assert last.startswith("<history>\n<summary>\n")
        assert "- They: question 0" in last


def summarising(g: Gateway) -> list[ModelRequest]:
    """The requests for a summary so far."""
    return [r for r in g.model.requests if r.system.startswith("You write a summary")]


def with_model(g: Gateway) -> None:
    """Let a model answer, and write summaries."""
    g.model.name = "claude"
    g.model.reply = lambda request: (
        "They asked about rye." if request.system.startswith("You write a summary") else "ok"
    )


async def test_a_model_writes_the_summary_beside_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(summary, "MAX_NOTED", 20)
    async with gateway(policies=LIFTED) as g:
        with_model(g)
        await talk(g, 7)
        questions = summarising(g)

        assert len(questions) == 1
        assert "[user] question 0" in texts(questions[0].messages[0])[0]
        assert "They asked about rye." in texts(g.model.requests[-1].messages[0])[0]
        usage = await g.database.run_job(
            lambda db: db.execute("SELECT model, count(*) FROM usage GROUP BY model").fetchall()
        )
        assert usage == [("claude", 7), ("claude (summaries)", 1)]


async def test_the_model_writes_a_summary_only_when_lines_have_made_it_long() -> None:
    async with gateway(policies=LIFTED) as g:
        with_model(g)
        for n in range(60):
            await g.take(received(f"question {n}: {'what about it? ' * 12}", message_id=f"q{n}"))
            block = texts(g.model.requests[-1].messages[0])[0]
            assert len(block) < summary.MAX_NOTED + 1_000
        assert 1 <= len(summarising(g)) <= 4
        block = texts(g.model.requests[-1].messages[0])[0]
        assert "They asked about rye.\n- They: question" in block
        assert "- You: ok" in block


@pytest.mark.parametrize("by", ["extract", "off"])
async def test_a_setting_excludes_the_model_from_summaries(
    monkeypatch: pytest.MonkeyPatch, by: Literal["extract", "off"]
) -> None:
    monkeypatch.setattr(summary, "MAX_NOTED", 20)
    async with gateway(policies=replace(LIFTED, summaries=SummaryPolicy(by))) as g:
        with_model(g)
        await talk(g, 20)
        assert summarising(g) == []
        assert max(len(request.messages) for request in g.model.requests) <= 11
        begins = texts(g.model.requests[-1].messages[0])[0]
        assert ("- They: question 0" in begins) == (by == "extract")
        assert ("<summary>" in begins) == (by == "extract")


async def test_another_model_writes_the_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "MAX_NOTED", 20)
    policy = SummaryPolicy(model="claude-haiku-5-5")
    async with gateway(policies=replace(LIFTED, summaries=policy)) as g:
        with_model(g)
        await talk(g, 7)
        assert [request.model for request in summarising(g)] == ["claude-haiku-5-5"]
        assert {r.model for r in g.model.requests if r not in summarising(g)} == {""}


async def test_without_a_summary_of_the_model_the_original_words_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(summary, "MAX_NOTED", 20)
    async with gateway(policies=LIFTED) as g:
        g.model.name = "claude"

        def reply(request: ModelRequest) -> str:
            if request.system.startswith("You write a summary"):
                raise ModelUnavailable("busy")
            return "ok"

        g.model.reply = reply
        await talk(g, 7)

        assert g.texts[-1] == "ok"
        assert "- They: question 0" in texts(g.model.requests[-1].messages[0])[0]


async def test_the_trace_contains_the_figures_without_content() -> None:
    async with gateway(policies=LIFTED) as g:
        with_memory(g, Remembers(PromptParts(soul="secretly likes tea"), RYE))
        await g.take(received("whisper"))
        decision = next(d for d in g.traces[-1].decisions if d.reason == "blocks")
        figures = figures_in(decision.data)

        assert figures is not None
        assert figures.window == 200_000
        assert figures.blocks[0].kind == "system"
        assert figures.blocks[-1].tokens > 20
        assert not any(word in str(decision) for word in ("tea", "whisper", "Rye", "ADR"))


async def test_in_a_small_window_tools_and_question_reduce_the_knowledge() -> None:
    assistant = Assistant(window=8_192)
    many = [replace(RYE, id=f"k{n}", text="Rye needs time. " * 40) for n in range(40)]
    async with gateway(policies=LIFTED, assistant=assistant) as g:
        g.model.usage = Usage()  # which teaches nothing about counting
        with_memory(g, Remembers(PromptParts(), *many))
        await g.take(received("short", message_id="m1"))
        await g.take(received("word " * 2_500, message_id="m2"))
        first, second = (len(texts(request.messages[-1])[0]) for request in g.model.requests)

        assert second < first
        assert g.model.requests[-1].max_tokens == 2_000


async def test_the_token_calibration_never_makes_a_persona_too_long() -> None:
    assistant = Assistant(window=8_192)
    async with gateway(policies=LIFTED, assistant=assistant) as g:
        g.services.calibrations.learn("offline", Calibration(latin=3.0, samples=1))
        await g.take(received("hello"))
        assert g.texts == ["answer"]


TRUE = Calibration(1.2, 0.75, 0.8, 1.2, constant=346)
"""A service that counts unlike the estimate."""


@pytest.mark.parametrize("words", ["The ferry leaves at noon. ", "Паром уходит в полдень. "])
async def test_the_safety_margin_holds_while_a_conversation_grows(words: str) -> None:
    """Twenty turns in an 8K window: the tokens that the service counts never exceed the window."""
    assistant = Assistant(window=8_192)
    counted: list[int] = []
    items = [replace(RYE, id=f"k{n}", text=words * 12) for n in range(30)]
    async with gateway(policies=LIFTED, assistant=assistant, tools=(StubTools(ADD),)) as g:
        with_memory(g, Remembers(PromptParts(soul=words * 30, bible=words * 40), *items))

        def reply(request: ModelRequest) -> str:
            blocks = [t for message in request.messages for t in texts(message)]
            tools = [f"{tool.name}{tool.description}{tool.schema}" for tool in request.tools]
            prompt = "".join([request.whole_system, *blocks, *tools])
            frames = 6 * len(request.messages) + 20 * len(request.tools)
            counted.append(round(TRUE.predict(by_script(prompt), frames)))
            g.model.usage = Usage(counted[-1], 20)
            return words * 3

        g.model.reply = reply
        for n in range(20):
            await g.take(received(words * (2 + n), message_id=f"q{n}"))

    budget = 8_192 - 2_000
    assert max(counted[2:]) <= budget
    assert max(counted[2:]) > budget - 1_500, "the window is used"


async def test_in_a_room_the_prefix_of_the_prompt_is_the_same_for_everybody() -> None:
    async with gateway(policies=LIFTED) as g:
        for n, name in enumerate(("ada", "bob")):
            await g.take(
                received(
                    "hi",
                    at=place(),
                    mentions_bot=True,
                    message_id=f"m{n}",
                    author=name,
                )
            )
        first, second = g.model.requests
        assert first.system == second.system
        await g.take(received("alone", at=direct("D9"), message_id="m9"))
        assert g.model.requests[-1].system != first.system
