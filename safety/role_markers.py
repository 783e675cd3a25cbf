"""The separators of turns in the formats of chat models.

A text that holds such a separator can pretend to be somebody else's turn. The names are those of
ChatML, Llama, Mistral, Gemma, DeepSeek, Qwen, GLM, Kimi, Phi, Command, MiniMax, gpt-oss and Claude.
"""

import re
from collections.abc import Iterator
from typing import Final

_PIPED_NAMES: Final = (
    "im_start|im_end|im_sep|im_middle|endoftext|endofprompt|end|start|system|user|assistant|tool|"
    "human|developer|begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|eom_id|"
    "python_tag|channel|message|call|return|constrain|separator|eos|bos|eot|turn|think|observation|"
    "im_[a-z]{1,20}|[a-z_]{1,30}_(?:start|end|begin|token|id|turn)|"
    "fim_[a-z]{3,8}|recipient"
)
_TAG_NAMES: Final = (
    "start_of_turn|end_of_turn|bos|eos|sop|system|assistant|human|system-reminder|"
    "function_calls|function_results|tool_call|tool_calls|tool_response|tool_result|tool_use|"
    "think|thinking|pad|unk|mask|extra_id_[0-9]{1,3}|antml:[a-z_]{1,30}"
)
_BRACKET_NAMES: Final = (
    "INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|gMASK"
)
_MARKER: Final = re.compile(
    rf"""
    <\s{{0,4}}\|\s{{0,4}}(?i:/?(?:{_PIPED_NAMES}))\s{{0,4}}\|[\s/]{{0,4}}>   # <|im_start|>
    | <\s{{0,4}}\|[^\s<>|]{{1,64}}\|[\s/]{{0,4}}>                      # <|any_other|>
    | <\|(?i:{_PIPED_NAMES})>                                 # <|turn>
    | <(?i:{_PIPED_NAMES})\|>                                 # <turn|>
    | <\s*<\s*(?:/\s*)?(?i:SYS)\s*>\s*>                       # <<SYS>>
    | <\s{{0,4}}/?\s{{0,4}}(?i:{_TAG_NAMES})\s{{0,4}}/?>
    | </?(?i:antml:)?(?i:invoke|parameter)(?:[ \t]+(?i:name)=[^<>\n]{{0,100}})?>
    | <(?i:function|parameter)=[^<>\n]{{1,100}}> | </(?i:function)>
    | (?:(?<![\w\])])|(?!\[[ \t]*(?:/[ \t]*)?[a-z]+[ \t]*\]))     # x[inst] is an index
      \[[ \t]*(?:/[ \t]*)?(?i:{_BRACKET_NAMES})[ \t]*\]
    | \]~b\] | \[e~\[
    """,
    re.VERBOSE,
)
_ROLE: Final = re.compile(
    r"""
    (?:^|(?<=[\r\n]))[ \t>]{0,20}(?:\#{1,6}[ \t]{1,4})?[*_]{0,3}
    (?:(?:Human|Assistant|System|HUMAN|ASSISTANT|SYSTEM)[*_]{0,3}[ \t\xa0]{0,8}:
      |(?=[A-Za-z]{0,8}[a-z][A-Z])(?i:human|assistant|system)[*_]{0,3}:
      |\[(?i:human|assistant|system)\]:
      |(?:human|assistant|system)[*_]{0,3}:(?=[ \t]{0,8}(?:\S{1,40}[ \t]{1,8}){3}))
    [*_]{0,3}[ \t]*
    """,
    re.VERBOSE,
)
_ROLE_AGAIN: Final = re.compile(
    r"(?:[*_>\s]{0,20}(?i:Human|Assistant|System)[*_]{0,3}[ \t]{0,8}:[*_]{0,3}[ \t]*)*"
)
_FENCE_ROLE: Final = re.compile(
    r"(?:^|(?<=[\r\n]))[ \t>]{0,20}(?:`{3,}|~{3,})[ \t]*"
    r"((?i:system|assistant|user|human|tool|developer))(?![\w.+-])"
)


def find_sentinels(text: str) -> Iterator[tuple[int, int]]:
    """Return the places of separators of turns: markers, role prefixes at the beginning of a line,
    and code fences with a role as their language (only the word)."""
    if "<" in text or "[" in text or "]" in text:
        for marker in _MARKER.finditer(text):
            yield marker.span()
    if ":" in text:
        yield from _roles(text)
    if "```" in text or "~~~" in text:
        for fence in _FENCE_ROLE.finditer(text):
            yield fence.span(1)


def _roles(text: str) -> Iterator[tuple[int, int]]:
    role = _ROLE.search(text)
    while role:
        again = _ROLE_AGAIN.match(text, role.end())
        end = again.end() if again else role.end()
        yield role.start(), end
        role = _ROLE.search(text, end)
