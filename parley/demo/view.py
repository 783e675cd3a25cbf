"""The content of the page as JSON: rooms, messages, decisions with reasons in words, requests."""

import json
from collections.abc import Collection, Mapping
from typing import Final

from gateway.policy.decision import Decision
from gateway.ports.traces import Trace
from gateway.text import ENGLISH, Language, Text, text, verbatim
from parley.demo.world import (
    PEOPLE,
    THREADS_UNDER_MESSAGES,
    TITLES,
    Interaction,
    Seen,
    Where,
    World,
)
from simulators.base import ApiCall, SimRoom

MAX_CALLS: Final = 25
MAX_BODY: Final = 6_000
"""Characters of one request's body that the page shows."""
BACKGROUND: Final = ("getUpdates", "getMe", "apps.connections.open", "auth.test")
"""Constant background requests that belong to no message."""

NOTHING: Final = verbatim("")
SKIPPED: Final[Mapping[tuple[str, str], Text]] = {
    ("access", "no_controller"): text("no access controller is installed"),
    ("access", "open"): text("no access list is set: everybody is served"),
    ("appointments", "none"): text("the assistant noted no appointment"),
    ("attachments", "none"): text("the message has no files"),
    ("documents", "none"): text("the conversation has no documents"),
    ("budget", "no_budget"): text("no budget is set"),
    ("context", "memory_off"): text("the person switched memory off"),
    ("limits", "counted_before"): text("the message was counted before"),
    ("limits", "no_limits"): text("no limits are set"),
    ("memory", "nothing_kept"): text("there was nothing to store"),
    ("memory", "off"): text("memory is off"),
    ("recall", "no_memory"): text("memory is off"),
    ("recall", "nothing_to_recall"): text("nothing is stored that could help"),
    ("recall", "recall_failed"): text("the search of memory failed"),
    ("recall", "recall_too_slow"): text("the search of memory took too long"),
    ("response_filter", "not_public"): text("the answer is not public"),
    ("task", "none"): text("the conversation has no task"),
}


def world_view(world: World, assistant: str, model: str, start: Where) -> dict[str, object]:
    """The data that the page loads once; it opens at `start`."""
    return {
        "start": {"platform": start.platform, "room": start.room, "person": start.person},
        "assistant": assistant,
        "model": model,
        "people": list(PEOPLE),
        "platforms": [
            {
                "id": platform,
                "title": TITLES.get(platform, platform),
                "threads_under_messages": platform in THREADS_UNDER_MESSAGES,
                "rooms": [
                    {"key": r.key, "title": r.title, "kind": r.kind, "parent": r.parent}
                    for r in world.entries(platform)
                ],
            }
            for platform in world.platforms
        ],
    }


def room_view(
    world: World, where: Where, traces: list[Trace], language: Language = ENGLISH
) -> dict[str, object]:
    """A room as one person sees it, with the platform's decisions and requests; the page is in a
    language."""
    room, seen = world.room(where), world.seen(where)
    written = {one.shown.id for one in seen}
    messages = [
        _interaction(interaction, "") for interaction in world.interactions_below(where, "")
    ]
    for one in seen:
        messages.append(_message(world, where, one))
        below = world.interactions_below(where, one.shown.id)
        messages += [_interaction(interaction, one.root) for interaction in below]
    return {
        "messages": messages,
        "traces": [
            {**trace_view(trace, language), "here": is_here(trace, where, room, written)}
            for trace in traces
            if trace.platform == where.platform
        ],
        "calls": [call_view(call) for call in latest_calls(world, where.platform)],
    }


def latest_calls(world: World, platform: str) -> list[ApiCall]:
    """The last requests of the client library, newest first, without background requests."""
    calls = world.simulator(platform).calls
    calls_shown = [call for call in reversed(calls) if call.method not in BACKGROUND]
    return calls_shown[:MAX_CALLS]


def trace_view(trace: Trace, language: Language = ENGLISH) -> dict[str, object]:
    """A trace for the page."""
    return {
        "id": trace.id,
        "message_id": trace.message_id,
        "kind": trace.kind,
        "at": trace.at.isoformat(),
        "outcome": trace.outcome,
        "milliseconds": round(trace.milliseconds, 1),
        "decisions": [
            {
                "stage": d.stage,
                "allowed": d.allowed,
                "reason": d.reason,
                "detail": d.detail,
                "skipped": language.shown(why_skipped(d)),
            }
            for d in trace.decisions
        ],
    }


def call_view(call: ApiCall) -> dict[str, object]:
    """A request for the page."""
    return {
        "method": call.method,
        "status": call.status,
        "at": call.at,
        "body": readable_body(call.body)[:MAX_BODY],
    }


def readable_body(body: Mapping[str, object]) -> str:
    """A request's body as JSON; JSON inside of form fields is expanded."""
    return json.dumps(
        {key: expanded_body(value) for key, value in body.items()},
        indent=2,
        ensure_ascii=False,
        default=lambda value: f"<{type(value).__name__}>",
    )


def expanded_body(value: object) -> object:
    """The value of a form field: parsed if it is JSON, otherwise unchanged."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _interaction(interaction: Interaction, root: str) -> dict[str, object]:
    return {
        "id": interaction.id,
        "author": interaction.person,
        "interaction": interaction.verb,
        "text": interaction.text,
        "root": root,
    }


def _message(world: World, where: Where, seen: Seen) -> dict[str, object]:
    shown = seen.shown
    return {
        "id": shown.id,
        "author": seen.author,
        "by_bot": shown.by_bot,
        "text": shown.text,
        "html": shown.html,
        "buttons": [button.label for button in shown.buttons],
        "files": [
            {"name": file.name, "mime": file.mime, "size": len(file.data)} for file in shown.files
        ],
        "reactions": [
            {"emoji": one.emoji, "people": one.people}
            for one in world.interactions.reactions(where.platform, shown.id)
        ],
        "reply_to": shown.reply_to_id,
        "edited": shown.edited,
        "deleted": shown.deleted,
        "private": bool(shown.only_for),
        "root": seen.root,
        "at": shown.at,
    }


def is_here(trace: Trace, where: Where, room: SimRoom, written: Collection[object]) -> bool:
    """True when a decision belongs to a message in this room, or to its conversation."""
    if trace.message_id in written:
        return True
    *_, channel, thread = json.loads(trace.conversation)
    if room.thread_id:
        return bool(thread == room.thread_id)
    return channel == room.id and (not thread or where.platform in THREADS_UNDER_MESSAGES)


def why_skipped(decision: Decision) -> Text:
    """Return the reason why a check was not made, empty if it was made."""
    return SKIPPED.get((decision.stage, decision.reason), NOTHING) if decision.allowed else NOTHING
