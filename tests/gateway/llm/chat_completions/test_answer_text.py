"""What is not the answer is neither shown nor stored, and what is the answer stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.llm.chat_completions.answer_text import MAX_TEXT, AnswerText
from gateway.ports import ToolSpec
from tests.support.for_each import for_each
from tests.support.processor_time import seconds

FIND = ToolSpec(
    "find",
    "Finds.",
    {"type": "object", "properties": {"query": {"type": "string"}, "most": {"type": "integer"}}},
)
TOOLS = {"find": FIND}


def read(
    text: str, size: int, *, cut: bool = False, asked: str = "", hold: int = 0, known: bool = False
) -> tuple[str, AnswerText]:
    """The text that was shown, and the whole, read in pieces of a size."""
    answer = AnswerText(TOOLS, asked, hold, headless=known)
    shown = [answer.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join([*shown, answer.end(cut=cut)]), answer


HIDDEN = [  # the source of each form: the chat template of the model that is named
    "<think>so</think>\n\nHello.",  # DeepSeek, Qwen
    "\n<think>\n\n</think>\n\nHello.",
    "<THINK>so</THINK>Hello.",
    "<thinking>so\n\nand so</thinking>\nHello.",
    "<reasoning>so</reasoning>Hello.",
    "<thought>so</thought>Hello.",
    "<seed:think>so</seed:think>Hello.",  # Seed
    "[THINK]so[/THINK]Hello.",  # Magistral
    "◁think▷so◁/think▷Hello.",  # Kimi-VL
    "<|begin_of_thought|>so<|end_of_thought|>Hello.",
    "<|START_THINKING|>so<|END_THINKING|><|START_RESPONSE|>Hello.<|END_RESPONSE|>",  # Cohere
    "<|channel>thought\nso<channel|>Hello.",  # Gemma
    "<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>Hello.",
    "<|channel|>final<|message|>Hello.<|return|>",
    "analysisThe person greets.assistantfinalHello.",  # gpt-oss without its tokens
    "<think>one</think><think>two</think>Hello.",
    "<think>Does `</think>` end it?</think>Hello.",
    "so\n</think>\n\nHello.",  # the opening tag is in the prompt
    "Plan: be brief.</think>Hello.",
    "so [/THINK]\nHello.",
    "Hello.<|im_end|>",
    "Hello.</s>",
    "Hello.<|eot_id|><|start_header_id|>user<|end_header_id|>And now?",  # Llama
    "Hello.<end_of_turn>\n<start_of_turn>user\nAnd now?",  # Gemma
    "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nAnd now?",
    "<｜Assistant｜>Hello.<｜end▁of▁sentence｜>",
    "[/INST]Hello.",
    'Hello.<tool_response>{"a": 1}</tool_response>',
]


@for_each("text", HIDDEN)
@for_each("size", [1, 3, 7, 10_000])
def test_what_is_not_the_answer_is_not_shown(text: str, size: int) -> None:
    _, answer = read(text, size)
    assert answer.visible.strip() == "Hello."
    assert not answer.calls


@pytest.mark.parametrize("end", ['He said "Hi"', "It is so (as I said)", "Yes.", "`x`"])
def test_tokens_behind_a_quotation_are_removed(end: str) -> None:
    text = f"{end}<|im_end|>\n<|im_start|>user\nAnd now?"
    assert read(text, 3)[0].strip() == end


@for_each("text", [text for text in HIDDEN if not text.startswith(("so", "Plan"))])
def test_it_is_not_shown_live_either(text: str) -> None:
    assert read(text, 3)[0].strip() == "Hello."


@pytest.mark.parametrize("size", [1, 7])
def test_reasoning_that_began_in_the_prompt_is_held_back_in_the_first_answer(size: int) -> None:
    assert read("so\n</think>\n\nHello.", size, hold=4_000)[0] == "Hello."
    assert read("so\n</think>\n\nHello.", size, known=True)[0] == "Hello."
    assert read("Hello.", size, hold=4_000)[0] == "Hello."
    assert read("Hello.", size, known=True)[0] == "Hello."


def test_an_answer_that_ended_in_its_reasoning_has_no_text() -> None:
    for text, known in (("<think>so", False), ("so and", True), ("<think>so\n```\n", False)):
        shown, answer = read(text, 4, cut=True, known=known)
        assert (shown, answer.visible, answer.reasoned) == ("", "", True)


CONTENT = [
    "The `<think>` tag opens it, `</think>` closes it.",
    "A <think> tag opens it, and a </think> tag closes it.",
    "```xml\n<think>\nso\n</think>\n<tool_call>\n{}\n</tool_call>\n```\nThat is all.",
    "~~~\n</think>\n~~~",
    "- ```\n  </think>\n  ```",
    "It looks so:\n<think>\nand models use it.",
    'Use "</think>" to close it.',
    "The <tool_call> element wraps JSON.",
    "<tools><tool/></tools>",
    "a < b, c <| d |> e, [link](x), <b>bold</b>, [1], `x`",
    "<s>old</s> new",
    "analysis of the year: good",
    '{"a": 1}',
    '{"name": "Ada", "age": 3}',
    '```json\n{"name": "Ada"}\n```',
    "[x](y) and [find] and [1, 2]",
    "`unclosed\n\nand <b>on</b>",
    "`" * 50,
    "<" * 50,
    "  indented",
]


@for_each("text", CONTENT)
@for_each("size", [1, 5, 10_000])
def test_content_that_looks_alike_stays(text: str, size: int) -> None:
    shown, answer = read(text, size)
    assert shown == answer.visible == text
    assert not answer.calls


EXPLAINED = [
    "Tags of reasoning:\n\n1. <think> opens it.\n2. </think> closes it.\n\nThat is all.",
    "- <think> opens it\n- </think> ends it\nDone.",
    "**<think>** opens it and **</think>** closes it.",
    "| Tag | Meaning |\n|---|---|\n| <think> | opens |\n| </think> | closes |\n",
    "Before:\n\n    <think>\n    indented\n    </think>\nafter",
    "    <think>\n    indented\n    </think>\nafter",
    "Llama writes <function=NAME> in front of JSON. Then it is parsed.",
    'The older format had <invoke name="find"> and a list of parameters.',
    '<invoke name="save">\n  <arg>1</arg>\n</invoke>\nThis XML calls save.',
    "In harmony <|channel|> names the channel, and <|message|> begins the text. Then <|end|>.",
    "ChatML uses <|im_start|>user and <|im_end|> to mark turns. Many models do.",
    "The token <|endoftext|> ends a document in GPT-2. It has the id 50256.",
    "Llama 2 wraps the question in [INST] and [/INST]. The answer follows.",
    "Mistral writes [TOOL_CALLS] before the list of calls. After it comes the list.",
    "In T5 the tokens <pad> and <eos> are special. And <bos> begins.",
    "<|python_tag|> is the token of Llama for code. After it comes code.",
    "{{ '<|im_start|>' }} is in the template. Then {% for %} comes.",
    "Here it is:\n\n<analysis>\n  <item>1</item>\n</analysis>\n\nDone.",
    "It is a property:\n<reflection>true</reflection>\n of the project.",
    '<tool_use>{"id": 1}</tool_use> is the block',
    "<tools>\n[1, 2]\n</tools>\nis the list.",
]
"""nesquena/hermes-webui 2213: literal tags in an answer are a part of it."""


@for_each("text", EXPLAINED)
@for_each("size", [1, 7, 10_000])
def test_an_answer_about_marks_stays(text: str, size: int) -> None:
    shown, answer = read(text, size)
    assert shown == answer.visible == text
    assert not answer.calls


ASKED = [
    ("What does <think> mean?", "<think> is a tag. It is closed by </think>. It hides."),
    ("Explain <|channel|>", "<|channel|> names the channel of harmony, and <|message|> begins it."),
    ("Use <reasoning> and <answer>", "<reasoning>\nRain.\n</reasoning>\n<answer>No</answer>"),
    ("Show a <tool_call> of rm", '<tool_call>\n{"name": "rm"}\n</tool_call>\nSo Hermes writes it.'),
]  # fmt: skip


@for_each(("asked", "text"), ASKED)
@for_each("size", [1, 7, 10_000])
def test_an_answer_with_the_marks_that_were_asked_for_stays(
    asked: str, text: str, size: int
) -> None:
    shown, answer = read(text, size, asked=asked)
    assert shown == answer.visible == text
    assert not answer.calls


def test_a_mark_that_the_person_asks_about_stays() -> None:
    asked = "What do <|im_end|> and <think> mean?"
    assert read("The <|im_end|> token ends it.", 3, asked=asked)[0].count("<|im_end|>") == 1
    assert read("<think> is a tag of models.", 3, asked=asked)[0] == "<think> is a tag of models."


CALLS = [
    '<tool_call>\n{"name": "find", "arguments": {"query": "tea"}}\n</tool_call>',  # Hermes, Qwen
    '<tool_call>{"name": "find", "arguments": "{\\"query\\": \\"tea\\"}"}</tool_call>',
    '<tool_call>{"name": "find", "arguments": {"query": "tea"}}',
    "<tool_call>\n<function=find>\n<parameter=query>\ntea\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>find\n<arg_key>query</arg_key>\n<arg_value>tea</arg_value>\n</tool_call>",  # GLM
    '[TOOL_CALLS][{"name": "find", "arguments": {"query": "tea"}}]',  # Mistral
    '[TOOL_CALLS]find[ARGS]{"query": "tea"}',
    '[TOOL_CALLS]find[CALL_ID]abc123def[ARGS]{"query": "tea"}</s>',
    '<function=find>{"query": "tea"}</function>',  # Llama
    '<|python_tag|>{"type": "function", "name": "find", "parameters": {"query": "tea"}}<|eom_id|>',
    '<|python_tag|>find.call(query="tea")',
    '{"type": "function", "name": "find", "parameters": {"query": "tea"}}',
    '```json\n{"name": "find", "arguments": {"query": "tea"}}\n```',
    '[{"name": "find", "arguments": {"query": "tea"}}]',
    '[find(query="tea")]',  # LFM2, Llama 4
    '<|tool_call_start|>[find(query="tea")]<|tool_call_end|>',
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n"
        '{"query": "tea"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>'
    ),  # DeepSeek
    (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"query": "tea"}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>"
        '{"query": "tea"}<|tool_call_end|><|tool_calls_section_end|>'
    ),  # Kimi
    (
        '<minimax:tool_call>\n<invoke name="find">\n<parameter name="query">tea</parameter>\n'
        "</invoke>\n</minimax:tool_call>"
    ),
    (
        '<function_calls><invoke name="find"><parameter name="query">tea</parameter></invoke>'
        "</function_calls>"
    ),
    '<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"query": "tea"}<|call|>',
    '<|start|>assistant to=functions.find<|channel|>commentary json<|message|>{"query": "tea"}',
    '<|START_ACTION|>[{"tool_name": "find", "parameters": {"query": "tea"}}]<|END_ACTION|>',
    '<|tool_call|>[{"name": "find", "arguments": {"query": "tea"}}]',  # Granite, Phi
    '<think>so</think><tool_call>{"name": "find", "arguments": {"query": "tea"}}</tool_call>',
]


@for_each("text", CALLS)
@for_each("size", [1, 7, 10_000])
def test_a_call_in_the_text_is_a_call(text: str, size: int) -> None:
    shown, answer = read(text, size)
    assert shown == answer.visible == ""
    assert [(call.name, json.loads(call.arguments)) for call in answer.calls] == [
        ("find", {"query": "tea"})
    ]


def test_text_before_a_call_stays() -> None:
    call = '<tool_call>{"name": "find", "arguments": {"query": "%s"}}</tool_call>'
    shown, answer = read(f"Let me see.\n{call % 'a'}\n{call % 'b'}", 5)
    assert shown.strip() == "Let me see."
    assert len(answer.calls) == 2


@pytest.mark.parametrize(
    "text",
    ['<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "<tool_call>{broken</tool_call>",
     '[TOOL_CALLS][{"name": "rm", "arguments": {}}]', '<function=rm>{"a": 1}</function>'],
)  # fmt: skip
def test_a_call_of_another_tool_is_hidden_and_not_run(text: str) -> None:
    shown, answer = read(text, 3)
    assert (shown, answer.visible, answer.calls) == ("", "", [])


def test_arguments_have_the_types_of_the_schema() -> None:
    text = (
        "<tool_call><function=find><parameter=query>3</parameter><parameter=most>3</parameter>"
        "</function></tool_call>"
    )
    assert json.loads(read(text, 9)[1].calls[0].arguments) == {"query": "3", "most": 3}


MARKS = st.sampled_from(
    ["<think>", "</think>", "<|im_end|>", "<tool_call>", "`", "```", "\n", "{", "<", "[", "a", " ",
     "<|channel|>", "<|message|>", "analysis", '{"name": "find"', "[TOOL_CALLS]", "</s>", "*"]
)  # fmt: skip


@given(st.lists(MARKS, max_size=30).map("".join), st.integers(1, 9))
def test_the_pieces_of_a_stream_change_nothing(text: str, size: int) -> None:
    _, pieces = read(text, size)
    _, whole = read(text, 10_000)
    assert pieces.visible == whole.visible
    assert pieces.calls == whole.calls


@given(st.text(st.characters(blacklist_characters="<[◁`~{", codec="utf-8"), max_size=200))
def test_ordinary_text_is_shown_at_once(text: str) -> None:
    answer = AnswerText({}, "", 0)
    first = answer.feed("Hello")
    assert first + answer.feed(text) == "Hello" + text


@pytest.mark.parametrize(
    "unit", ["<", "<t", "`", "[a", "<think>", "</think>", "<|a", "\n<think>a</think>"]
)
def test_the_time_grows_with_the_text(unit: str) -> None:
    long = (unit * 80_000)[:80_000]
    limit = max(0.05, 24 * seconds(lambda: read(long[:10_000], 10_000)))
    assert seconds(lambda: read(long, 80_000), limit) < limit


def test_an_endless_answer_ends() -> None:
    answer = AnswerText({}, "", 0)
    for _ in range(MAX_TEXT // 10_000 + 5):
        answer.feed("a" * 10_000)
    assert len(answer.visible) <= MAX_TEXT
