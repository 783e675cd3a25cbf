"""Reads the earlier messages of the thread in which a question is asked.

They are text of others for this question alone: no store, trace or log gets any of it, and memory
notes only that the model read it.
"""

import asyncio
from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

import structlog

from gateway.authorship import Material
from gateway.errors import DeliveryError, ParleyError, Transient
from gateway.message import Attachment, ChatMessage
from gateway.people import Audience
from gateway.policy.access import listed
from gateway.policy.decision import Decision
from gateway.policy.history_redaction import redact_for_history, redact_messages, redact_name
from gateway.ports import ThreadMessage, ThreadMessages
from gateway.ports.conversations import StoredTurn
from gateway.ports.prompt_blocks import ThreadText
from gateway.turn.context.history import NO_HISTORY
from gateway.turn.prompt import clean_name, clip, escaped, marked, readable
from gateway.turn.services import Policies, Services
from gateway.turn.turn_context import TurnContext

STAGE: Final = "thread"
READ_SECONDS: Final = 5.0
READ: Final = 100
"""The latest messages that are read, besides the first one: some are in the conversation."""
MOST: Final = 50
"""Of these, the latest that the prompt gets."""
MAX_TEXT: Final = 2_000
"""Characters of one message in the prompt."""
MAX_READ: Final = 2 * MAX_TEXT
"""Characters of one message that are searched for secrets: a cut through a secret is in the part
that the prompt does not get."""
MAX_TITLE: Final = 200
MAX_ALL: Final = 24_000
"""Characters of all messages that are searched for secrets."""
MAX_FILES: Final = 5
"""Files of the thread that the model gets: those of the first message, then the latest."""

UNKNOWN: Final = (
    "This question was asked in a running thread. You do not know the earlier messages of this "
    "thread that were not addressed to you. If the question depends on them, say that you cannot "
    "see them."
)
UNREAD: Final = (
    "The earlier messages of this thread could not be read for this answer. If the question "
    "depends on them, say that you cannot see them at the moment."
)
HIDDEN: Final = (
    "The person who asks may not read the earlier messages of this thread, so you cannot see them "
    "either. Say so if the question depends on them."
)
CHAIN: Final = (
    "This question replies to a message. You see that message at most; you cannot see the earlier "
    "messages of this thread of replies. If the question depends on them, say so."
)
_KINDS: Final = {"image": "picture", "other": "file"}

log = structlog.get_logger(__name__)


async def read_thread(turn: TurnContext, services: Services) -> Decision:
    """Read the thread of the question, or tell the model that it does not see it."""
    asked, threads = turn.asked.last, turn.connected.threads
    turn.inputs.thread, turn.inputs.thread_files, turn.inputs.thread_note = None, (), ""
    if not is_in_thread(asked):
        if replies_to_another(asked):
            turn.inputs.thread_note = CHAIN
            return Decision(STAGE, True, "reply_chain")
        return Decision(STAGE, True, "none")
    if asked.is_direct_message and (threads is None or turn.inputs.opened != NO_HISTORY):
        return Decision(STAGE, True, "known")  # every message was addressed to the assistant
    if turn.inputs.unkept:
        turn.inputs.thread_note = UNKNOWN
        return Decision(STAGE, True, "memory_off")
    if not services.policies.reads_threads or threads is None:
        turn.inputs.thread_note = UNKNOWN
        return Decision(STAGE, True, "not_offered" if threads is None else "off")
    account, now = (asked.place.platform, asked.place.account), services.clock.monotonic()
    if services.thread_failures.pauses(account, now):
        return _unread(turn, services, "rate_limited")
    try:
        async with asyncio.timeout(READ_SECONDS):
            found = await threads.read_thread(asked.place, asked.author.id, asked.id, READ)
    except TimeoutError:
        return _unread(turn, services, "too_slow", f"no answer within {READ_SECONDS:g} s")
    except ParleyError as error:
        wait = error.retry_after if isinstance(error, DeliveryError) else None
        if wait is not None:
            services.thread_failures.pause(account, now + wait)
            return _unread(turn, services, "rate_limited", str(error))
        passes = isinstance(error, Transient)
        return _unread(turn, services, "unavailable" if passes else "refused", str(error))
    except Exception as error:  # noqa: BLE001 - its traceback may quote the thread
        return _unread(turn, services, "failed", type(error).__name__)
    if found.hidden:
        turn.inputs.thread_note = HIDDEN
        return Decision(STAGE, True, "hidden")
    return await _taken(turn, services, found)


def is_in_thread(asked: ChatMessage) -> bool:
    """Return True if the question continues a thread: it stands in one and did not begin it."""
    return bool(asked.place.thread_id) and asked.place.thread_id != asked.id


def replies_to_another(asked: ChatMessage) -> bool:
    """Return True if the question replies to a message in a room that this assistant did not
    write."""
    if asked.place.audience is Audience.DIRECT or not asked.reply_to_id:
        return False
    return asked.quote is None or not asked.quote.by_this_bot


def _unread(turn: TurnContext, services: Services, reason: str, error: str = "") -> Decision:
    place, now = turn.asked.last.place, services.clock.monotonic()
    turn.inputs.thread_note = UNREAD
    services.count("thread_not_read", reason)
    failure = (place.platform, place.account, reason, error)
    if error and services.thread_failures.is_new(failure, now):
        names = {"platform": place.platform, "account": place.account, "reason": reason}
        log.warning("thread_not_read", **names, error=error)
    return Decision(STAGE, True, "not_read", f"{reason}: {error}"[:300] if error else reason)


async def _taken(turn: TurnContext, services: Services, found: ThreadMessages) -> Decision:
    """Take the messages that the conversation does not have already."""
    place = turn.asked.last.place
    wanted = not_addressed(turn, found, services.policies)
    turn.inputs.thread_files = files_of(turn.inputs.opened.turns, found.first, wanted)
    first = wanted[0] if wanted and wanted[0] is found.first else None
    chosen = wanted[1:] if first is not None else wanted
    latest = _newest(chosen, MAX_ALL)
    messages = (*([first] if first else []), *latest)
    title = redact_for_history(found.title[:MAX_TITLE])
    if not messages and not found.between and (turn.inputs.opened.turns or not title):
        return Decision(STAGE, True, "nothing_new")
    known = services.recent_secrets.of(str(turn.key), services.clock.now())
    texts = await asyncio.to_thread(redacted_texts, messages, known)
    zone = turn.asker.zone
    entries = [entry_of(one, text, zone) for one, text in zip(messages, texts, strict=True)]
    if turn.inputs.memory is not None:
        shown = zip(messages, texts, strict=True)
        pieces = [_material(one, text) for one, text in shown if not one.own]
        turn.inputs.memory.reads([*pieces, *([Material("thread", title)] if title else [])])
    turn.inputs.thread = ThreadText(
        first=entries[0] if first else "",
        latest=tuple(entries[1:] if first else entries),
        between=found.between + len(chosen) - len(latest),
        or_more=found.or_more,
        newest_missing=found.newest_missing,
        title=escaped(f"[title] {marked(readable(title))}") if title else "",
    )
    missing = f", {turn.inputs.thread.between} left out" if turn.inputs.thread.between else ""
    return Decision(STAGE, True, "read", f"{len(messages)} messages in {place.platform}{missing}")


def not_addressed(
    turn: TurnContext, found: ThreadMessages, policies: Policies
) -> list[ThreadMessage]:
    """Return the messages that were not addressed to the assistant, without those of blocked
    people, and what it wrote before it was first addressed.

    The others are a conversation with it: the history has what may be used of them, and not what
    was cleared, or what a person with memory off wrote.
    """
    turns, first = turn.inputs.opened.turns, found.first
    known = {each.message_id for each in turns if each.role == "user"}
    known.update(id_ for message in turn.asked.messages for id_ in (message.id, message.replaces))
    prefix = policies.invocation.rule_for(turn.place.platform, turn.place.channel_id)[1]
    begins = turns[0].at if turns else None
    kept: list[ThreadMessage] = []
    begun = False
    for one in (*([first] if first is not None else []), *found.latest):
        message = one.message
        if one.own:
            before = begins is None or message.timestamp < begins
            if before and not begun and (one is first or not found.between):
                kept.append(one)
            continue
        called = one.addressed or (bool(prefix) and message.content.startswith(prefix or ""))
        if called or message.id in known:
            begun = True
        elif not listed(policies.access.blocked_users, message.platform, (message.author.id,)):
            kept.append(one)
    return kept


def files_of(
    turns: Sequence[StoredTurn], first: ThreadMessage | None, wanted: Sequence[ThreadMessage]
) -> tuple[Attachment, ...]:
    """Return the files that the model gets: of the first message, to which a thread replies, with
    each question; of the others once, with the first question after them. `turns` are those of the
    conversation, `wanted` the messages that were not addressed to the assistant."""
    answered = turns[-1].at if turns else None
    opening: tuple[Attachment, ...] = ()
    if first is not None and not first.own:
        kept = any(each.message_id == first.message.id for each in turns if each.role == "user")
        opening = first.message.attachments if kept or first in wanted else ()
    later = [
        file
        for one in reversed(wanted)
        if one is not first and not one.own
        if answered is None or one.message.timestamp > answered
        for file in reversed(one.message.attachments)
    ]
    opening = opening[:MAX_FILES]
    return (*opening, *reversed(later[: MAX_FILES - len(opening)]))


def _newest(messages: Sequence[ThreadMessage], room: int) -> list[ThreadMessage]:
    kept: list[ThreadMessage] = []
    for one in reversed(messages[-MOST:]):
        room -= min(MAX_READ, len(words_of(one.message)))
        if room < 0 and kept:
            break
        kept.append(one)
    return kept[::-1]


def words_of(message: ChatMessage) -> str:
    """Return a message of a thread as text: own words, text of others in it, its files."""
    parts = [message.content]
    for piece in message.material:
        by = f" from {clean_name(piece.by)}" if piece.by else ""
        parts.append(f"({piece.authorship}{by}) {piece.text}")
    for file in message.attachments:
        name = clean_name(redact_name(file.name))
        parts.append(f"({_KINDS.get(file.kind, file.kind)}{': ' if name else ''}{name})")
    return "\n".join(part for part in parts if part.strip()) or "(a message without text)"


def redacted_texts(messages: Sequence[ThreadMessage], known: Sequence[str]) -> list[str]:
    """Return the text of each message without secrets, also those that its author wrote in two
    messages, in at most `MAX_TEXT` characters."""
    of_author: dict[str, list[int]] = {}
    for index, one in enumerate(messages):
        of_author.setdefault(one.message.author.id, []).append(index)
    texts = [clip(words_of(one.message), MAX_READ) for one in messages]
    for indices in of_author.values():
        kept = redact_messages(tuple(texts[index] for index in indices), tuple(known), "")
        for index, text in zip(indices, kept.texts, strict=True):
            texts[index] = clip(text, MAX_TEXT)
    return texts


def entry_of(one: ThreadMessage, text: str, zone: tzinfo) -> str:
    """Return a message as it stands in the prompt, with its time in the zone of the asker. No name
    and no text can pose as another writer, or as the assistant: only its own messages begin with
    "[yours"."""
    author = one.message.author
    name = clean_name(redact_name(author.name)) or "somebody"
    writer = "yours" if one.own else f"from {name}{' (bot)' if author.is_bot else ''}"
    written = f"{one.message.timestamp.astimezone(zone):%Y-%m-%d %H:%M}"
    return escaped(f"[{writer}, {written}] {marked(readable(text))}")


def _material(one: ThreadMessage, text: str) -> Material:
    return Material("thread", text, one.message.author.name)
