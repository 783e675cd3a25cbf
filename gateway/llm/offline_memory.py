"""How the offline model remembers: through the same tools as any other model."""

import json
import re
from collections.abc import Mapping
from typing import Final

from gateway.ports import ModelRequest, ToolCall

STORE: Final = "memory_store"
SEARCH: Final = "memory_search"
PREFIX: Final = "offline_memory_"
"""Begins the ids of its calls, by which the outcomes are told apart from other tools'."""
MAX_QUERY: Final = 200

_REMEMBER: Final = re.compile(
    r"^\W*(?:please\s+)?remember(?:\s+this|\s+that)?\b[\s:,]*(?P<what>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_KNOW: Final = re.compile(
    r"\bwhat\s+(?:do|did|can)\s+(?:you|i|we)\s+(?:still\s+)?(?:know|remember|say|said|tell|recall)"
    r"(?:\s+you)?\s+(?:about|of)\s+(?P<what>[^\n?!.]{1,200})",
    re.IGNORECASE,
)
_MY: Final = re.compile(
    r"\b(?:what(?:'s|’s| is| was| are)|who is|which) (?P<what>my [\w' -]{1,60}?)\s*\?*$",
    re.IGNORECASE,
)
_KINDS: Final = (
    ("preference", r"\bprefer|\bfavou?rite|\bi (?:like|love|hate)\b"),
    ("decision", r"\bwe (?:decided|agreed|chose)\b"),
    ("instruction", r"^(?:always|never|call me)\b"),
    ("correction", r"\bno longer\b|\bactually\b"),
)


def memory_call(asked: str, request: ModelRequest, *, untold: bool) -> ToolCall | None:
    """The call that fits what was asked, where there is such a tool. `untold`: this conversation
    does not hold the answer to a question about something of the person's."""
    if request.tool_choice == "none":
        return None
    offered = {tool.name for tool in request.tools}
    number = sum(message.role == "assistant" for message in request.messages)
    told = _REMEMBER.search(asked)
    if told is not None and STORE in offered:
        what = told["what"].strip()
        stored = {"type": _kind(what), "content": what, "quote": what}
        return ToolCall(f"{PREFIX}{number}", STORE, json.dumps(stored, ensure_ascii=False))
    wanted = _KNOW.search(asked) or (_MY.search(asked) if untold else None)
    if wanted is not None and SEARCH in offered:
        query = json.dumps({"query": wanted["what"].strip()[:MAX_QUERY], "limit": 5})
        return ToolCall(f"{PREFIX}{number}", SEARCH, query)
    return None


def memory_report(content: str) -> str:
    """What a memory tool answered, in words; memories are quoted."""
    try:
        answer = json.loads(content)
    except ValueError:
        return content
    if not isinstance(answer, Mapping):
        return content
    if "results" in answer:
        return _found(answer["results"])
    if answer.get("success"):
        return "I will remember that."
    if answer.get("status") == "waiting_for_the_person":
        return f"I am not sure that I should keep that. {answer.get('error', '')}".strip()
    return f"I will not keep that. {answer.get('error', '')}".strip()


def _found(results: object) -> str:
    listed = results if isinstance(results, list) else []
    entries = [each for each in listed if isinstance(each, Mapping)]
    if not entries:
        return "I remember nothing about that."
    lines = [
        f"- “{' '.join(str(entry.get('content', '')).split())}”"
        f" ({str(entry.get('created_at', ''))[:10]})"
        for entry in entries
    ]
    return "I remember:\n\n" + "\n".join(lines)


def _kind(text: str) -> str:
    plain = text.lower()
    return next((kind for kind, form in _KINDS if re.search(form, plain)), "fact")
