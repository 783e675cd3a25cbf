"""The sentences that people read about their memory."""

from collections.abc import Mapping, Sequence
from typing import Final

from memory.model.plans import PlanUse
from memory.model.record import Kind, Record, short_id
from memory.ports.people import PersonChoices
from memory.ports.reviews import ReviewItem
from memory.service.listing import MAX_FOUND, Page
from memory.text.display import one_line, quoted

_KINDS_TOLD: Final = {
    Kind.PREFERENCE: "Preferences",
    Kind.INSTRUCTION: "Instructions",
    Kind.CORRECTION: "Corrections",
    Kind.DECISION: "Decisions",
    Kind.FACT: "Facts",
    Kind.CONTEXT: "Context",
}
_SAID: Final = {
    "user": "you said",
    "assistant": "I said",
    "tool": "a tool said",
    "other": "you showed",
}

NOTHING: Final = "I have learned nothing of you here yet. `/remember …` tells me something."
NOTHING_SAID: Final = "I keep none of your chat messages here. `/memories` shows what I learned."
NOT_FOUND: Final = (
    "I find nothing about that, neither in what I learned of you nor in chat messages. "
    "`/memories` shows all that I learned."
)
NOT_LEARNED: Final = "I have learned nothing about that. Chat messages that fit: {count}."
NOT_SAID: Final = "No chat message fits that. What I learned and fits: {count}."
NO_SUCH_PAGE: Final = (
    "There is nothing on this page. `/memories` shows the list from its beginning, "
    "`/memories WORDS` searches it."
)
OLD_LIST: Final = "This list is too old to go on in it. Write `/memories` again."
LIST_OF_OTHERS: Final = (
    "Only the person who asked for this list can go on in it. `/memories` shows yours."
)
ELSEWHERE: Final = (
    "I show less in channels and groups. To see all, write `/memories` to me in a direct message."
)
WAITING: Final = "This is not kept yet and waits for your decision:"
ASKED_ALONE: Final = (
    "I am not sure that I should keep that. Write to me in a direct message: I ask you there, "
    "where nobody reads along."
)
NOTHING_WAITS: Final = "Nothing waits for your decision."
WHAT_TO_REMEMBER: Final = "What shall I remember? Write it after the command: `/remember …`"
WHAT_TO_FORGET: Final = (
    "What shall I forget? Name a topic (`/forget my dog`), or one memory by its id (`/forget ID`). "
    "`/memories` shows the ids."
)
KNOWN: Final = "I know that already."
ONLY_PRIVATE: Final = "Please ask me that in a direct message, where nobody reads along."
NOTHING_TO_FORGET: Final = "I remember nothing about that."
NOTHING_WITH_ALL: Final = (
    "I remember nothing in which all of these words stand. Fewer words find more."
)
FORGET_MEANS: Final = (
    "It goes from my memory and from the history of our conversations, with the summaries of these "
    "conversations. Your chat app keeps its own messages."
)
BEYOND: Final = (
    "I show and delete {shown} at a time; {count} more fit. To go on, write the command again "
    "afterwards."
)
BEYOND_LEFT: Final = "There is more, at least {count}: write the command again."
CHANGED: Final = "{count} of what I showed had changed or was gone already; I left that alone."
CHANGED_ITEM: Final = "_(this changed or went since I found it, and stays as it is)_"
WAITS: Final = "_(not kept yet, waits for your decision)_"
SUMMARY: Final = "My summary of a conversation, in which these words stand"
FORGET_IN_ROOM: Final = (
    "_Only what belongs here is shown. In a direct message with me, `/forget` reaches the rest._"
)
IN_SOUL: Final = (
    "_Your SOUL says it too, and I go by it in every answer. `/soul` shows it; `/soul …` rewrites "
    "it._"
)
UNREAD: Final = (
    "_I looked through the latest part of our conversations only. To find what is older, write the "
    "command again after this deletion._"
)
NOT_ASKED: Final = "Only the person who was asked, in the place where they were asked, can answer."
CLOSED: Final = "This question is no longer open. Write the command again to be asked anew."
LEFT: Final = "Nothing was changed."
PRIVACY: Final = """\
**What I keep about you**

{counts}{plan}

**What you can do**

- `/memories` shows what I remember, `/forget …` deletes a topic.
- `/privacy export` gives you all of it as a file, `/privacy import` with such a file brings its \
memories back, `/privacy erase` deletes all of this account's.
- `/link` shows which of your accounts on other platforms are linked with this one.
- In channels and groups I {rooms} what you told me elsewhere. `/privacy rooms {other}` \
changes that.
- Memory is {memory}. Where it is off, I recall nothing and keep nothing of what you write. \
`/privacy memory {turn}` turns it {turn} everywhere, `/privacy memory off here` turns it off for \
the conversation that you write it in.
- Under my answers I {notes} what I noted by myself. `/privacy notes {other_notes}` changes \
that. `/undo` takes back what I noted.
- I keep what you say to me, not what you say to others. I delete our conversations after {days} \
days. What you asked me to remember stays until you delete it."""
PRIVACY_USAGE: Final = (
    "Write `/privacy`, `/privacy export`, `/privacy import` or `/privacy erase`. To switch "
    "something, write `/privacy memory`, `/privacy notes` or `/privacy rooms`, each with `on` or "
    "`off`. To switch memory off for one conversation, write there `/privacy memory off here`."
)
KINDS: Final[Mapping[str, str]] = {
    "memories": "memories, chat messages that I keep included",
    "memory_reviews": "memories that wait for your decision",
    "memory_sessions": "sessions of memory",
    "brain_documents": "documents that you wrote (SOUL, BIBLE)",
    "turns": "messages of our conversations that I still see",
    "conversation_notes": "tasks and summaries of our conversations",
    "feedback": "your 👍 and 👎 under answers",
    "waiting_turns": "messages that memory has not stored yet",
    "inbox": "messages that I received lately",
    "outbox": "answers that are not sent yet",
    "traces": "decisions about your messages, without text",
    "usage": "figures of what answers cost, without text",
    "spent": "sums of what your answers cost",
    "people_links": "links with your other accounts",
    "link_requests": "links that are not completed",
    "people_projects": "projects that you were seen in",
    "people_choices": "settings of yours",
    "person_tokens": "tokens for your own programs",
    "adapter_state": "facts about your account on its platform, and open questions to you",
    "quarantine": "work that stopped the program, without text",
}
"""Names of the stored kinds of data, by table."""
NO_PROJECT: Final = (
    "I know of no project that you belong to now. A project is a group, server or workspace that I "
    "am in too: write to me in the group, or in one of its channels, then choose it here with "
    "`/project`."
)
PROJECT_OF_ROOM: Final = (
    "In a channel or group I use its own project. To choose one for our direct messages, write "
    "`/project` to me in a direct message."
)
NO_FIGURES: Final = "There are no figures of this project yet."
NO_DOCUMENT: Final = "Nothing is written there yet. Write it after the command: `/{name} …`"
DOCUMENT_WAYS: Final = (
    "_Version {number}, {at}. `/{name} …` rewrites it, `/{name} undo` brings the one before back._"
)
WAITS_PRIVATELY: Final = (
    "Something waits for your decision. Write `/memories review` to me in a direct message, where "
    "nobody reads along."
)
WAITS_THERE: Final = (
    "Proposals also wait for an operator in other projects: {places}. To see them, choose the "
    "project with `/project`, then write `/memories review`."
)
PROPOSED: Final = "Only operators of this project change that. I proposed it to them."


def privacy(
    chosen: PersonChoices, counts: str, planned: str, days: int, *, rooms: bool, notes: bool
) -> str:
    """What `/privacy` shows: what is kept, what was chosen, and how to change it."""
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
    """How much is kept, one kind a line."""
    lines = [f"- {KINDS.get(name, name.replace('_', ' '))}: {count}" for name, count in counts]
    return "\n".join(lines) or "Nothing."


def planned(use: PlanUse) -> str:
    """How much of a plan is used; empty where nothing limits it."""
    if use.limit is None:
        return ""
    told = f"{use} memories of your plan are used."
    return told if use.count < use.limit else f"{told} Delete one to make room: `/forget …`."


def page(shown: Page) -> str:
    """A page of a list, with what can be done next."""
    if not shown.records:
        return _empty(shown)
    last = shown.first + len(shown.records)
    most = " the best" * (bool(shown.text) and shown.total >= MAX_FOUND)
    title = "What I learned of you" if shown.name == "learned" else "Chat messages that I keep"
    title = f"{title} that fits" * bool(shown.text and shown.name == "learned") or title
    shows = f"{shown.first + 1}–{last}" if len(shown.records) > 1 else str(last)
    lines = [f"**{title}** ({shows} of{most} {shown.total})"]
    grouped = shown.name == "learned" and not shown.text
    kind: Kind | None = None
    for record in shown.records:
        if grouped and record.kind is not kind:
            kind = record.kind
            lines += ["", f"**{_KINDS_TOLD[kind]}**", ""]
        elif len(lines) == 1:
            lines.append("")
        lines.append(_entry(record, grouped))
    foot = f"{_other(shown)}`/forget ID` deletes one."
    return "\n".join((*lines, "", f"_{foot}_"))


def _entry(record: Record, grouped: bool) -> str:
    at, told = record.provenance.at.date(), "" if grouped else f"{_kind(record)}, "
    return f"- {one_line(record.content)} _({told}{at})_ `{short_id(record.id)}`"


def _other(shown: Page) -> str:
    if not shown.other:
        return ""
    if shown.text:
        other = "What I learned and fits" if shown.name == "said" else "Chat messages that fit"
        return f"{other}: {shown.other}. "
    if shown.name == "said":
        return f"What I learned of you: {shown.other} (`/memories`). "
    return f"Chat messages that I keep: {shown.other} (`/memories chat`). "


def _empty(shown: Page) -> str:
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
    """A memory in one line, with its kind, its date and the id that `/forget` takes."""
    told = f"{_kind(record)}, {record.provenance.at.date()}"
    return f"{one_line(record.content)} _({told})_ `{short_id(record.id)}`"


def forgotten(count: int) -> str:
    """What was deleted on request."""
    return f"Forgotten: {count}." if count else "There was nothing left of it."


def _kind(record: Record) -> str:
    """The kind of a memory, or of one side of a turn its speaker."""
    return _SAID[record.role] if record.role else record.kind


def question(pending: ReviewItem, others: int) -> str:
    """One memory, or document, that waits for a decision. A document is shown whole."""
    record = pending.record
    asked = f"Make this the {pending.target.upper()}?" if pending.target else "Keep this?"
    shown = quoted(record.content) if pending.target else f"> {one_line(record.content)}"
    text = f"{asked}\n\n{shown}\n\n_{pending.reason}_"
    if not others:
        return text
    return f"{text}\n\n{others} more wait{'s' * (others == 1)} after it."
