"""The marks of chat templates that servers leave in the text of an answer.

Each comes from a public chat template or tokenizer: Qwen, DeepSeek, Kimi, Seed, Magistral, Cohere,
Gemma, gpt-oss (harmony), Llama, Mistral, Hermes, GLM, MiniMax, InternLM, LFM2, Granite, Phi.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["reasoning", "calls", "header"]
Where: TypeAlias = Literal["line", "anywhere", "plausible"]
"""Where an opening mark counts: at the beginning of a line, anywhere outside of code, or in front
of what can be a tool call."""


class MarkedSection(Struct, frozen=True):
    """A part of the text between two marks. It ends at `close`, which is one of several texts.
    `anew`: it also begins behind visible text. `optional`: its mark is a word that people ask
    for as a part of XML."""

    kind: Kind
    where: Where
    close: re.Pattern[str]
    anew: bool = False
    optional: bool = False


_THOUGHTS: Final = (
    "think", "thinking", "thought", "thoughts", "thought_process", "reasoning", "reflection",
    "scratchpad", "analysis", "inner_monologue", "antthinking", "seed:think", "mm:think",
)  # fmt: skip
_OWN: Final = frozenset(("think", "thinking", "thought", "antthinking", "seed:think", "mm:think"))
"""Names that models use, and people hardly do."""
_CALLS: Final = (
    "tool_call", "tool_calls", "toolcall", "function_call", "function_calls", "functioncall",
    "tool_use", "tools", "minimax:tool_call", "seed:tool_call", "tool_response",
    "antml:function_calls",
)  # fmt: skip
_TOKENS: Final[Mapping[str, tuple[Kind, tuple[str, ...]]]] = {
    "◁think▷": ("reasoning", ("◁/think▷",)),
    "<|begin_of_thought|>": ("reasoning", ("<|end_of_thought|>",)),
    "<|start_thinking|>": ("reasoning", ("<|end_thinking|>",)),
    "<|think_start|>": ("reasoning", ("<|think_end|>",)),
    "<|think|>": ("reasoning", ("<|/think|>", "<|end_think|>")),
    "<|channel>thought": ("reasoning", ("<channel|>",)),
    "<unused94>": ("reasoning", ("<unused95>",)),
    "<|channel|>": ("header", ("<|message|>",)),
    "<|start|>": ("header", ("<|message|>",)),
    "[tool_calls]": ("calls", ("</s>", "<|im_end|>", "[/tool_calls]")),
    "<|python_tag|>": ("calls", ("<|eom_id|>", "<|eot_id|>")),
    "<|tool_call|>": ("calls", ("<|/tool_call|>", "<|end|>", "<|end_of_text|>")),
    "<|tool_call>": ("calls", ("<tool_call|>",)),
    "<|tool_call_start|>": ("calls", ("<|tool_call_end|>",)),
    "<|tool_calls_section_begin|>": ("calls", ("<|tool_calls_section_end|>",)),
    "<|tool_call_begin|>": ("calls", ("<|tool_call_end|>",)),
    "<|start_action|>": ("calls", ("<|end_action|>",)),
    "<|action_start|>": ("calls", ("<|action_end|>",)),
    "<start_function_call>": ("calls", ("<end_function_call>",)),
    "<｜dsml｜function_calls>": ("calls", ("</｜dsml｜function_calls>",)),
    "<｜dsml｜tool_calls>": ("calls", ("</｜dsml｜tool_calls>",)),
    "<｜tool▁calls▁begin｜>": ("calls", ("<｜tool▁calls▁end｜>",)),
    "<｜tool▁call▁begin｜>": ("calls", ("<｜tool▁call▁end｜>",)),
    "<|tool▁calls▁begin|>": ("calls", ("<|tool▁calls▁end|>",)),
    "<|tool▁call▁begin|>": ("calls", ("<|tool▁call▁end|>",)),
}
OTHERS: Final = ("user", "human", "system", "tool")
"""Roles whose message is not the answer's."""
BEGINS_NEXT: Final = ("<|start|>", "<|channel|>")
"""Tokens that end a message because another one begins."""
_MESSAGE_ENDS: Final = ("<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>")

LONGEST_NAME: Final = 64
LONGEST: Final = 96
"""Characters of the longest mark, with a name in it."""


def _any_of(*texts: str) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(text) for text in texts), re.IGNORECASE)


def _sections() -> Iterator[tuple[str, MarkedSection]]:
    for name in _THOUGHTS:
        end, own = _any_of(f"</{name}>"), name in _OWN
        yield f"<{name}>", MarkedSection("reasoning", "line", end, anew=own, optional=not own)
    yield "[think]", MarkedSection("reasoning", "line", _any_of("[/THINK]"), anew=True)
    for name in _CALLS:
        yield f"<{name}>", MarkedSection("calls", "plausible", _any_of(f"</{name}>"))
    for opening, (kind, closing) in _TOKENS.items():
        yield opening, MarkedSection(kind, "anywhere", _any_of(*closing))


SECTIONS: Final[Mapping[str, MarkedSection]] = dict(_sections())
"""By the opening mark, in lower case."""
NAMED: Final = MarkedSection("calls", "anywhere", _any_of("</function>", "</invoke>"))
"""A section that begins with the name of a tool: `<function=NAME>`, `<invoke name="NAME">`."""
CHANNEL: Final = MarkedSection("reasoning", "anywhere", _any_of(*_MESSAGE_ENDS))
"""The message of a channel that people do not read."""
CHANNEL_CALL: Final = MarkedSection("calls", "anywhere", _any_of(*_MESSAGE_ENDS))
SPOKEN: Final = MarkedSection("reasoning", "anywhere", _any_of("assistantfinal"))
"""A channel whose tokens the server dropped: `analysisThe person …assistantfinalHello`."""

CLOSING: Final[Mapping[str, str]] = {
    **{f"</{name}>": f"<{name}>" for name in _THOUGHTS},
    "[/think]": "[think]",
    "◁/think▷": "◁think▷",
    "<|end_of_thought|>": "<|begin_of_thought|>",
    "<|end_thinking|>": "<|start_thinking|>",
}
"""A closing mark of reasoning whose opening one is in the prompt of the server, with that one."""

_FIXED: Final = sorted((*SECTIONS, *CLOSING, "</s>"), key=len, reverse=True)
_NAME: Final = r"[A-Za-z0-9_.:-]"
TOKEN: Final = re.compile(
    r"<\|[A-Za-z][A-Za-z0-9_/.▁-]{2,40}\|>|<｜[^｜<>\n]{1,40}｜>"
    r"|<(?:start_of_turn|end_of_turn|eos|bos|pad|end_of_utterance)>|\[/?(?:INST|TOOL_RESULTS)\]"
)
"""A token that ends or begins a message, or a part of it."""
MARK: Final = re.compile(
    "|".join(
        (
            *(re.escape(text) for text in _FIXED),
            rf"<function={_NAME}{{1,{LONGEST_NAME}}}>",
            rf"<invoke name=\"{_NAME}{{1,{LONGEST_NAME}}}\">",
            TOKEN.pattern,
        )
    ),
    re.IGNORECASE,
)
"""Every mark. It begins with `<`, `[` or `◁`."""
_BEGINNINGS: Final = re.compile(
    rf"<\|?|<\|[A-Za-z][A-Za-z0-9_/.▁-]{{0,40}}\|?|<｜[^｜<>\n]{{0,40}}｜?"
    rf"|<function={_NAME}{{0,{LONGEST_NAME}}}|<invoke name=\"{_NAME}{{0,{LONGEST_NAME}}}\"?",
    re.IGNORECASE,
)
_WORDS: Final = (
    *_FIXED,
    *("<function=", '<invoke name="', "<start_of_turn>", "<end_of_turn>", "<end_of_utterance>"),
    *("<eos>", "<bos>", "<pad>", "[inst]", "[/inst]", "[tool_results]", "[/tool_results]"),
)
TURN: Final = re.compile(
    r"<\|(?:im_start|start_header_id|header_start|start_of_role)\|>|<start_of_turn>", re.IGNORECASE
)
"""The beginning of a message. The role of its author follows."""
_ROLE: Final = re.compile(r"\s{0,4}(assistant|model|user|human|system|tool)\b", re.IGNORECASE)


QUOTES: Final = frozenset("`\"'“”‘’«»()")
_PAIRS: Final = frozenset(("``", '""', "''", "“”", "‘’", "«»", "()"))
AFTER_WORD: Final = frozenset(" .,;:!?")


_PREFIXES: Final = frozenset(word[:end] for word in _WORDS for end in range(1, len(word) + 1))


def may_begin_mark(text: str) -> bool:
    """Return True if more text can make `text` a mark."""
    if text.lower() in _PREFIXES:
        return True
    return text[:1] == "<" and len(text) <= LONGEST and bool(_BEGINNINGS.fullmatch(text))


def in_sentence(before: str, after: str) -> bool:
    """Return True if a mark between these characters is a word of a sentence."""
    if before[-1:] + after[:1] in _PAIRS:
        return True
    if after[:1] == " " and after[1:2].islower():
        return True
    return before[-1:] == " " and after[:1] != "" and after[0] in AFTER_WORD


def role_after(text: str, at: int) -> tuple[str, int]:
    """Return the role that stands at a place, in lower case, and its end; "" if there is none."""
    role = _ROLE.match(text, at)
    return (role[1].lower(), role.end()) if role else ("", at)
