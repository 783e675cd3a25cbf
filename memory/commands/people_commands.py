"""What people can tell their memory, on every platform (a `gateway.remembering.CommandSet`)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from gateway.errors import BadInput
from gateway.message import Button, Notice, OutboundFile, Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.remembering import Asker
from memory.commands import documents, link_words, linking, words
from memory.commands.documents import DocumentCommands, SyncProblem
from memory.commands.importing import imported
from memory.commands.kinds import kind_of
from memory.commands.linking import LinkCommands
from memory.commands.questions import ASKED_ELSEWHERE, PREFIX, Question, Questions
from memory.handle import Memory, MemoryHandle
from memory.links import side_of
from memory.people import People
from memory.record import Draft
from memory.store.ports import Filter
from memory.transfer.exporting import personal_file
from memory.turn import BESIDE, DISCARD, KEEP, keep_buttons, notice_of, unformatted
from memory.write.outcome import Outcome, WriteResult

SPECS: Final = (
    CommandSpec("remember", "Remember something for me", True, "what"),
    CommandSpec(
        "memories", "Show what you remember of me", True, "words", True, "words to find, or: review"
    ),
    CommandSpec("forget", "Forget something about me", True, "topic", False, "a topic, or an id"),
    CommandSpec(
        "privacy",
        "What is kept about me: show, export, erase",
        True,
        "what",
        True,
        "export, import, erase, rooms on, or rooms off",
        takes_files=True,
    ),
    CommandSpec(
        "project",
        "Choose which project we talk about",
        True,
        "project",
        True,
        "a number or name, or: none",
    ),
    *documents.SPECS,
    CommandSpec(
        "link",
        "Link my accounts on two platforms, or separate them",
        True,
        "code",
        True,
        "a code, or: off, cancel, confirm ID",
    ),
)
SHOWN: Final = 10
MAX_TOPIC: Final = 500

Command = Callable[[MemoryHandle, Asker, str], Awaitable[Reply]]


class MemoryCommands:
    """One command, one method. Raises `BadInput` with words for the person."""

    specs = SPECS

    def __init__(
        self,
        memory: Memory,
        people: People,
        questions: Questions,
        link_commands: LinkCommands,
        sync_problem: SyncProblem,
        *,
        episodic_days: int,
        episodic: bool = True,
    ) -> None:
        self._memory = memory
        self._people = people
        self._questions = questions
        self._linking = link_commands
        self._documents = DocumentCommands(sync_problem)
        self._days = episodic_days
        self._episodic = episodic
        self._commands: Mapping[str, Command] = {
            "remember": self._remember,
            "memories": self._memories,
            "forget": self._forget,
            "privacy": self._privacy,
            "project": self._project,
            "soul": self._documents.soul,
            "bible": self._documents.bible,
            "link": self._link,
        }

    async def run(self, name: str, arguments: str, asker: Asker) -> Reply:
        """Do what a command says; the answer."""
        handle = await self._memory.for_principal(asker)
        reply = await self._commands[name](handle, asker, arguments.strip())
        told = notice_of(handle)
        noted = "\n\n".join((reply.markdown, *(f"_{line}_" for line in told)))
        return replace(reply, markdown=noted) if told else reply

    def owns(self, value: str) -> bool:
        """True for the value of a button of ours."""
        return value.startswith(PREFIX)

    async def press(self, value: str, asker: Asker) -> Reply:
        """Do what a button stands for."""
        handle = await self._memory.for_principal(asker)
        if value.startswith(KEEP):
            return Reply(kept(await handle.approve(value.removeprefix(KEEP))))
        if value.startswith(BESIDE):
            return Reply(kept(await handle.approve(value.removeprefix(BESIDE), beside=True)))
        if value.startswith(DISCARD):
            await handle.reject(value.removeprefix(DISCARD))
            return Reply("I will not keep it.")
        if value.startswith(linking.PREFIX):
            return await self._linking.press(asker, value)
        answer, _, question_id = value.removeprefix(PREFIX).partition(":")
        question = await self._questions.take(question_id, str(asker.principal.person))
        if question is None:
            return Reply(words.CLOSED)
        return await self._settle(handle, asker, question) if answer == "yes" else Reply(words.LEFT)

    async def _remember(self, handle: MemoryHandle, _asker: Asker, text: str) -> Reply:
        if not text:
            raise BadInput(words.WHAT_TO_REMEMBER)
        result = await handle.remember(Draft(text, kind_of(text)))
        buttons: tuple[Button, ...] = ()
        if result.outcome is Outcome.REVIEW:
            buttons = keep_buttons(result.review_id, replaces=result.replaces)
        return Reply(kept(result), buttons)

    async def _memories(self, handle: MemoryHandle, _asker: Asker, text: str) -> Reply:
        if text.casefold() == "review":
            return await self._review(handle)
        found = await handle.search(Filter(text=text, own_only=True, limit=SHOWN))
        if not found:
            return Reply(words.NOT_FOUND if text else words.NOTHING)
        records = [match.record for match in found]
        total = len(records) if text else await handle.count()
        return Reply(words.listed(records, total))

    async def _review(self, handle: MemoryHandle) -> Reply:
        waiting = await handle.waiting(SHOWN)
        if not waiting:
            return Reply(words.NOTHING_WAITS)
        first = waiting[0]
        buttons = keep_buttons(first.id, replaces=bool(first.record.supersedes))
        return Reply(words.question(first, len(waiting) - 1), buttons)

    async def _forget(self, handle: MemoryHandle, asker: Asker, text: str) -> Reply:
        topic = text[:MAX_TOPIC]
        if not topic:
            raise BadInput(words.WHAT_TO_FORGET)
        records = await handle.about(topic)
        waiting = [pending.record for pending in await handle.waiting_about(topic)]
        if not records and not waiting:
            return Reply("I remember nothing about that.")
        question = Question("forget", str(asker.principal.person), topic)
        count = len(records) + len(waiting)
        buttons = await self._questions.ask(asker.id, question, f"Forget {count}")
        shown = ["Forget this?", words.listed(records[:SHOWN], len(records)) if records else ""]
        if waiting:
            shown += [words.WAITING, words.listed(waiting[:SHOWN], len(waiting))]
        return Reply("\n\n".join(filter(None, shown)), buttons)

    async def _privacy(self, handle: MemoryHandle, asker: Asker, text: str) -> Reply:
        what, _, rest = text.casefold().partition(" ")
        if what == "rooms" and rest in ("on", "off"):
            await self._people.show_private(asker.principal, rest == "on")
            return Reply("In rooms I now use what I know of you." if rest == "on" else
                         "In rooms I now leave out what I know of you.")  # fmt: skip
        if what not in ("", "export", "import", "erase"):
            raise BadInput("Write `/privacy`, `/privacy export`, `/privacy import`, "
                           "`/privacy erase` or `/privacy rooms on`.")  # fmt: skip
        if asker.place.audience is not Audience.DIRECT:
            raise BadInput(words.ONLY_PRIVATE)
        if what == "export":
            data, count = await personal_file(handle)
            file = OutboundFile("my-data.jsonl", "text/plain", data)
            return Reply(f"Here is all I keep about you: {count} entries.", files=(file,))
        if what == "import":
            return await imported(handle, asker, turns=self._episodic)
        if what == "erase":
            return await self._ask_to_erase(handle, asker)
        shows = handle.occasion.shows_private
        return Reply(
            words.PRIVACY.format(
                counts=words.counted(await handle.counts()),
                rooms="do" if shows else "do not",
                other="off" if shows else "on",
                days=self._days,
            )
        )

    async def _project(self, handle: MemoryHandle, asker: Asker, text: str) -> Reply:
        if asker.place.audience is not Audience.DIRECT:
            raise BadInput(words.PROJECT_OF_ROOM)
        if text:
            title = await self._people.choose_project(handle.occasion, text)
            chosen = f"We talk about **{words.one_line(title)}** now." if title else "None, then."
            return Reply(chosen)
        known = await self._people.projects(handle.occasion)
        if not known:
            return Reply(words.NO_PROJECT)
        lines = [
            f"{number}. {words.one_line(title)}{' ← now' * (project == handle.reach.project)}"
            for number, (project, title) in enumerate(known, 1)
        ]
        asked = "\n".join(("Which one? `/project NUMBER`, or `/project none`", "", *lines))
        return Reply("\n\n".join(filter(None, (asked, await self._documents.figures(handle)))))

    async def _link(self, _handle: MemoryHandle, asker: Asker, text: str) -> Reply:
        return await self._linking.run(asker, text)

    async def _ask_to_erase(self, handle: MemoryHandle, asker: Asker) -> Reply:
        question = Question("erase", str(asker.principal.person))
        buttons = await self._questions.ask(asker.id, question, "Erase everything")
        others = link_words.listed(await handle.linked())
        linked = link_words.ERASE_LINKED.format(sides=others) if others else ""
        return Reply(link_words.ERASE_ASKED.format(linked=linked), buttons)

    async def _erase(self, handle: MemoryHandle, asker: Asker) -> Reply:
        """Erase this identity, and ask those that were linked with it about theirs."""
        gone, others = await handle.erase_all(asker.id)
        side = link_words.in_short(side_of(asker))
        text = link_words.ERASED_ELSEWHERE.format(side=side)
        notices = []
        for number, other in enumerate(one.side for one in others):
            if other.place is None:
                continue
            question = Question("erase", other.person)
            id_ = f"{asker.id}-{number}"
            buttons = await self._questions.ask(id_, question, "Erase everything", ASKED_ELSEWHERE)
            notices.append(Notice(other.person, other.place, text, buttons))
        return Reply(f"Everything is erased: {gone} entries.", notices=tuple(notices))

    async def _settle(self, handle: MemoryHandle, asker: Asker, question: Question) -> Reply:
        if question.deed == "forget":
            gone = await handle.forget(question.topic)
            return Reply(f"Forgotten: {gone}." if gone else "There was nothing left of it.")
        if question.deed == "erase":
            surely = Question("erase_surely", question.person)
            buttons = await self._questions.ask(asker.id, surely, "Yes, all of it")
            return Reply(
                "Really erase all memories, conversations and links of this account?", buttons
            )
        return await self._erase(handle, asker)


def kept(result: WriteResult) -> str:
    """What became of something, in words for the person."""
    match result.outcome:
        case Outcome.STORED:
            text = "I will remember that."
        case Outcome.REVIEW:
            asked = "Replace the old memory, or keep both?" if result.replaces else "Keep it?"
            text = f"{result.reason}\n\n{asked}\n\n> {words.one_line(result.content)}"
        case Outcome.BLOCKED if result.code == "duplicate":
            text = words.KNOWN
        case _:
            text = result.reason
    return "\n\n".join((text, *(f"_{unformatted(notice)}_" for notice in result.notices)))
