"""The offline model's use of the tools that search memory and repositories, which it calls on plain
requests, and of facts that a person told it about themselves."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.llm.offline_samples import NOT_CONFIGURED
from gateway.ports import ModelRequest, ToolCall

STORE: Final = "memory_store"
SEARCH: Final = "memory_search"
KEPT: Final = "catch_up"
KEPT_PREFIX: Final = "offline_kept_"
"""The prefix of its call ids for kept messages of a place."""
MEMORY_PREFIX: Final = "offline_memory_"
"""The prefix of its call ids, which identifies results of memory tools."""
_MISSED: Final = re.compile(r"\bwhat (?:did|have) i miss", re.IGNORECASE)
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

UNTOLD: Final = "You have not told me"
_MY: Final = re.compile(
    r"\b(?:what(?:'s|’s| is| was| are| were)|who(?:'s|’s| is)|which is|"
    r"(?:do|can) you (?:know|remember|tell me)(?: what)?|tell me(?: what)?) "
    r"(?P<what>my (?P<thing>[\w' -]{1,60}?))(?: is| are)?[\s?!.]*$",
    re.IGNORECASE,
)
_DO_I: Final = re.compile(
    r"\b(?:where|what|when|who|which [\w ]{1,30}) do i (?P<verb>[a-z]{2,20})\b", re.IGNORECASE
)
_TOLD: Final = re.compile(
    r"^\W*my (?P<thing>[\w' -]{1,60}?)(?P<verb>'s|’s| is| are)(?: now)? "
    r"(?P<value>[^\n.!?;]{1,200})$",
    re.IGNORECASE,
)
_CALLED: Final = r"\b(?:call me|i am called|i'm called) (?P<value>[^\n.,!?;]{1,60})"


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
        return ToolCall(f"{MEMORY_PREFIX}{number}", STORE, json.dumps(stored, ensure_ascii=False))
    known = _KNOW.search(question)
    topic = known["what"].strip() if known else own_topic(question) if untold else ""
    if topic and SEARCH in offered:
        query = json.dumps({"query": topic[:MAX_QUERY], "limit": 5})
        return ToolCall(f"{MEMORY_PREFIX}{number}", SEARCH, query)
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
        return _memory_list(answer["results"])
    if answer.get("success"):
        return "I will remember that."
    if answer.get("status") == "waiting_for_the_person":
        return f"I am not sure that I should keep that. {answer.get('error', '')}".strip()
    return f"I will not keep that. {answer.get('error', '')}".strip()


def kept_call(question: str, request: ModelRequest) -> ToolCall | None:
    """Return the call for "what did I miss?", if there is such a tool."""
    offered = any(tool.name == KEPT for tool in request.tools)
    if not offered or request.tool_choice == "none" or _MISSED.search(question) is None:
        return None
    number = sum(message.role == "assistant" for message in request.messages)
    return ToolCall(f"{KEPT_PREFIX}{number}", KEPT, "{}")


def kept_report(content: str) -> str:
    """Describe the kept messages of a place: the entries with their links, one a line."""
    _, _, entries = content.partition("\n")
    lines = [line for line in entries.splitlines() if line.startswith("[")]
    return "You missed:\n\n" + "\n".join(f"- {line}" for line in lines) if lines else content


def _memory_list(results: object) -> str:
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


def own_topic(question: str) -> str:
    """Return the thing of the person that a question asks for ("my dog"), empty for none."""
    match = _MY.search(question)
    return match["what"].strip() if match else ""


def answer_about_person(question: str, before: Sequence[str]) -> str:
    """Return the answer to a question about the person from their earlier messages (oldest first),
    or to a statement; empty for any other text."""
    match = _MY.search(question)
    if match is not None:
        return _recalled(match["thing"].strip(), before)
    doing = _DO_I.search(question)
    if doing is not None:
        return _said_of(doing["verb"], before)
    statement = _TOLD.search(question.rstrip(" \n\t.!"))
    if statement is not None:
        verb = "are" if statement["verb"] == " are" else "is"
        return f"Noted: your {statement['thing'].strip()} {verb} {statement['value'].strip()}."
    return ""


def _recalled(thing: str, before: Sequence[str]) -> str:
    """Find the latest statement about something of the person's."""
    forms = [
        rf"\bmy {_spelled(thing)}(?:'s|’s| is| was)(?: now)? (?P<value>[^\n.!?;]{{1,200}})",
        rf"\bmy {_spelled(thing)}(?P<many> are| were)(?: now)? (?P<value>[^\n.!?;]{{1,200}})",
    ]
    if thing.lower() == "name":
        forms.append(_CALLED)
    for text in reversed(before):
        for form in forms:
            statement = re.search(form, text, re.IGNORECASE)
            if statement is not None:
                verb = "are" if "many" in statement.groupdict() else "is"
                return f"Your {thing} {verb} {statement['value'].strip()}, you said."
    return f"{UNTOLD} your {thing}."


def _said_of(verb: str, before: Sequence[str]) -> str:
    """Find the latest sentence that says what the person does."""
    form = re.compile(rf"\bI {re.escape(verb)}\b[^\n.!?;]{{1,200}}", re.IGNORECASE)
    for text in reversed(before):
        statement = None if _DO_I.search(text) else form.search(text)
        if statement is not None:
            return f"You said: “{statement[0].strip()}”"
    return f"{UNTOLD} that."


def _spelled(thing: str) -> str:
    """Return a pattern for a name in British and American spelling."""
    return re.sub(r"(?<=[lvb])ou?r", "ou?r", re.escape(thing).replace(r"\ ", r"\s+"))


REMIND: Final = "remind"
REMINDER_PREFIX: Final = "offline_reminder_"
"""The prefix of its call ids, which identifies results of this tool."""
REMINDED: Final = "I will remind you."
_REMIND: Final = re.compile(
    r"^\W*(?:please\s+)?remind me in (?P<count>\d{1,4}) (?P<unit>second|minute|hour|day)s? to "
    r"(?P<what>\S.{0,300})",
    re.IGNORECASE | re.DOTALL,
)
_MINUTES: Final = {"second": 1 / 60, "minute": 1.0, "hour": 60.0, "day": 1_440.0}


def reminder_call(question: str, request: ModelRequest) -> ToolCall | None:
    """Return the call for "remind me in 5 minutes to …", if there is such a tool."""
    match = _REMIND.search(question)
    offered = {tool.name for tool in request.tools}
    if match is None or REMIND not in offered or request.tool_choice == "none":
        return None
    number = sum(message.role == "assistant" for message in request.messages)
    minutes = int(match["count"]) * _MINUTES[match["unit"].lower()]
    asked = {"text": match["what"].strip().rstrip("."), "in_minutes": minutes}
    return ToolCall(f"{REMINDER_PREFIX}{number}", REMIND, json.dumps(asked, ensure_ascii=False))


REPOSITORY_PREFIX: Final = "offline_repository_"
"""The prefix of its call ids, which identifies results of these tools."""
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
            return ToolCall(
                f"{REPOSITORY_PREFIX}{number}", name, json.dumps(query, ensure_ascii=False)
            )
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
