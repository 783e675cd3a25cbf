"""The memory backend: statements as Markdown files, one folder for each tenant and person."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

from gateway.immutable import replace
from gateway.ports.memory_backend import BackendAccess, FoundStatement, Statement
from parley_memory_markdown.files import File, Files
from parley_memory_markdown.names import file_id, file_name
from parley_memory_markdown.notes import Note, Owner, read_note, statement_of, written
from parley_memory_markdown.search import links_of, name_of, scored, with_links, words_of

BEHAVIORAL: Final = ("preference", "instruction", "correction")
LISTED_SECONDS: Final = 5.0
"""The time in which further pages continue the list of the first page."""
MAX_LISTS: Final = 8
MAX_CACHED: Final = 5_000
"""Files whose statements are cached."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored:
    """A statement and its file. `words` are those of its text and its tags, `links` the names that
    it links to, `names` those by which links reach it: its file, with and without the id, its first
    heading, and its id."""

    statement: Statement
    note: Note
    file: File
    words: frozenset[str]
    links: tuple[str, ...]
    names: tuple[str, ...]


@lru_cache(MAX_CACHED)
def stored_in(file: File) -> Stored:
    """Return the statement of a file. One that did not change is the same `File`."""
    note = read_note(file.text)
    statement = statement_of(note, file.owner, file_id(file.name), file.changed)
    words = frozenset(words_of(" ".join((statement.text, *statement.tags))))
    stem = file.name.removesuffix(".md")
    heading = next((line for line in note.body.splitlines() if line.startswith("# ")), "")
    names = (stem, stem.partition("--")[0], heading.removeprefix("# "), statement.id)
    return Stored(
        statement,
        note,
        file,
        words,
        tuple(links_of(note.body)),
        tuple(name_of(name) for name in names if name),
    )


class MarkdownMemory:
    """Implements `gateway.ports.memory_backend.MemoryBackend`, with a search of its own. The files
    are read for every call, so an edit is seen at the next one; only the further pages of a list
    continue what its first page read.

    One thread does all work: several at once would hold up the event loop for longer.
    """

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder.expanduser().absolute())
        self._worker = ThreadPoolExecutor(1, "parley-markdown")
        self._lists: OrderedDict[BackendAccess, tuple[float, list[Statement]]] = OrderedDict()

    async def start(self) -> None:
        await self._in_thread(self._files.prepare)

    async def health(self) -> str:
        await self._in_thread(self._files.prepare)
        return f"Markdown files in {self._files.root}"

    async def close(self) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)

    # --- reading --------------------------------------------------------------------------------

    async def list_statements(
        self, access: BackendAccess, after: Statement | None, limit: int
    ) -> Sequence[Statement]:
        return await self._in_thread(lambda: self._listed(access, after, limit))

    def _listed(
        self, access: BackendAccess, after: Statement | None, limit: int
    ) -> list[Statement]:
        began, seen = self._lists.get(access, (0.0, []))
        if after is None or time.monotonic() - began > LISTED_SECONDS:
            began, seen = time.monotonic(), [one.statement for one in self._visible(access)]
            seen.sort(key=lambda one: one.order, reverse=True)
            self._lists[access] = began, seen
            self._lists.move_to_end(access)
            while len(self._lists) > MAX_LISTS:
                self._lists.popitem(last=False)
        page = [one for one in seen if after is None or one.order < after.order][:limit]
        if len(page) < limit:
            self._lists.pop(access, None)
        return page

    async def recall(
        self, access: BackendAccess, question: str, limit: int
    ) -> Sequence[FoundStatement]:
        return await self._in_thread(lambda: self._recalled(access, question, limit))

    def _recalled(self, access: BackendAccess, question: str, limit: int) -> list[FoundStatement]:
        current = {
            one.statement.id: one for one in self._visible(access) if not one.statement.replaced_by
        }
        scores = scored(question, {id_: one.words for id_, one in current.items()})
        targets = {name: id_ for id_, one in current.items() for name in one.names}
        links = {
            id_: [targets[name] for name in current[id_].links if name in targets] for id_ in scores
        }
        scores = with_links(scores, links)
        best = sorted(scores, key=lambda id_: -scores[id_])[:limit]
        return [FoundStatement(current[id_].statement, scores[id_]) for id_ in best]

    def _visible(self, access: BackendAccess) -> list[Stored]:
        owners = [Owner(access.tenant, "user", person) for person in sorted(set(access.persons))]
        if access.project:
            owners.append(Owner(access.tenant, "project", access.project))
        owners.append(Owner(access.tenant, "global", "all"))
        stored = [one for owner in owners for one in self._stored(owner)]
        return [one for one in stored if one.statement.text and access.sees(one.statement)]

    def _stored(self, owner: Owner, id_: str = "") -> list[Stored]:
        """Return the statements of a folder, with an `id_` only those that may have it. Of two
        files with one id, such as a copy, the second gets an id of its own."""
        stored: list[Stored] = []
        ids: set[str] = set()
        for file in self._files.read(owner):
            if id_ not in file.text and id_ != file_id(file.name):
                continue
            one = stored_in(file)
            if one.statement.id in ids:
                own_id = file_id(file.name)
                names = (*one.names, name_of(own_id))
                one = replace(one, statement=replace(one.statement, id=own_id), names=names)
            ids.add(one.statement.id)
            stored.append(one)
        return stored

    # --- writing --------------------------------------------------------------------------------

    async def remember(self, access: BackendAccess, statement: Statement) -> None:
        if not access.may_change(statement):
            raise PermissionError(f"{statement.id} belongs to somebody else")
        await self._changed(lambda: self._remember(statement))

    def _remember(self, statement: Statement) -> None:
        owner = _owner_of(statement)
        stored = self._stored(owner, statement.id)
        known = [one for one in stored if one.statement.id == statement.id]
        name = known[0].file.name if known else file_name(statement.text, statement.id)
        others = known[0].note.others if known else ()
        self._files.write(owner, name, written(statement, others))

    async def forget(self, access: BackendAccess, ids: Sequence[str]) -> Sequence[str]:
        return await self._changed(lambda: self._forget(access, frozenset(ids)))

    def _forget(self, access: BackendAccess, ids: frozenset[str]) -> list[str]:
        return [
            one.statement.id
            for one in self._visible(replace(access, private=True))
            if one.statement.id in ids
            and access.may_change(one.statement)
            and self._files.delete(one.file.owner, one.file.name)
        ]

    async def forget_messages(
        self, tenant: str, channel: str, message_ids: Sequence[str]
    ) -> Sequence[Statement]:
        messages = frozenset(message_ids)
        return await self._changed(lambda: self._forget_messages(tenant, channel, messages))

    def _forget_messages(
        self, tenant: str, channel: str, messages: frozenset[str]
    ) -> list[Statement]:
        return [
            one.statement
            for owner in self._files.owners(tenant, "user", "project", "global")
            for one in self._stored(owner)
            if one.statement.channel == channel
            and not one.statement.confirmed
            and messages.intersection(one.statement.messages)
            and self._files.delete(owner, one.file.name)
        ]

    # --- everything of a person -----------------------------------------------------------------

    async def export(self, tenant: str, persons: Sequence[str]) -> Sequence[Mapping[str, object]]:
        return await self._in_thread(lambda: self._exported(tenant, persons))

    def _exported(self, tenant: str, persons: Sequence[str]) -> list[Mapping[str, object]]:
        return [
            {"person": one.statement.person, "file": one.file.name, "text": one.file.text}
            for one in self._of(tenant, persons)
        ]

    async def erase(self, tenant: str, persons: Sequence[str]) -> int:
        return await self._changed(lambda: self._erase(tenant, persons))

    def _erase(self, tenant: str, persons: Sequence[str]) -> int:
        theirs = self._of(tenant, persons)
        for one in theirs:
            if one.statement.scope != "user":
                nameless = replace(
                    one.statement, person="", room="", channel="", messages=(), details={}
                )
                text = written(nameless, one.note.others)
                self._files.write(one.file.owner, one.file.name, text)
        for person in persons:
            self._files.erase(Owner(tenant, "user", person))
        return len(theirs)

    def _of(self, tenant: str, persons: Sequence[str]) -> list[Stored]:
        """Return what these people own, and what they said for others."""
        own = [Owner(tenant, "user", person) for person in persons]
        shared = self._files.owners(tenant, "project", "global")
        stored = [one for owner in (*own, *shared) for one in self._stored(owner)]
        return [one for one in stored if one.statement.person in persons]

    async def _changed(self, work: Callable[[], T]) -> T:
        """Do work that changes files. It ends even if the call is given up while it runs."""

        def change() -> T:
            self._lists.clear()
            return work()

        return await self._in_thread(change)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)


class BriefingMarkdownMemory(MarkdownMemory):
    """A Markdown memory that writes the brief by itself: the file `brief` of a person if there is
    one, or else their preferences and newest facts."""

    async def brief(self, access: BackendAccess, characters: int) -> str:
        stored = await self._in_thread(lambda: self._visible(access))
        own = [one for one in stored if one.file.name == "brief.md"]
        if own:
            return own[0].note.body[:characters]
        current = [one.statement for one in stored if not one.statement.replaced_by]
        current.sort(key=lambda one: (one.kind in BEHAVIORAL, *one.order), reverse=True)
        lines: list[str] = []
        for one in current:
            line = f"- [{one.kind}] {' '.join(one.text.split())} ({one.at.date()})"
            if sum(map(len, lines)) + len(lines) + len(line) > characters:
                break
            lines.append(line)
        return "\n".join(lines)


def _owner_of(statement: Statement) -> Owner:
    ids = {"user": statement.person, "project": statement.project, "global": "all"}
    return Owner(statement.tenant, statement.scope, ids[statement.scope])
