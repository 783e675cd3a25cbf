"""What the page shows, as JSON: rooms, messages, decisions, requests."""

import json
from collections.abc import Collection, Mapping
from typing import Final

from gateway.ports.traces import Trace
from parley.demo.world import PEOPLE, THREADS_UNDER_MESSAGES, TITLES, Seen, Where, World
from simulators.base import ApiCall, SimRoom

MAX_CALLS: Final = 25
MAX_BODY: Final = 6_000
"""Characters of one request's body that the page shows."""
BACKGROUND: Final = ("getUpdates", "getMe", "apps.connections.open", "auth.test")
"""Requests that happen all the time and say nothing about a message."""


def world_view(world: World, assistant: str, model: str) -> dict[str, object]:
    """Everything that the page needs once."""
    return {
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


def room_view(world: World, where: Where, traces: list[Trace]) -> dict[str, object]:
    """A room as one person sees it, with the platform's decisions and requests beside it."""
    messages = [_message(seen) for seen in world.seen(where)]
    written = {message["id"] for message in messages}
    room = world.room(where)
    return {
        "messages": messages,
        "traces": [
            {**trace_view(trace), "here": is_here(trace, where, room, written)}
            for trace in traces
            if trace.platform == where.platform
        ],
        "calls": [call_view(call) for call in latest_calls(world, where.platform)],
    }


def latest_calls(world: World, platform: str) -> list[ApiCall]:
    """The last requests of the client library, newest first, without the background's."""
    calls = world.simulator(platform).calls
    telling = [call for call in reversed(calls) if call.method not in BACKGROUND]
    return telling[:MAX_CALLS]


def trace_view(trace: Trace) -> dict[str, object]:
    """A trace as the page reads it."""
    return {
        "id": trace.id,
        "message_id": trace.message_id,
        "kind": trace.kind,
        "at": trace.at.isoformat(),
        "outcome": trace.outcome,
        "milliseconds": round(trace.milliseconds, 1),
        "decisions": [
            {"stage": d.stage, "allowed": d.allowed, "reason": d.reason, "detail": d.detail}
            for d in trace.decisions
        ],
    }


def call_view(call: ApiCall) -> dict[str, object]:
    """A request as the page reads it."""
    return {
        "method": call.method,
        "status": call.status,
        "at": call.at,
        "body": readable_body(call.body)[:MAX_BODY],
    }


def readable_body(body: Mapping[str, object]) -> str:
    """A request's body as JSON; JSON inside of form fields is unfolded."""
    return json.dumps(
        {key: expanded_body(value) for key, value in body.items()},
        indent=2,
        ensure_ascii=False,
        default=lambda value: f"<{type(value).__name__}>",
    )


def expanded_body(value: object) -> object:
    """What a form field holds: the value behind its JSON, or the field itself."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _message(seen: Seen) -> dict[str, object]:
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
        "reply_to": shown.reply_to_id,
        "edited": shown.edited,
        "deleted": shown.deleted,
        "private": bool(shown.only_for),
        "root": seen.root,
    }


def is_here(trace: Trace, where: Where, room: SimRoom, written: Collection[object]) -> bool:
    """Whether a decision belongs to this room: to a message in it, or to its conversation."""
    if trace.message_id in written:
        return True
    *_, channel, thread = json.loads(trace.conversation)
    if room.thread_id:
        return bool(thread == room.thread_id)
    return channel == room.id and (not thread or where.platform in THREADS_UNDER_MESSAGES)
