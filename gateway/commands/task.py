"""`/task`: shows what a conversation is about, sets it, ends it; in a room its members only."""

from typing import Final

from gateway.commands.confirmations import Confirmation
from gateway.exchange import Exchange
from gateway.people import Audience
from gateway.policy.response_filter import filter_response
from gateway.ports.conversation_notes import MAX_TASK, ConversationTask
from gateway.services import Services
from gateway.turn.context.task import NO_TASK, may_set_task, prepared_task, reads_like_instructions
from gateway.turn.prompt import who_set

NONE: Final = (
    "No task is set here. To set one, write after the command what this conversation is about: "
    "`/task plan the trip`."
)
ENDED: Final = "Done: no task is set here any more."
NOT_YOURS: Final = (
    "Only members may set or end the task of a channel or group, and your role with me is guest. "
    "Ask a member, or set a task of your own in a direct message with me."
)
INSTRUCTIONS: Final = (
    "That reads like instructions to me, and everybody here would get answers that follow them. "
    "Describe in other words what this conversation is about."
)
READ_BY_ALL: Final = (
    "That may hold a password or a key, and everybody here would read it. Nothing is set. Describe "
    "the task without it, or set it in a direct message with me."
)
TOO_LONG: Final = "A task has at most {most} characters. Nothing is set; write a shorter one."


async def answered(exchange: Exchange, arguments: str, services: Services) -> str:
    """Do what `/task` says; the answer, in Markdown."""
    notes, now = services.stores.notes, services.clock.now()
    wanted = arguments.strip()
    if not wanted:
        _, kept = await services.stores.conversations.opened(exchange.key, 1)
        return shown(kept.task) if kept.task else NONE
    in_room = exchange.place.audience is not Audience.DIRECT
    if not may_set_task(exchange.who, exchange.place.audience):
        return NOT_YOURS
    if wanted.lower() in NO_TASK:
        await notes.set_task(exchange.key, None, now)
        return ENDED
    if len(wanted) > MAX_TASK:
        return TOO_LONG.format(most=f"{MAX_TASK:,}")
    task = ConversationTask(
        prepared_task(wanted), str(exchange.who.person), exchange.last.author.name
    )
    if not task.text:
        return NONE
    if in_room and (reads_like_instructions(wanted) or reads_like_instructions(task.text)):
        return INSTRUCTIONS
    if filter_response(task.text, exchange.place.audience).blocked:
        return READ_BY_ALL
    await notes.set_task(exchange.key, task, now)
    return shown(task)


async def confirmed(asked: Confirmation, services: Services) -> str:
    """Set the task that the model noted and its person confirmed; the answer, in Markdown."""
    task = ConversationTask(asked.text, asked.person, asked.name, asked.message_id)
    await services.stores.notes.set_task(asked.key, task, services.clock.now())
    return shown(task)


def shown(task: ConversationTask) -> str:
    """The task, with who set it."""
    by = who_set(task)
    quoted = "\n".join(f"> {line}" for line in task.text.splitlines())
    set_by = f" (set by {by})" if by else ""
    return f"The task here{set_by}:\n\n{quoted}\n\n`/task end` ends it."
