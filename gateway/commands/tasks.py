"""`/task`: shows what a conversation is about, sets it, ends it."""

from typing import Final

from gateway.context.task import NO_TASK, prepared_task
from gateway.exchange import Exchange
from gateway.notes import MAX_TASK, SetTask
from gateway.services import Services
from gateway.turn.prompt import clean_name

NONE: Final = "No task is set here. `/task` and what it is about sets one."
ENDED: Final = "Done: no task is set here any more."
TOO_LONG: Final = "That is longer than {most} characters. Put what matters most into fewer."


async def answered(exchange: Exchange, arguments: str, services: Services) -> str:
    """Do what `/task` says; the answer, in Markdown."""
    notes, now = services.stores.notes, services.clock.now()
    wanted = arguments.strip()
    if not wanted:
        _, kept = await services.stores.conversations.opened(exchange.key, 1)
        return shown(kept.task) if kept.task else NONE
    if wanted.lower() in NO_TASK:
        await notes.set_task(exchange.key, None, now)
        return ENDED
    if len(wanted) > MAX_TASK:
        return TOO_LONG.format(most=f"{MAX_TASK:,}")
    task = SetTask(prepared_task(wanted), str(exchange.who.person), exchange.last.author.name)
    if not task.text:
        return NONE
    await notes.set_task(exchange.key, task, now)
    return shown(task)


def shown(task: SetTask) -> str:
    """The task, with who set it."""
    by = clean_name(task.name)
    quoted = "\n".join(f"> {line}" for line in task.text.splitlines())
    set_by = f" (set by {by})" if by else ""
    return f"The task here{set_by}:\n\n{quoted}\n\n`/task clear` ends it."
