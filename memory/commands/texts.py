"""The sentences that people read about their memory."""

from collections.abc import Mapping, Sequence
from typing import Final

from memory.model.plans import PlanUse
from memory.model.record import Kind, Record, short_id
from memory.ports.documents import LABELS
from memory.ports.people import PersonChoices
from memory.service.read import MAX_FOUND, MemoryPage
from memory.stores.reviews import ReviewItem
from memory.text.display import listed_in_question, one_line, quoted

_KIND_TITLES: Final = {
    Kind.PREFERENCE: "Preferences",
    Kind.INSTRUCTION: "Instructions",
    Kind.CORRECTION: "Corrections",
    Kind.DECISION: "Decisions",
    Kind.FACT: "Facts",
    Kind.CONTEXT: "Context",
}
_SPEAKERS: Final = {
    "user": "you said",
    "assistant": "I said",
    "tool": "a tool said",
    "other": "you showed",
}

NOTHING: Final = "I have learned nothing about you here yet. `/remember …` adds a memory."
NOTHING_SAID: Final = "I store no chat messages of yours here. `/memories` shows what I learned."
NOT_FOUND: Final = (
    "I found nothing about that, neither in what I learned about you nor in your chat messages. "
    "`/memories` shows everything I learned."
)
NOT_LEARNED: Final = "I have learned nothing about that. Matching chat messages: {count}."
NOT_SAID: Final = "No chat message matches. Matching memories: {count}."
NO_SUCH_PAGE: Final = (
    "This page is empty. `/memories` shows the list from the beginning, `/memories WORDS` searches "
    "it."
)
OLD_LIST: Final = "This list has expired. Write `/memories` again."
LIST_OF_OTHERS: Final = (
    "Only the person who asked for this list can turn its pages. `/memories` shows yours."
)
ELSEWHERE: Final = (
    "In channels and groups I show only a part. To see everything, write `/memories` to me in a "
    "direct message."
)
WAITING: Final = "Not stored yet, waiting for your decision:"
ASKED_ALONE: Final = (
    "I am not sure whether to keep that. Write to me in a direct message, and I will ask you there."
)
NOTHING_WAITS: Final = "Nothing waits for your decision."
WHAT_TO_REMEMBER: Final = "What should I remember? Write it after the command: `/remember …`"
WHAT_TO_FORGET: Final = (
    "What should I forget? Give a topic (`/forget my dog`), or the id of a memory (`/forget ID`). "
    "`/memories` shows the ids."
)
KNOWN: Final = "I know that already."
ONLY_PRIVATE: Final = "Please ask me that in a direct message, where nobody else reads the answer."
NOTHING_TO_FORGET: Final = (
    "I remember nothing about that. `/memories` shows what I remember, with the ids."
)
NOTHING_WITH_ALL: Final = "I remember nothing that contains all of these words. Try fewer words."
FORGET_MEANS: Final = (
    "This deletes it from my memory, and from the history and summaries of our conversations. Your "
    "chat app keeps its own messages."
)
BEYOND: Final = (
    "I show and delete {shown} at a time; {count} more match. To delete those, write the command "
    "again afterwards."
)
BEYOND_LEFT: Final = "At least {count} more match: write the command again."
CHANGED: Final = (
    "{count} of the shown items had changed or were already deleted; I did not delete those."
)
CHANGED_ITEM: Final = "_(changed or deleted since I found it; I will not delete it)_"
WAITS: Final = "_(not stored yet, waiting for your decision)_"
SUMMARY: Final = "My summary of a conversation that contains these words"
FORGET_IN_ROOM: Final = (
    "_Only what was learned here is shown. In a direct message with me, `/forget` finds the rest._"
)
IN_SOUL: Final = (
    "_Your preferences mention it too, and I follow them in every answer. `/soul` shows "
    "them; `/soul …` rewrites them._"
)
UNREAD: Final = (
    "_I searched only the latest part of our conversations. To search older ones, write the "
    "command again after this deletion._"
)
NOT_ASKED: Final = "Only the person who was asked can answer, in the place where they were asked."
CLOSED: Final = "This question is no longer open. Write the command again."
LEFT: Final = "Nothing was changed."
PRIVACY: Final = """\
**What I store about you**

{counts}{plan}

**What you can do**

- `/memories` shows what I remember, `/forget …` deletes a topic.
- `/privacy export` sends you everything as a file. `/privacy import` with this file restores \
its memories. `/privacy erase` deletes everything of this account.
- `/link` shows which of your accounts on other platforms are linked with this one.
- In channels and groups I {rooms} what you told me elsewhere. `/privacy rooms {other}` \
changes that.
- Memory is {memory}. While it is off, I recall nothing and store nothing that you write. \
`/privacy memory {turn}` turns it {turn} everywhere, `/privacy memory off here` turns it off only \
in the conversation in which you write it.
- Below my answers I {notes} what I noted on my own. `/privacy notes {other_notes}` changes \
that. `/undo` deletes what I noted.
- I store what you say to me, not what you say to others. I delete our conversations after {days} \
days. What you asked me to remember stays until you delete it."""
PRIVACY_USAGE: Final = (
    "Write `/privacy`, `/privacy export`, `/privacy import` or `/privacy erase`. To change a "
    "setting, write `/privacy memory`, `/privacy notes` or `/privacy rooms`, each with `on` or "
    "`off`. To turn memory off in one conversation only, write `/privacy memory off here` in it."
)
KINDS: Final[Mapping[str, str]] = {
    "memories": "memories, including stored chat messages",
    "memory_reviews": "memories that wait for your decision",
    "memory_sessions": "memory sessions",
    "brain_documents": "preferences and project notes that you wrote",
    "turns": "recent messages of our conversations",
    "conversation_notes": "tasks and summaries of our conversations",
    "feedback": "your 👍 and 👎 on answers",
    "waiting_turns": "messages that memory has not stored yet",
    "inbox": "recently received messages",
    "outbox": "answers that are not sent yet",
    "traces": "decisions about your messages, without text",
    "archived_conversations": "conversations that you archived in the console",
    "takeovers": "conversations that an operator answers instead of me",
    "text_grants": "private texts that operators asked to read, without text",
    "usage": "costs of answers, without text",
    "usage_days": "costs of answers by day, without text",
    "spent": "total costs of your answers",
    "people_links": "links with your other accounts",
    "link_requests": "unfinished links",
    "people_projects": "projects that you were seen in",
    "people_choices": "your settings",
    "people_names": "your name, as operators read it",
    "people_languages": "your language",
    "person_tokens": "tokens for your own programs",
    "adapter_state": "facts about your account on its platform, and open questions to you",
    "quarantine": "work that stopped the program, without text",
    "admissions": "your permission to write to me",
    "pairing_requests": "your request for permission to write to me",
    "agents": "your agents",
    "agent_sessions": "sessions of your agents, without text",
    "pools": "your pools of shared memories",
    "pool_members": "memberships of your agents in pools",
    "pool_invitations": "invitations into pools, of your agents and from you",
    "pool_memories": "memories that you share in pools",
    "agent_handoffs": "tasks that agents handed over for you or to you",
    "agent_events": "events of your agents, without text",
    "people_direct_places": "your direct conversation with me",
    "approvers": "the direct conversation in which you approve people",
    "console_sessions": "your sessions of the console",
    "console_links": "unused login links to the console",
    "config_versions": "your changes to the configuration, without the values",
}
"""Names of the stored kinds of data, by table."""
NO_PROJECT: Final = (
    "I do not know of any project that you belong to. A project is a group, server or workspace "
    "with both of us in it: write to me there, then choose it here with `/project`."
)
PROJECT_OF_ROOM: Final = (
    "In a channel or group I use its own project. To choose one for our direct messages, write "
    "`/project` to me in a direct message."
)
NO_FIGURES: Final = "This project has no status yet."
NO_DOCUMENT: Final = "No {label} yet. Add some: `/{name} …`"
DOCUMENT_WAYS: Final = (
    "_Version {number}, {at}. `/{name} …` rewrites it, `/{name} undo` restores the previous one._"
)
WAITS_PRIVATELY: Final = (
    "Something is waiting for your decision. Write `/memories review` to me in a direct message, "
    "where nobody else reads the answer."
)
WAITS_THERE: Final = (
    "Proposals also wait for an operator in other projects: {places}. To see them, choose the "
    "project with `/project`, then write `/memories review`."
)
PROPOSED: Final = "Only operators of this project can change that. I proposed it to them."


def privacy(
    chosen: PersonChoices, counts: str, planned: str, days: int, *, rooms: bool, notes: bool
) -> str:
    """Return the text of `/privacy`."""
    memory = "off for you" if chosen.memory_off else "on for you"
    if chosen.off_here and not chosen.memory_off:
        memory = "off for you in this conversation (`/privacy memory on here` turns it on)"
    return PRIVACY.format(
        counts=counts,
        plan=f"\n\n{planned}" if planned else "",
        rooms="use" if rooms else "do not use",
        other="off" if rooms else "on",
        memory=memory,
        turn="on" if chosen.memory_off else "off",
        notes="say" if notes else "do not say",
        other_notes="off" if notes else "on",
        days=days,
    )


def counted(counts: Sequence[tuple[str, int]]) -> str:
    """Return the number of stored rows, one kind a line."""
    lines = [f"- {KINDS.get(name, name.replace('_', ' '))}: {count}" for name, count in counts]
    return "\n".join(lines) or "Nothing."


def planned(use: PlanUse) -> str:
    """Return the used part of a plan; empty without a limit."""
    if use.limit is None:
        return ""
    text = f"{use} memories of your plan are used."
    return text if use.count < use.limit else f"{text} Delete one to make room: `/forget …`."


def page(shown: MemoryPage) -> str:
    """Return a page of a list, with the next commands."""
    if not shown.records:
        return _empty(shown)
    last = shown.first + len(shown.records)
    most = " the best" * (bool(shown.text) and shown.total >= MAX_FOUND)
    title = "What I learned about you" if shown.name == "learned" else "Chat messages that I keep"
    title = f"{title} that matches" * bool(shown.text and shown.name == "learned") or title
    shows = f"{shown.first + 1}–{last}" if len(shown.records) > 1 else str(last)
    lines = [f"**{title}** ({shows} of{most} {shown.total})"]
    grouped = shown.name == "learned" and not shown.text
    kind: Kind | None = None
    for record in shown.records:
        if grouped and record.kind is not kind:
            kind = record.kind
            lines += ["", f"**{_KIND_TITLES[kind]}**", ""]
        elif len(lines) == 1:
            lines.append("")
        lines.append(_entry(record, grouped))
    foot = f"{_other(shown)}`/forget ID` deletes one."
    return "\n".join((*lines, "", f"_{foot}_"))


def _entry(record: Record, grouped: bool) -> str:
    at, kind = record.provenance.at.date(), "" if grouped else f"{_kind(record)}, "
    return f"- {one_line(record.content)} _({kind}{at})_ `{short_id(record.id)}`"


def _other(shown: MemoryPage) -> str:
    if not shown.other:
        return ""
    if shown.text:
        other = "Matching memories" if shown.name == "said" else "Matching chat messages"
        return f"{other}: {shown.other}. "
    if shown.name == "said":
        return f"What I learned about you: {shown.other} (`/memories`). "
    return f"Chat messages that I keep: {shown.other} (`/memories chat`). "


def _empty(shown: MemoryPage) -> str:
    if shown.total:
        return NO_SUCH_PAGE
    if shown.text:
        if not shown.other:
            return NOT_FOUND
        return (NOT_LEARNED if shown.name == "learned" else NOT_SAID).format(count=shown.other)
    if shown.name == "said":
        return NOTHING_SAID
    return f"{NOTHING} {_other(shown)}".rstrip()


def memory_line(record: Record) -> str:
    """Return a memory as a line of a question, with its kind, its date and the id for `/forget`."""
    details = f"{_kind(record)}, {record.provenance.at.date()}"
    return f"{listed_in_question(record.content)} _({details})_ `{short_id(record.id)}`"


def forgotten(count: int) -> str:
    """Return the result of a deletion."""
    if not count:
        return "Nothing was left to delete."
    return "I deleted 1 item." if count == 1 else f"I deleted {count} items."


def _kind(record: Record) -> str:
    """Return the kind of a memory, or the speaker of a turn."""
    return _SPEAKERS[record.role] if record.role else record.kind


def question(pending: ReviewItem, others: int) -> str:
    """Return the question about a waiting memory or document, which is shown completely."""
    record = pending.record
    document = bool(pending.target) and pending.share is None
    heading = f"Replace the {LABELS[pending.target]} with this?" if document else "Keep this?"
    if pending.share is not None:
        heading = "Let an agent share this with the agents of others?"
    text = f"{heading}\n\n{quoted(record.content)}\n\n_{pending.reason}_"
    if not others:
        return text
    return f"{text}\n\n{others} more {'is' if others == 1 else 'are'} waiting."
