"""The model that needs no key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.immutable import replace
from gateway.llm.offline import OfflineProvider
from gateway.llm.offline_samples import NOT_CONFIGURED
from gateway.message import OutboundFile
from gateway.ports import ImageBlock, ModelMessage, TextBlock, ToolOutcome, ToolSpec
from gateway.turn.tool_files import ShownFiles
from tests.gateway.llm.asking import ADD, Heard, ask, assistant, question, user

WEATHER = ToolSpec("city__weather", "Weather.", {"type": "object"}, side_effects=False)


async def say(*messages: ModelMessage | str, tools: tuple[ToolSpec, ...] = ()) -> Heard:
    return await ask(OfflineProvider(), question(*messages, tools=tools))


async def test_a_greeting_is_answered_with_an_explanation() -> None:
    heard = await say("Hello!")

    assert heard.text.startswith("Hello!")
    assert "No language model is configured" in heard.text


async def test_it_says_once_in_a_conversation_that_it_is_no_language_model() -> None:
    first = (await say("Hello!")).text
    assert NOT_CONFIGURED in first
    for later in ("Hi again", "The sky is high.", "My favourite colour is teal", ""):
        assert NOT_CONFIGURED not in (await say("Hello!", assistant(first), later)).text


async def test_a_statement_is_noted() -> None:
    heard = await say("My favourite colour is teal.")
    assert heard.text == "Noted: your favourite colour is teal."


async def test_other_text_is_repeated() -> None:
    assert "You said: The sky is high." in (await say("The sky is high.")).text


@pytest.mark.parametrize(
    ("before", "asked", "answer"),
    [
        ("My name is Ana.", "What is my name?", "Your name is Ana, you said."),
        ("my name's Ana, hi", "what's my name", "Your name is Ana, hi, you said."),
        ("My favorite color is teal.", "What is my favourite colour?", "is teal, you said."),
        ("my shoes are red", "do you remember what my shoes are?", "Your shoes are red"),
        ("I live in Oslo", "Where do I live?", "“I live in Oslo”"),
        ("I live in Oslo", "Where do I work?", "You have not told me that."),
        ("Please call me Bo", "What is my name?", "Your name is Bo, you said."),
        ("My favourite colour is green.", "What is my favourite colour?", "is green, you said."),
        ("Hello", "What is my name?", "You have not told me your name."),
        ("The code is 4711.", "What did I say?", "> The code is 4711."),
        ("The code is 4711.", "what did I just tell you?", "> The code is 4711."),
        ("One", "What have we talked about so far?", "1. One"),
        ("[Ana] My name is Ana", "[Ana] What is my name?", "Your name is Ana"),
    ],
)
async def test_it_repeats_earlier_messages_on_request(before: str, asked: str, answer: str) -> None:
    assert answer in (await say(before, assistant("Noted."), asked)).text


async def test_the_latest_message_counts() -> None:
    heard = await say(
        "My name is Ana.", assistant("Hi."), "My name is Bea.", assistant("Hi."), "what's my name?"
    )

    assert "Bea" in heard.text


async def test_without_earlier_messages_it_reports_none() -> None:
    assert "nothing before" in (await say("What did I say?")).text


@pytest.mark.parametrize(
    ("asked", "name", "arguments"),
    [
        ('use the tool add with {"a": 1, "b": 2}', "add", '{"a": 1, "b": 2}'),
        ("Please call add", "add", "{}"),
        ("call `add` now", "add", "{}"),
        ("Use the weather tool", "city__weather", "{}"),
        ('run city__weather {"city": "Oslo"}', "city__weather", '{"city": "Oslo"}'),
    ],
)
async def test_a_tool_is_called_on_request(asked: str, name: str, arguments: str) -> None:
    heard = await say(asked, tools=(ADD, WEATHER))

    assert heard.finished.stop == "tool_use"
    assert [(call.name, call.arguments) for call in heard.calls] == [(name, arguments)]


async def test_the_result_of_a_tool_is_reported() -> None:
    call = (await say("call add", tools=(ADD,))).finished.message
    outcome = ModelMessage("user", (ToolOutcome("offline_0", "```\n3\n```"),))

    heard = await say("call add", call, outcome, tools=(ADD,))

    assert heard.text == "The tool answered:\n\n````\n```\n3\n```\n````"


async def test_the_note_about_a_shown_file_is_not_reported() -> None:
    files = ShownFiles()
    note, _ = files.take([OutboundFile("chart.png", "image/png", b"\x89PNG\r\n\x1a\n")])
    outcome = ModelMessage("user", (ToolOutcome("offline_0", f"Sales of May\n\n{note}"),))

    heard = await say("call add", outcome, tools=(ADD,))

    assert heard.text == "The tool answered:\n\n```\nSales of May\n```"


async def test_kept_messages_are_reported_with_their_links() -> None:
    tool = ToolSpec("catch_up", "Reads.", {"type": "object"}, side_effects=False)
    heard = await say("What did I miss?", tools=(tool,))
    (call,) = heard.calls
    assert (await say("What did I miss?", tools=(ADD,))).calls == []
    result = "Messages:\n[1](https://a.example/1) Ben, Mon 01 Jan 10:00: hello\n  and more"
    outcome = ModelMessage("user", (ToolOutcome(call.id, result),))

    heard = await say("What did I miss?", heard.finished.message, outcome, tools=(tool,))

    expected = "You missed:\n\n- [1](https://a.example/1) Ben, Mon 01 Jan 10:00: hello"
    assert heard.text == expected
    nothing = ModelMessage("user", (ToolOutcome(call.id, "Nothing is kept."),))
    assert (await say("call catch_up", nothing, tools=(tool,))).text == "Nothing is kept."


async def test_a_failed_tool_is_reported() -> None:
    outcome = ModelMessage("user", (ToolOutcome("x", "no such city", is_error=True),))

    assert "did not succeed" in (await say("call add", outcome, tools=(ADD,))).text


@pytest.mark.parametrize("asked", ["use the tool subtract", "call the tool subtract please"])
async def test_a_missing_tool_is_not_called(asked: str) -> None:
    heard = await say(asked, tools=(ADD,))

    assert heard.calls == []
    assert "no tool `subtract`" in heard.text


async def test_the_last_round_calls_no_tool() -> None:
    request = replace(question("call add", tools=(ADD,)), tool_choice="none")

    assert (await ask(OfflineProvider(), request)).calls == []


async def test_it_lists_its_tools() -> None:
    assert "- `add`" in (await say("Which tools do you have?", tools=(ADD,))).text
    assert (await say("Which tools do you have?")).text == "I have no tools."


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("show me a table", "| Platform |"),
        ("Show me some code", "```python"),
        ("write a list", "2. Then another one"),
        ("make a task list", "- [ ] Answer"),
        ("show me a table and code", "```python"),
        ("show me a quotation", "> Simple"),
        ("show me links", "](https://example.org"),
        ("show me headings", "## Second level"),
        ("show me styles", "~~struck~~"),
        ("show me all formats", "- [x] Write"),
        ("count to 5", "1 2 3 4 5"),
        ("say: **exactly** this", "**exactly** this"),
    ],
)
async def test_it_writes_markdown_on_request(asked: str, part: str) -> None:
    assert part in (await say(asked)).text


async def test_a_long_answer_exceeds_the_limit_of_every_platform() -> None:
    text = (await say("write something long with code and a table")).text

    assert len(text) > 6_000
    assert "```python" in text
    assert "| Platform |" in text


async def test_pictures_are_mentioned() -> None:
    message = ModelMessage("user", (ImageBlock("image/png", b"x"), TextBlock("Look!")))

    assert (await say(message)).text.startswith("I received 1 picture.")


async def test_files_before_the_text_are_not_taken_for_text() -> None:
    message = ModelMessage("user", (TextBlock("The file: count to 9"), TextBlock("count to 2")))

    assert (await say(message)).text == "1 2"


@given(st.text(max_size=300), st.lists(st.text(max_size=100), max_size=4))
async def test_the_streamed_pieces_are_the_answer_and_deterministic(
    asked: str, before: list[str]
) -> None:
    messages = [*(user(text) for text in before), user(asked)]

    first = await say(*messages, tools=(ADD,))
    second = await say(*messages, tools=(ADD,))

    whole = "".join(b.text for b in first.finished.message.content if isinstance(b, TextBlock))
    assert first == second
    assert first.text == whole
    assert first.text or first.calls
