"""The commands about memory (a `gateway.ports.memory.CommandSet`)."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from gateway.authorship import Authorship
from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.message import Choice, OutboundFile, Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from gateway.text import counted, described, label, text
from memory.commands import documents, handoffs, invitations, link, link_texts, texts
from memory.commands import memories as browsing
from memory.commands.agents import SPEC as AGENTS_SPEC
from memory.commands.agents import AgentCommands
from memory.commands.documents import DocumentCommands, SyncProblem
from memory.commands.forget import ForgetCommands, means_everything
from memory.commands.handoffs import HandoffCommands
from memory.commands.link import LinkCommands
from memory.commands.memories import MemoryLists
from memory.commands.open_questions import (
    PREFIX,
    VALID_FOR,
    OpenQuestion,
    Questions,
    answered_in,
)
from memory.commands.privacy import YES, Erasure, chosen, has_approval, imported
from memory.commands.project import ProjectCommands
from memory.knowledge.access import KnowledgeReader
from memory.knowledge.bindings import RoomBindings
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Draft, Kind
from memory.model.scope import channel_of
from memory.service.handle import Memory, MemoryHandle
from memory.service.people import People
from memory.text.display import italic, paragraphs
from memory.text.references import is_only_reference
from memory.transfer.exporter import personal_file
from memory.turns.footer import (
    RESTORE,
    TRUE,
    UNDO,
    deliver_notices,
    entries_at,
    keep_buttons,
    request_notice,
    restore_buttons,
)
from memory.write.statement import ExternalText

_REPLIED: Final[frozenset[Authorship]] = frozenset(("quoted", "your_answer", "forwarded"))
"""What `/remember that` means, if the person did not write it."""
_THAT: Final = re.compile(
    r"that\s+(?=(?:i|we|my|our|you|your|he|she|it|they|his|her|its|their)\b)", re.IGNORECASE
)
"""The word before a statement: without it, the memory is a complete sentence."""
SPECS: Final = (
    CommandSpec(
        "remember",
        described("Tell me something to remember"),
        True,
        "what",
        allowed=IN_CHAT,
        help_group="memory",
    ),
    CommandSpec(
        "memories",
        described("Show what I learned about you"),
        True,
        "words",
        True,
        described("words to find, or: chat, review"),
        allowed=IN_CHAT,
        help_group="memory",
    ),
    CommandSpec(
        "forget",
        described("Delete something that I learned about you"),
        True,
        "topic",
        False,
        described("a topic, or an id"),
        deletes=True,
        allowed=IN_CHAT,
        help_group="memory",
    ),
    CommandSpec(
        "privacy",
        described("Show, export or erase what I store about you"),
        True,
        "what",
        True,
        described("export, import, erase; or memory, notes, rooms with on or off"),
        takes_files=True,
        deletes=True,
        allowed=IN_CHAT,
        help_group="memory",
    ),
    browsing.UNDO_SPEC,
    CommandSpec(
        "project",
        described("Choose which project we talk about"),
        True,
        "project",
        True,
        described("a number or name, or: none; in a channel: bind PROJECT, unbind"),
        allowed=IN_CHAT,
    ),
    *documents.SPECS,
    CommandSpec(
        "link",
        described("Link your accounts on two platforms, or separate them"),
        True,
        "code",
        True,
        described("a code, or: off, cancel, confirm ID"),
        allowed=IN_CHAT,
    ),
    *handoffs.SPECS,
    AGENTS_SPEC,
)

EXPORTED: Final = counted(
    "Here is everything I store about you: {count} entry.",
    "Here is everything I store about you: {count} entries.",
)
REALLY_ERASE: Final = text("Really erase all memories, conversations and links of this account?")
ALL_OF_IT: Final = label("Yes, all of it")

Command = Callable[[MemoryHandle, Caller, str], Awaitable[Reply]]


class MemoryCommands:
    """One command, one method. Raises `BadInput` with words for the person."""

    specs = SPECS

    def __init__(
        self,
        memory: Memory,
        people: People,
        questions: Questions,
        link_commands: LinkCommands,
        handoff_commands: HandoffCommands,
        agent_commands: AgentCommands,
        sync_problem: SyncProblem,
        bindings: RoomBindings,
        repositories: KnowledgeReader | None = None,
        *,
        episodic_days: int,
        notes: bool = True,
        episodic: bool = True,
    ) -> None:
        """`notes`: show notes to people who made no choice."""
        self._memory = memory
        self._people = people
        self._questions = questions
        self._linking = link_commands
        self._handing = handoff_commands
        self._agents = agent_commands
        self._erasure = Erasure(questions)
        self._lists = MemoryLists(questions)
        self._forgetting = ForgetCommands(questions)
        self._documents = DocumentCommands(sync_problem, questions)
        self._projects = ProjectCommands(people, bindings, repositories, self._documents.figures)
        self._days = episodic_days
        self._notes = notes
        self._episodic = episodic
        self._commands: Mapping[str, Command] = {
            "remember": self._remember,
            "memories": self._memories,
            "forget": self._forget,
            "privacy": self._privacy,
            "undo": self._undo,
            "project": self._projects.run,
            "soul": self._documents.soul,
            "bible": self._documents.bible,
            "link": lambda _, caller, text: self._linking.run(caller, text),
            "handoff": lambda handle, caller, text: self._handing.run(handle.request, caller, text),
            "handoffs": lambda handle, caller, _: self._handing.listed(handle.request, caller),
            "agents": lambda handle, caller, text: self._agents.run(handle.request, caller, text),
        }

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        """Run a command and return the answer."""
        handle = await self._memory.for_principal(caller)
        reply = await self._commands[name](handle, caller, arguments.strip())
        direct = caller.place.audience is Audience.DIRECT
        notices = (*request_notice(handle), *(await deliver_notices(handle) if direct else ()))
        noted = paragraphs(reply.markdown, *map(italic, notices))
        return replace(reply, markdown=noted) if notices else reply

    def owns(self, value: str) -> bool:
        """Return True for the value of a button of memory."""
        return value.startswith(PREFIX)

    async def press(self, value: str, caller: Caller) -> Reply:
        """Run the action of a button and return the answer."""
        handle = await self._memory.for_principal(caller)
        if value.startswith(UNDO):
            return await browsing.undone(handle, caller, value.removeprefix(UNDO))
        if value.startswith(RESTORE):
            return await browsing.restored(handle, value.removeprefix(RESTORE))
        if value.startswith(tuple(TRUE.values())):
            return await browsing.settled(handle, value)
        if value.startswith(browsing.DECISIONS):
            return await browsing.decide(handle, caller, value)
        if value.startswith(browsing.PREFIX):
            return await self._lists.press(handle, caller, value)
        if value.startswith(link.PREFIX):
            return await self._linking.press(caller, value)
        if value.startswith(handoffs.PREFIX):
            return await self._handing.press(handle.request, caller, value)
        if value.startswith(invitations.PREFIX):
            return await self._agents.press(handle.request, caller, value)
        if self._forgetting.owns(value):
            return await self._forgetting.turn(handle, caller, value)
        return await self._answer(handle, caller, value)

    async def _answer(self, handle: MemoryHandle, caller: Caller, value: str) -> Reply:
        """Answer an open question with yes or no."""
        answer, _, question_id = value.removeprefix(PREFIX).partition(":")
        person, channel = str(caller.principal.person), answered_in(caller.place)
        open_question = await self._questions.find(question_id, caller.id)
        if open_question is not None and not open_question.is_of(person, channel):
            return Reply(texts.NOT_ASKED, leaves_buttons=True)
        question = await self._questions.take(question_id, person, caller.id, channel)
        if question is None:
            return Reply(texts.CLOSED)
        if answer != "yes":
            return await self._forgetting.leave(question_id, question)
        if question.action == "forget":
            return await self._forgetting.settle(handle, caller, question_id, question)
        if self._agents.owns(question):
            return await self._agents.settle(handle.request, question)
        return await self._settle(handle, caller, question)

    async def _remember(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        statement = text[at.end() :] if (at := _THAT.match(text)) else text
        if is_only_reference(text):
            result = await _remember_shown(handle, caller)
        else:
            result = await handle.write.remember(Draft(statement, kind_of(statement)))
        if not caller.alone:
            return await _kept_quietly(handle, result)
        buttons: tuple[Choice, ...] = ()
        if result.outcome is Outcome.REVIEW and not result.for_operators:
            buttons = keep_buttons(result.review_id, replaces=result.replaces)
        planned = texts.planned(await handle.read.plan_use())
        if result.outcome is not Outcome.STORED:
            return Reply(browsing.kept(result), buttons)
        replaced = (result.replaced_id,) if result.replaced_id else ()
        said = browsing.noted_below(browsing.kept(result), planned)
        return Reply(said, restore_buttons(replaced))

    async def _forget(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        if not means_everything(text):
            return await self._forgetting.ask(handle, caller, text)
        asked = await self._ask_to_erase(handle, caller)
        return replace(asked, markdown=paragraphs(asked.markdown, texts.ONLY_A_TOPIC))

    async def _memories(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        if text.casefold() == "review":
            return await browsing.review(handle, caller)
        return await self._lists.first(handle, caller, text)

    async def _undo(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        """Undo what is named, or the latest turn; a repetition of the command undoes no other."""
        if text:
            return await browsing.undone(handle, caller, text)
        chosen_before = await self._questions.target_of(caller.id)
        target = chosen_before or await handle.write.latest_undoable()
        if target and not chosen_before:
            await self._questions.keep_target(caller.id, str(caller.principal.person), target)
        try:
            return await browsing.undone(handle, caller, target)
        except NotFound:
            if not chosen_before:
                raise
            return Reply(browsing.TAKEN_BACK)

    async def _privacy(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        what, _, rest = text.casefold().partition(" ")
        choice = await chosen(
            self._people, caller, what, rest.strip(), off_everywhere=handle.choices.memory_off
        )
        if choice is not None:
            return choice
        if what not in ("", "export", "import", "erase"):
            raise BadInput(texts.PRIVACY_USAGE)
        if caller.place.audience is not Audience.DIRECT:
            raise BadInput(texts.ONLY_PRIVATE)
        if what == "export":
            data, count = await personal_file(handle)
            file = OutboundFile("my-data.jsonl", "text/plain", data)
            return Reply(EXPORTED.of(count=count), files=(file,))
        if what == "import":
            return await imported(handle, caller, turns=self._episodic)
        if what == "erase":
            return await self._ask_to_erase(handle, caller)
        notes = self._notes if handle.choices.notes is None else handle.choices.notes
        return Reply(
            texts.privacy(
                handle.choices,
                texts.stored_rows(await handle.privacy.counts()),
                texts.planned(await handle.read.plan_use()),
                self._days,
                rooms=handle.request.shows_private,
                notes=notes,
            )
        )

    async def _ask_to_erase(self, handle: MemoryHandle, caller: Caller) -> Reply:
        person, channel = str(caller.principal.person), channel_of(caller.place)
        question = OpenQuestion("erase", person, channel=channel)
        buttons = await self._questions.ask(caller.id, question, YES)
        approved = await has_approval(handle)
        asked = link_texts.erase_asked(await handle.privacy.linked(), approved=approved)
        return Reply(asked, buttons, buttons_until=caller.at + VALID_FOR)

    async def _settle(self, handle: MemoryHandle, caller: Caller, question: OpenQuestion) -> Reply:
        if question.action == "erase":
            surely = OpenQuestion("erase_surely", question.person, channel=question.channel)
            buttons = await self._questions.ask(caller.id, surely, ALL_OF_IT)
            return Reply(REALLY_ERASE, buttons, buttons_until=caller.at + VALID_FOR)
        return (await self._erasure.run(handle, caller)).reply


async def _remember_shown(handle: MemoryHandle, caller: Caller) -> WriteResult:
    """Store the person's own message to which a command without a statement replies; ask about the
    text of another author. Raises `BadInput` without such a message."""
    if caller.replied.strip():
        return await handle.write.remember(Draft(caller.replied, kind_of(caller.replied)))
    shown = next((one for one in reversed(caller.material) if one.authorship in _REPLIED), None)
    if shown is None:
        raise BadInput(texts.WHAT_TO_REMEMBER)
    external = ExternalText((shown,))
    external.any = True
    return await handle.write.infer(Draft(shown.text, Kind.FACT), external)


async def _kept_quietly(handle: MemoryHandle, result: WriteResult) -> Reply:
    """Return the outcome for a place where others read it: a question that quotes memory waits for
    the person's next direct message."""
    waits = result.outcome is Outcome.REVIEW and not result.for_operators
    deferred = [
        result.memory_id if result.replacement_notice else "",
        result.review_id if waits else "",
    ]
    entries = entries_at(handle.request.at, [one for one in deferred if one])
    if entries:
        await handle.privacy.defer_notices(entries)
    if waits:
        return Reply(texts.ASKED_ALONE)
    notices = tuple(one for one in result.notices if one != result.replacement_notice)
    return Reply(browsing.kept(replace(result, notices=notices)))


_FORMS: Final[tuple[tuple[Kind, str], ...]] = (
    (Kind.CORRECTION, r"\b(?:actually|correction|not .{1,40} but|no longer|instead of)\b"),
    (Kind.DECISION, r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|settled)\b|\bdecision\b"),
    (
        Kind.PREFERENCE,
        r"\b(?:prefer|favou?rite|i (?:really )?(?:like|love|hate|dislike)|rather than)",
    ),
    (Kind.INSTRUCTION, r"^(?:please )?(?:always|never|don't|do not|call me|answer|use|write)\b"),
)


def kind_of(text: str) -> Kind:
    """The first kind whose words occur; a fact otherwise."""
    plain = text.strip().lower().replace("’", "'")
    for kind, form in _FORMS:
        if re.search(form, plain):
            return kind
    return Kind.FACT
