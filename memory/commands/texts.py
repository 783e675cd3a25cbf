"""The sentences that people read about their memory."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from gateway.text import NO_TEXT, Moment, Sentence, Text, counted, joined, text, verbatim
from memory.model.plans import PlanUse
from memory.model.record import Kind, Record, short_id
from memory.ports.people import PersonChoices
from memory.service.read import MAX_FOUND, MemoryPage
from memory.stores.reviews import ReviewItem
from memory.text.display import (
    bullets,
    italic,
    listed_in_question,
    one_line,
    paragraphs,
    quoted,
)

Marks: TypeAlias = Mapping[str, Sequence[str]]
"""The ids of the memories that a memory may contradict, by its id."""
MAX_MARKED: Final = 3
"""Memories that the mark of another one names."""

_KIND_TITLES: Final = {
    Kind.PREFERENCE: text("Preferences"),
    Kind.INSTRUCTION: text("Instructions"),
    Kind.CORRECTION: text("Corrections"),
    Kind.DECISION: text("Decisions"),
    Kind.FACT: text("Facts"),
    Kind.CONTEXT: text("Context"),
}
KIND_NAMES: Final = {
    Kind.PREFERENCE: text("preference"),
    Kind.INSTRUCTION: text("instruction"),
    Kind.CORRECTION: text("correction"),
    Kind.DECISION: text("decision"),
    Kind.FACT: text("fact"),
    Kind.CONTEXT: text("context"),
}
"""The kinds of memory, of one memory."""
_SPEAKERS: Final = {
    "user": text("you said"),
    "assistant": text("I said"),
    "tool": text("a tool said"),
    "other": text("you showed"),
}

NOTHING: Final = text("I have learned nothing about you here yet. `/remember …` adds a memory.")
NOTHING_SAID: Final = text(
    "I store no chat messages of yours here. `/memories` shows what I learned."
)
NOT_FOUND: Final = text(
    "I found nothing about that, neither in what I learned about you nor in your chat messages. "
    "`/memories` shows everything I learned."
)
NOT_LEARNED: Final = text("I have learned nothing about that. Matching chat messages: {count}.")
NOT_SAID: Final = text("No chat message matches. Matching memories: {count}.")
NO_SUCH_PAGE: Final = text(
    "This page is empty. `/memories` shows the list from the beginning, `/memories WORDS` searches "
    "it."
)
OLD_LIST: Final = text("This list has expired. Write `/memories` again.")
LIST_OF_OTHERS: Final = text(
    "Only the person who asked for this list can turn its pages. `/memories` shows yours."
)
ELSEWHERE: Final = text(
    "In channels and groups I show only a part. To see everything, write `/memories` to me in a "
    "direct message."
)
WAITING: Final = text("Not stored yet, waiting for your decision:")
ASKED_ALONE: Final = text(
    "I am not sure whether to keep that. Write to me in a direct message, and I will ask you there."
)
NOTHING_WAITS: Final = text("Nothing waits for your decision.")
WHAT_TO_REMEMBER: Final = text("What should I remember? Write it after the command: `/remember …`")
WHAT_TO_FORGET: Final = text(
    "What should I forget? Give a topic (`/forget my dog`), or the id of a memory (`/forget ID`). "
    "`/memories` shows the ids."
)
KNOWN: Final = text("I know that already.")
ONLY_PRIVATE: Final = text(
    "Please ask me that in a direct message, where nobody else reads the answer."
)
ONLY_A_TOPIC: Final = text(
    "To forget only one subject, write it after the command: `/forget my old address`."
)
OR_EVERYTHING: Final = text("`/privacy erase` deletes everything that I store about you.")
NOTHING_TO_FORGET: Final = text(
    "I remember nothing about that. `/memories` shows what I remember, with the ids."
)
NOTHING_WITH_ALL: Final = text(
    "I remember nothing that contains all of these words. Try fewer words."
)
FORGET_MEANS: Final = text(
    "This deletes it from my memory, and from the history and summaries of our conversations. Your "
    "chat app keeps its own messages."
)
BEYOND: Final = counted(
    "I show and delete {shown} at a time; {count} more match. To delete those, write the command "
    "again afterwards.",
    "I show and delete {shown} at a time; {count} more match. To delete those, write the command "
    "again afterwards.",
)
BEYOND_LEFT: Final = counted(
    "At least {count} more match: write the command again.",
    "At least {count} more match: write the command again.",
)
CHANGED: Final = counted(
    "{count} of the shown items had changed or were already deleted; I did not delete those.",
    "{count} of the shown items had changed or were already deleted; I did not delete those.",
)
CHANGED_ITEM: Final = text("_(changed or deleted since I found it; I will not delete it)_")
WAITS: Final = text("_(not stored yet, waiting for your decision)_")
SUMMARY: Final = text("My summary of a conversation that contains these words")
FORGET_IN_ROOM: Final = text(
    "_Only what was learned here is shown. In a direct message with me, `/forget` finds the rest._"
)
IN_SOUL: Final = text(
    "_Your preferences mention it too, and I follow them in every answer. `/soul` shows "
    "them; `/soul …` rewrites them._"
)
UNREAD: Final = text(
    "_I searched only the latest part of our conversations. To search older ones, write the "
    "command again after this deletion._"
)
NOT_ASKED: Final = text(
    "Only the person who was asked can answer, in the place where they were asked."
)
CLOSED: Final = text("This question is no longer open. Write the command again.")
LEFT: Final = text("Nothing was changed.")
_PRIVACY_HEAD: Final = text("**What I store about you**")
_NOTHING_STORED: Final = text("Nothing.")
_ROWS: Final = text("{kind}: {count}")
_PRIVACY_WAYS: Final = text("**What you can do**")
_SHOWS: Final = text("`/memories` shows what I remember, `/forget …` deletes a topic.")
_FILES: Final = text(
    "`/privacy export` sends you everything as a file. `/privacy import` with this file restores "
    "its memories. `/privacy erase` deletes everything of this account."
)
_LINKS: Final = text(
    "`/link` shows which of your accounts on other platforms are linked with this one."
)
_ROOMS: Final = {
    True: text(
        "In channels and groups I use what you told me elsewhere. `/privacy rooms off` changes "
        "that."
    ),
    False: text(
        "In channels and groups I do not use what you told me elsewhere. `/privacy rooms on` "
        "changes that."
    ),
}
_MEMORY_ON: Final = text(
    "Memory is on for you. `/privacy memory off` turns it off everywhere, and `/privacy memory "
    "off here` only in the conversation in which you write it. While it is off, I recall nothing "
    "and store nothing that you write."
)
_MEMORY_OFF: Final = text(
    "Memory is off for you: I recall nothing and store nothing that you write. `/privacy "
    "memory on` turns it on again."
)
_MEMORY_OFF_HERE: Final = text(
    "Memory is off for you in this conversation: I recall nothing and store nothing that you "
    "write here. `/privacy memory on here` turns it on again; `/privacy memory off` turns it "
    "off everywhere."
)
_NOTES: Final = {
    True: text(
        "Below my answers I tell you what I noted on my own. `/privacy notes off` changes that. "
        "`/undo` deletes what I noted."
    ),
    False: text(
        "I do not tell you what I noted on my own. `/privacy notes on` lets me write it below my "
        "answers. `/undo` deletes what I noted."
    ),
}
_KEPT_FOR: Final = counted(
    "I store what you say to me, not what you say to others. I delete our conversations after "
    "{count} day. What you asked me to remember stays until you delete it.",
    "I store what you say to me, not what you say to others. I delete our conversations after "
    "{count} days. What you asked me to remember stays until you delete it.",
)
PRIVACY_USAGE: Final = text(
    "Write `/privacy`, `/privacy export`, `/privacy import` or `/privacy erase`. To change a "
    "setting, write `/privacy memory`, `/privacy notes` or `/privacy rooms`, each with `on` or "
    "`off`. To turn memory off in one conversation only, write `/privacy memory off here` in it."
)
KINDS: Final[Mapping[str, Sentence]] = {
    "memories": text("memories, including stored chat messages"),
    "memory_reviews": text("memories that wait for your decision"),
    "memory_conflicts": text("pairs of memories that may contradict each other, without text"),
    "memory_sessions": text("times of our conversations, without text"),
    "brain_documents": text("preferences and project notes that you wrote"),
    "turns": text("recent messages of our conversations"),
    "conversation_notes": text("tasks and summaries of our conversations"),
    "feedback": text("your 👍 and 👎 on answers"),
    "waiting_turns": text("messages that memory has not stored yet"),
    "inbox": text("recently received messages"),
    "outbox": text("answers that are not sent yet"),
    "traces": text("records of what I did with your messages, without text"),
    "archived_conversations": text("conversations that you archived in the console"),
    "takeovers": text("conversations that an operator answers instead of me"),
    "text_grants": text("private texts that operators asked to read, without text"),
    "usage": text("costs of answers, without text"),
    "usage_days": text("costs of answers by day, without text"),
    "spent": text("total costs of your answers"),
    "people_links": text("links with your other accounts"),
    "link_requests": text("unfinished links"),
    "people_projects": text("projects that you were seen in"),
    "people_choices": text("your settings"),
    "people_names": text("your name, as operators read it"),
    "first_contacts": text("places in which I told you that I am a program"),
    "people_languages": text("your language"),
    "proactive_sent": text("how often I wrote to you first"),
    "proactive_waiting": text("messages that wait to be sent to you"),
    "catchup_messages": text("messages of yours that I keep for people who missed them"),
    "appointments": text("your reminders and scheduled questions"),
    "person_tokens": text("tokens for your own programs"),
    "adapter_state": text("facts about your account on its platform, and open questions to you"),
    "quarantine": text("work that stopped the program, without text"),
    "admissions": text("your permission to write to me"),
    "pairing_requests": text("your request for permission to write to me"),
    "agents": text("your agents"),
    "agent_sessions": text("sessions of your agents, without text"),
    "pools": text("your pools of shared memories"),
    "pool_members": text("memberships of your agents in pools"),
    "pool_invitations": text("invitations into pools, of your agents and from you"),
    "pool_memories": text("memories that you share in pools"),
    "agent_handoffs": text("tasks that agents handed over for you or to you"),
    "agent_events": text("events of your agents, without text"),
    "people_direct_places": text("your direct conversation with me"),
    "approvers": text("the direct conversation in which you approve people"),
    "console_sessions": text("your sessions of the console"),
    "console_links": text("unused login links to the console"),
    "config_versions": text("your changes to the configuration, without the values"),
}
"""Names of the stored kinds of data, by table."""
NO_PROJECT: Final = text(
    "I do not know of any project that you belong to. A project is a group, server or workspace "
    "with both of us in it: write to me there, then choose it here with `/project`."
)
PROJECT_OF_ROOM: Final = text(
    "In a channel or group I use its own project. To choose one for our direct messages, write "
    "`/project` to me in a direct message."
)
NO_FIGURES: Final = text("This project has no status yet.")
NO_DOCUMENT: Final[Mapping[str, Sentence]] = {
    "soul": text(
        "You have set no preferences yet. Tell me how to behave towards you, for example: `/soul "
        "Answer briefly.`"
    ),
    "bible": text("This project has no notes yet. Write them after the command: `/bible …`"),
}
DOCUMENT_WAYS: Final[Mapping[str, Sentence]] = {
    "soul": text(
        "_Version {number}, {at}. `/soul …` rewrites it, `/soul undo` restores the previous one._"
    ),
    "bible": text(
        "_Version {number}, {at}. `/bible …` rewrites it, `/bible undo` restores the previous one._"
    ),
}
WAITS_PRIVATELY: Final = text(
    "Something is waiting for your decision. Write `/memories review` to me in a direct message, "
    "where nobody else reads the answer."
)
WAITS_THERE: Final = text(
    "Proposals also wait for an operator in other projects: {places}. To see them, choose the "
    "project with `/project`, then write `/memories review`."
)
PROPOSED: Final = text("Only operators of this project can change that. I proposed it to them.")


def privacy(
    chosen: PersonChoices, counts: Text, planned: Text, days: int, *, rooms: bool, notes: bool
) -> Text:
    """Return the text of `/privacy`."""
    memory = _MEMORY_OFF if chosen.memory_off else _MEMORY_ON
    if chosen.off_here and not chosen.memory_off:
        memory = _MEMORY_OFF_HERE
    ways = (_SHOWS, _FILES, _LINKS, _ROOMS[rooms], memory, _NOTES[notes], _KEPT_FOR.of(count=days))
    return paragraphs(_PRIVACY_HEAD, counts, planned, _PRIVACY_WAYS, bullets(ways))


def stored_rows(counts: Sequence[tuple[str, int]]) -> Text:
    """Return the number of stored rows, one kind a line."""
    rows = [_ROWS.of(kind=kind_of_rows(name), count=count) for name, count in counts]
    return bullets(rows) if rows else _NOTHING_STORED


def kind_of_rows(table: str) -> Text:
    """Return the name of a kind of data by its table."""
    return KINDS.get(table) or verbatim(table.replace("_", " "))


_PLANNED: Final = text("{used} of {limit} memories of your plan are used.")
_PLAN_FULL: Final = text(
    "{used} of {limit} memories of your plan are used. Delete one to make room: `/forget …`."
)


def planned(use: PlanUse) -> Text:
    """Return the used part of a plan; empty without a limit."""
    if use.limit is None:
        return NO_TEXT
    sentence = _PLANNED if use.count < use.limit else _PLAN_FULL
    return sentence.of(used=use.count, limit=use.limit)


_LEARNED: Final = text("**What I learned about you** ({shown} of {total})")
_MATCHING: Final = text("**Matches in what I learned about you** ({shown} of {total})")
_BEST: Final = text("**Matches in what I learned about you** ({shown} of the best {total})")
_SAID: Final = text("**Chat messages that I keep** ({shown} of {total})")
_BEST_SAID: Final = text("**Chat messages that I keep** ({shown} of the best {total})")
_DELETE_ONE: Final = text("`/forget ID` deletes one.")
# Translators: a memory in a list, its date and its id, nothing to translate.
_ENTRY: Final = text("{memory} _({at})_ `{id}`")
# Translators: a memory in a list, its kind ("fact"), its date and its id, nothing to translate.
_ENTRY_OF: Final = text("{memory} _({kind}, {at})_ `{id}`")
_OTHER_MATCHING: Final = text("Matching memories: {count}.")
_OTHER_MATCHING_SAID: Final = text("Matching chat messages: {count}.")
_OTHER_LEARNED: Final = text("What I learned about you: {count} (`/memories`).")
_OTHER_SAID: Final = text("Chat messages that I keep: {count} (`/memories chat`).")


# Translators: a mark behind a memory in a list, before the ids of others.
_MAY_CONTRADICT: Final = text("may contradict {ids}")


def page(shown: MemoryPage, marks: Marks = MappingProxyType({})) -> Text:
    """Return a page of a list, with the next commands. `marks` are the ids of the memories that one
    may contradict."""
    if not shown.records:
        return _empty(shown)
    grouped = shown.name == "learned" and not shown.text
    parts: list[Text] = [_title(shown)]
    if grouped:
        for kind in dict.fromkeys(record.kind for record in shown.records):
            parts.append(joined((verbatim("**"), _KIND_TITLES[kind], verbatim("**"))))
            kept = [one for one in shown.records if one.kind is kind]
            parts.append(bullets(_marked(_entry(one), marks.get(one.id, ())) for one in kept))
    else:
        entries = (_marked(_entry_of(one), marks.get(one.id, ())) for one in shown.records)
        parts.append(bullets(entries))
    other = _other(shown)
    foot = joined((other, _DELETE_ONE), " ") if other else _DELETE_ONE
    return paragraphs(*parts, italic(foot))


def _title(shown: MemoryPage) -> Text:
    last = shown.first + len(shown.records)
    shows = f"{shown.first + 1}–{last}" if len(shown.records) > 1 else str(last)
    best = bool(shown.text) and shown.total >= MAX_FOUND
    if shown.name == "said":
        title = _BEST_SAID if best else _SAID
    else:
        title = (_BEST if best else _MATCHING) if shown.text else _LEARNED
    return title.of(shown=verbatim(shows), total=shown.total)


def _entry(record: Record) -> Text:
    return _ENTRY.of(
        memory=verbatim(one_line(record.content)),
        at=Moment(record.provenance.at, "day"),
        id=verbatim(short_id(record.id)),
    )


def _marked(entry: Text, others: Sequence[str]) -> Text:
    if not others:
        return entry
    ids = verbatim(", ".join(f"`{short_id(one)}`" for one in others[:MAX_MARKED]))
    return joined((entry, italic(_MAY_CONTRADICT.of(ids=ids))), " ")


def _entry_of(record: Record) -> Text:
    return _with_kind(record, one_line(record.content))


def _with_kind(record: Record, shown: str) -> Text:
    return _ENTRY_OF.of(
        memory=verbatim(shown),
        kind=_kind(record),
        at=Moment(record.provenance.at, "day"),
        id=verbatim(short_id(record.id)),
    )


def _other(shown: MemoryPage) -> Text | None:
    if not shown.other:
        return None
    if shown.text:
        other = _OTHER_MATCHING if shown.name == "said" else _OTHER_MATCHING_SAID
    else:
        other = _OTHER_LEARNED if shown.name == "said" else _OTHER_SAID
    return other.of(count=shown.other)


def _empty(shown: MemoryPage) -> Text:
    if shown.total:
        return NO_SUCH_PAGE
    if shown.text:
        if not shown.other:
            return NOT_FOUND
        return (NOT_LEARNED if shown.name == "learned" else NOT_SAID).of(count=shown.other)
    if shown.name == "said":
        return NOTHING_SAID
    other = _other(shown)
    return joined((NOTHING, other), " ") if other else NOTHING


def memory_line(record: Record) -> Text:
    """Return a memory as a line of a question, with its kind, its date and the id for `/forget`."""
    return _with_kind(record, listed_in_question(record.content))


_NONE_LEFT: Final = text("Nothing was left to delete.")
_DELETED: Final = counted("I deleted {count} item.", "I deleted {count} items.")


def forgotten(count: int) -> Text:
    """Return the result of a deletion."""
    return _DELETED.of(count=count) if count else _NONE_LEFT


def _kind(record: Record) -> Text:
    """Return the kind of a memory, or the speaker of a turn."""
    return _SPEAKERS[record.role] if record.role else KIND_NAMES[record.kind]


_REPLACE_DOCUMENT: Final[Mapping[str, Sentence]] = {
    "soul": text("Replace the preferences with this?"),
    "bible": text("Replace the project notes with this?"),
    "heartbeat": text("Replace the status with this?"),
}
_KEEP_THIS: Final = text("Keep this?")
_SHARE_THIS: Final = text("Let an agent share this with other people's agents?")
_MORE_WAIT: Final = counted("{count} more is waiting.", "{count} more are waiting.")


def question(pending: ReviewItem, others: int) -> Text:
    """Return the question about a waiting memory or document, which is shown completely."""
    heading = _REPLACE_DOCUMENT[pending.target] if pending.target else _KEEP_THIS
    if pending.share is not None:
        heading = _SHARE_THIS
    shown = verbatim(quoted(pending.record.content))
    more = _MORE_WAIT.of(count=others) if others else None
    return paragraphs(heading, shown, italic(pending.reason), more)
