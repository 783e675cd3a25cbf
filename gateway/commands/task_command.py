"""`/task`: shows, sets or ends the task of a conversation; in a room for members only."""

from typing import Final

from gateway.commands.confirmations import Confirmation
from gateway.people import Audience
from gateway.policy.response_filter import filter_response
from gateway.ports.conversations import MAX_TASK, ConversationTask
from gateway.turn.context.task import NO_TASK, may_set_task, prepared_task, reads_like_instructions
from gateway.turn.prompt import who_set
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

NONE: Final = (
    "No task is set here. To set one, write the topic of this conversation after the command: "
    "`/task plan the trip`."
)
ENDED: Final = "Done: this conversation has no task."
TASK_NOT_YOURS: Final = (
    "Only members may set or end the task of a channel or group, and your role is guest. Ask a "
    "member, or set a task of your own in a direct message with me."
)
INSTRUCTIONS: Final = (
    "That reads like instructions to me, and they would affect my answers to everybody here. "
    "Describe the topic of this conversation in other words."
)
READ_BY_ALL: Final = (
    "That may contain a password or a key, and everybody here would read it. The task is not set. "
    "Describe it without the secret, or set it in a direct message with me."
)
TOO_LONG: Final = "A task has at most {most} characters. The task is not set; write a shorter one."


async def run_task(turn: TurnContext, arguments: str, services: Services) -> str:
    """Run `/task`; returns the answer in Markdown."""
    notes, now = services.stores.notes, services.clock.now()
    text = arguments.strip()
    if not text:
        _, kept = await services.stores.conversations.opened(turn.key, 1)
        return shown(kept.task) if kept.task else NONE
    in_room = turn.place.audience is not Audience.DIRECT
    if not may_set_task(turn.who, turn.place.audience):
        return TASK_NOT_YOURS
    if text.lower() in NO_TASK:
        await notes.set_task(turn.key, None, now)
        return ENDED
    if len(text) > MAX_TASK:
        return TOO_LONG.format(most=f"{MAX_TASK:,}")
    task = ConversationTask(prepared_task(text), str(turn.who.person), turn.last.author.name)
    if not task.text:
        return NONE
    if in_room and (reads_like_instructions(text) or reads_like_instructions(task.text)):
        return INSTRUCTIONS
    if filter_response(task.text, turn.place.audience).blocked:
        return READ_BY_ALL
    await notes.set_task(turn.key, task, now)
    return shown(task)


async def set_confirmed_task(confirmation: Confirmation, services: Services) -> str:
    """Set the task that the model proposed and the person confirmed; returns the answer in
    Markdown."""
    task = ConversationTask(
        confirmation.text, confirmation.person, confirmation.name, confirmation.message_id
    )
    await services.stores.notes.set_task(confirmation.key, task, services.clock.now())
    return shown(task)


def shown(task: ConversationTask) -> str:
    """Return the task and the person who set it, if the platform gives a name."""
    by = who_set(task) if task.name else ""
    quoted = "\n".join(f"> {line}" for line in task.text.splitlines())
    set_by = f" (set by {by})" if by else ""
    return f"The task here{set_by}:\n\n{quoted}\n\n`/task end` ends it."
