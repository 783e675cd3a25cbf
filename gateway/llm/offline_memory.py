"""The offline model's use of the memory tools: it stores and searches on plain requests."""

import json
import re
from collections.abc import Mapping
from typing import Final

from gateway.llm.offline_facts import own_topic
from gateway.llm.offline_samples import NOT_CONFIGURED
from gateway.ports import ModelRequest, ToolCall

STORE: Final = "memory_store"
SEARCH: Final = "memory_search"
PREFIX: Final = "offline_memory_"
"""The prefix of its call ids, which identifies results of memory tools."""
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
_KINDS: Final = (
    ("preference", r"\bprefer|\bfavou?rite|\bi (?:like|love|hate)\b"),
    ("decision", r"\bwe (?:decided|agreed|chose)\b"),
    ("instruction", r"^(?:always|never|call me)\b"),
    ("correction", r"\bno longer\b|\bactually\b"),
)


def memory_call(question: str, request: ModelRequest, *, untold: bool) -> ToolCall | None:
    """Return the matching call, if there is such a tool. `untold`: the conversation does not answer
    a question about something of the person's."""
    if request.tool_choice == "none":
        return None
    offered = {tool.name for tool in request.tools}
    number = sum(message.role == "assistant" for message in request.messages)
    statement = _REMEMBER.search(question)
    if statement is not None and STORE in offered:
        what = statement["what"].strip()
        stored = {"type": _kind(what), "content": what, "quote": what}
        return ToolCall(f"{PREFIX}{number}", STORE, json.dumps(stored, ensure_ascii=False))
    known = _KNOW.search(question)
    topic = known["what"].strip() if known else own_topic(question) if untold else ""
    if topic and SEARCH in offered:
        query = json.dumps({"query": topic[:MAX_QUERY], "limit": 5})
        return ToolCall(f"{PREFIX}{number}", SEARCH, query)
    return None


def memory_report(content: str) -> str:
    """Describe the result of a memory tool; memories are quoted."""
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
    entries = [
        each
        for each in listed
        if isinstance(each, Mapping) and NOT_CONFIGURED not in str(each.get("content", ""))
    ]
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
