"""The offline model's use of the tools that search repositories, which it calls on plain questions
about code, decisions and incidents."""

import json
import re
from collections.abc import Mapping
from typing import Final

from gateway.ports import ModelRequest, ToolCall

PREFIX: Final = "offline_repository_"
"""The prefix of its call ids, which identifies results of these tools."""
MAX_QUERY: Final = 200
MAX_LISTED: Final = 3
MAX_EXCERPT: Final = 240
NOT_FOUND: Final = "I do not find it in the repositories."
_QUESTIONS: Final = (
    (
        "search_incidents",
        re.compile(r"\b(?:incidents?|outages?|postmortems?)\b", re.IGNORECASE),
    ),
    (
        "search_decisions",
        re.compile(
            r"\bwhy (?:did|do|does|are|have|is) (?:we|our|the)\b|\bdid we decide\b", re.IGNORECASE
        ),
    ),
    (
        "search_code_kb",
        re.compile(
            r"\b(?:where|how|in which file) (?:do|does|is|are) (?:we|our|the)\b", re.IGNORECASE
        ),
    ),
)


def repository_call(question: str, request: ModelRequest) -> ToolCall | None:
    """Return the matching call, if there is such a tool."""
    if request.tool_choice == "none" or not question.rstrip().endswith("?"):
        return None
    offered = {tool.name for tool in request.tools}
    for name, form in _QUESTIONS:
        if name in offered and form.search(question):
            number = sum(message.role == "assistant" for message in request.messages)
            query = {"query": question[:MAX_QUERY], "limit": MAX_LISTED}
            return ToolCall(f"{PREFIX}{number}", name, json.dumps(query, ensure_ascii=False))
    return None


def repository_report(content: str) -> str:
    """Describe the result of such a tool: each part of a file with its citation."""
    try:
        answer = json.loads(content)
    except ValueError:
        return content
    listed = answer.get("results") if isinstance(answer, Mapping) else None
    entries = [each for each in listed or [] if isinstance(each, Mapping)]
    if not entries:
        return NOT_FOUND
    return "\n".join(["The repositories say:", "", *map(_entry, entries[:MAX_LISTED])])


def _entry(entry: Mapping[str, object]) -> str:
    """Return a line with title, state, excerpt and citation."""
    text = " ".join(str(entry.get("text", "")).split())
    excerpt = text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT].rstrip()} …"
    citation, link = f"`{entry.get('citation', '')}`", str(entry.get("link", ""))
    cited = f"[{citation}]({link})" if link else citation
    title = " ".join(str(entry.get("title") or entry.get("symbol") or entry.get("path")).split())
    replaced = str(entry.get("superseded_by", ""))
    state = f"superseded by {replaced}" if replaced else str(entry.get("status", ""))
    return f"- **{title}**{f' ({state})' if state else ''}: “{excerpt}” {cited}"
