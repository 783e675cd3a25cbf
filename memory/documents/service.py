"""The documents: SOUL of a person, BIBLE and HEARTBEAT of a project.

A person writes their SOUL, an operator the BIBLE, the program the HEARTBEAT. The model writes on
behalf of its person, with that person's rights. Every version is stored, so that an earlier one can
be restored.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from gateway.errors import BadInput, NotFound
from gateway.ports import Clock, SpaceDescription
from gateway.text import NO_TEXT, Sentence, Text, text, verbatim
from memory.documents.lines import MAX_DROPPED, dropped_lines, drops_much
from memory.model.record import (
    CONFIDENCE,
    MAX_DOCUMENT,
    UNDO_FOR,
    Evidence,
    InputKind,
    Kind,
    Provenance,
    Record,
    Scope,
    Tier,
    derive_trust,
    new_id,
)
from memory.model.scope import (
    NO_PROJECT,
    AccessScope,
    RequestScope,
    channel_of,
    system_access_scope,
)
from memory.ports.documents import Document, Version
from memory.stores.audit import Audit
from memory.stores.documents import DocumentStore
from memory.stores.reviews import ReviewItem, ReviewStore
from memory.text.proposals import same_before
from memory.write.prepare import NOTHING_LEFT, REDACTED, sanitize_brain_content
from safety.injection_detection.detect import detect_injection
from safety.sanitize import sanitize
from safety.secret_detection.detect import Redaction, redact_secrets
from safety.secret_detection.kinds import Level
from safety.unicode import safe_unicode

SYSTEM: Final = "system"
MAX_VERSIONS: Final = 200
MAX_GIVEN: Final = 100_000
"""Characters that are read; `MAX_DOCUMENT` of them are stored."""
NO_HEARTBEAT: Final = "(No figures yet: ask an operator to sync this project.)"
NOT_DESCRIBED: Final = (
    "No operator has written about it yet. An operator can write what the project is, who it is "
    "for, and what matters in it."
)
STALE_AFTER: Final = timedelta(days=7)
OLD_FIGURES: Final = "(These figures are old: ask an operator to sync this project.)"
FROM_REPOSITORY: Final = text(
    "The document stays as it is: a client may have read a repository that not everybody may read, "
    "and rooms use documents. The person changes it in a chat."
)
DOUBTFUL: Final = text("It contains what may be a password or a key. Please check it.")

ONLY_OPERATORS: Final = text("Only operators can change it.")
INSTRUCTION: Final = text("It reads like an instruction to me.")
AFTER_OTHERS: Final = text("I wrote it after I read text from somebody else.")
LOSES: Final = text("It removes more than a few lines.")
SHORTENED: Final = text("I shortened it to {limit} characters.")
NEARLY_FULL_WARNING: Final = text(
    "It has {size} of {most} characters. Text beyond this limit is cut off: shorten it before you "
    "add to it."
)
REJECTED_LATELY: Final = text(
    "The document stays as it is: this change was rejected within the last 90 days. Only the "
    "person's own words can make it."
)
QUEUE_FULL: Final = text(
    "Too many proposals wait for a decision. Decide some of them first: `/memories review`."
)
TOO_LONG: Final = text("This is longer than {most} characters.")
ASK_PRIVATELY: Final = text("Your preferences are private: ask for them in a direct message.")
CHANGE_PRIVATELY: Final = text("Your preferences are private: change them in a direct message.")
NOT_EDITED: Final = text("The status cannot be edited: it is fetched from its source.")
NO_VERSION: Final[Mapping[str, Sentence]] = {
    "soul": text("There is no version {number} of the preferences."),
    "bible": text("There is no version {number} of the project notes."),
    "heartbeat": text("There is no version {number} of the status."),
}
NOT_HERE: Final[Mapping[str, Sentence]] = {
    "soul": text("The preferences cannot be changed here."),
    "bible": text("The project notes cannot be changed here."),
    "heartbeat": text("The status cannot be changed here."),
}

DescribeSpace: TypeAlias = Callable[[str], Awaitable[SpaceDescription | None]]
"""Returns the facts about a project, None if the platform does not tell them. Never raises."""

Written = Literal["written", "proposed", "conflict"]

NEARLY_FULL: Final = 9_000
"""Characters from which the remaining space is reported to the person."""


class DocumentResult(Struct, frozen=True):
    """The result of writing a document; `notices` are for the person."""

    written: Written
    """The fate of the text."""
    version: Version | None = None
    """The new version, or after a conflict the present one."""
    review_id: str = ""
    """The id of the open review; empty unless it is proposed."""
    notices: tuple[Text, ...] = ()
    lost: tuple[str, ...] = ()
    """The lines that a proposal would remove, if it waits because of them."""


class DocumentParts(Struct, frozen=True):
    """The accessible documents as the model reads them; empty if there is none.

    The numbers are those of the versions on which a rewrite is based, 0 for none.
    """

    soul: str = ""
    """The person's preferences."""
    bible: str = ""
    """The notes of the project."""
    heartbeat: str = ""
    """The figures of the project as sentences."""
    soul_number: int = 0
    """The version of `soul`."""
    bible_number: int = 0
    """The version of `bible`."""


class DocumentService:
    """Reads and writes documents for one person at a time."""

    def __init__(
        self,
        store: DocumentStore,
        reviews: ReviewStore,
        audit: Audit,
        clock: Clock,
        describe: DescribeSpace | None = None,
    ) -> None:
        """`describe`: tells what a platform knows about a project; None: nothing is known."""
        self._store = store
        self._reviews = reviews
        self._audit = audit
        self._clock = clock
        self._describe = describe

    async def parts(self, access: AccessScope, there: Mapping[Document, Version]) -> DocumentParts:
        """Return the documents for the prompt; creates a missing BIBLE."""
        soul = there.get("soul")
        soul_text = soul.content if soul else ""
        number = soul.number if soul else 0
        if not access.project:
            return DocumentParts(soul_text, soul_number=number)
        bible = there.get("bible") or await self._first_bible(access)
        heartbeat = there.get("heartbeat")
        return DocumentParts(
            soul_text,
            bible.content if bible else "",
            heartbeat_text(heartbeat, self._clock.now()) if heartbeat else NO_HEARTBEAT,
            number,
            bible.number if bible else 0,
        )

    async def read(self, access: AccessScope, document: Document) -> Version | None:
        """Return the newest version; creates a missing BIBLE. Raises `BadInput` if the document is
        not available here."""
        _check_place(access, document)
        newest = await self._store.read(access, document)
        return await self._first_bible(access) if newest is None and document == "bible" else newest

    async def versions(self, access: AccessScope, document: Document) -> list[Version]:
        """Return all stored versions, newest first."""
        _check_place(access, document)
        return await self._store.versions(access, document, MAX_VERSIONS)

    async def write(
        self,
        request: RequestScope,
        access: AccessScope,
        document: Literal["soul", "bible"],
        content: str,
        kind: InputKind,
        *,
        based_on: int | None = None,
        external: bool = False,
        may_be_empty: bool = False,
        dropped: int | None = None,
    ) -> DocumentResult:
        """Write a document, or propose it if this person may not write it, it is suspicious, or the
        model drops much of the present text. `external`: in a turn with text that the person did
        not write, as is all that an agent writes. `may_be_empty`: an empty text empties the
        document. `dropped`: a single line was changed, and so many were dropped in this turn.

        Raises `BadInput` where the document cannot be written here, or nothing is left of the text,
        and for possible text of a restricted repository: rooms read documents.
        """
        if request.from_repository:
            raise BadInput(FROM_REPOSITORY)
        kind = InputKind.ASSISTANT if request.agent else kind
        return await self._write(
            *(request, access, document, content, kind),
            based_on=based_on,
            external=external or bool(request.agent),
            may_be_empty=may_be_empty,
            dropped=dropped,
        )

    async def _write(
        self,
        request: RequestScope,
        access: AccessScope,
        document: Literal["soul", "bible"],
        content: str,
        kind: InputKind,
        *,
        based_on: int | None = None,
        external: bool = False,
        may_be_empty: bool = False,
        dropped: int | None = None,
    ) -> DocumentResult:
        _check_writable(access, document)
        # 100,000 characters may take half a second to read.
        redaction, text = await asyncio.to_thread(_prepared, content)
        if not text and not (may_be_empty and not content.strip()):
            raise BadInput(NOTHING_LEFT)
        injected = bool(detect_injection(text))
        levels = {finding.kind.level for finding in redaction.findings}
        removed = _kinds(redaction, possible=False)
        if removed:
            await self._audit.note("secret_redacted", request, target=document, kinds=removed)
        notices = _notices(redaction.text, text, levels)
        reason = _why_not(
            access, document, kind, injected=injected, levels=levels, external=external
        )
        lost: tuple[str, ...] = ()
        if kind is not InputKind.EXPLICIT and not reason:
            lost = await self._lost(access, document, text, based_on, dropped)
            reason = LOSES if lost else NO_TEXT
        if reason:
            review = await self._propose(
                *(request, access, document, text, kind, reason), injected, external=external
            )
            await self._note_kept(request, document, redaction, review)
            return DocumentResult("proposed", None, review, notices, lost)
        version = await self._store.write(
            access, document, text, access.person, self._clock.now(), based_on=based_on
        )
        if version is None:
            return DocumentResult("conflict", await self._store.read(access, document), "", notices)
        await self._audit.note(
            "brain_write", request, target=document, version=version.number, size=len(text)
        )
        await self._note_kept(request, document, redaction, "none")
        return DocumentResult("written", version, "", notices)

    async def _lost(
        self,
        access: AccessScope,
        document: Document,
        content: str,
        based_on: int | None,
        dropped: int | None,
    ) -> tuple[str, ...]:
        """Return the lines that a text of the model would drop, if these are too many to do so
        without a question. The program's own first text may be replaced."""
        present = await self._store.read(access, document)
        if present is None or present.author == SYSTEM:
            return ()
        if based_on is not None and based_on != present.number:
            return ()
        if dropped is None:
            much = await asyncio.to_thread(drops_much, present.content, content)
        else:
            much = dropped > MAX_DROPPED
        return dropped_lines(present.content, content) if much else ()

    async def would_drop(self, access: AccessScope, pending: ReviewItem) -> tuple[str, ...]:
        """Return the lines of the present document that an open proposal would drop; none where it
        cannot be read."""
        document: Document = "soul" if pending.target == "soul" else "bible"
        if not (access.private if document == "soul" else access.project):
            return ()
        present = await self._store.read(access, document)
        if present is None or present.author == SYSTEM:
            return ()
        return await asyncio.to_thread(dropped_lines, present.content, pending.record.content)

    async def _note_kept(
        self, request: RequestScope, document: str, redaction: Redaction, review: str
    ) -> None:
        """Record the possible secrets in a stored text, and the question about them."""
        kinds = _kinds(redaction, possible=True)
        if kinds:
            await self._audit.note(
                "secret_kept", request, target=document, kinds=kinds, review=review
            )

    async def accept(
        self, request: RequestScope, access: AccessScope, pending: ReviewItem
    ) -> Version:
        """Write an approved proposal.

        Raises `BadInput` where it cannot be written from here.
        """
        document: Literal["soul", "bible"] = "soul" if pending.target == "soul" else "bible"
        result = await self._write(
            request, access, document, pending.record.content, InputKind.EXPLICIT
        )
        if result.version is None:
            raise BadInput(NOT_HERE[document])
        return result.version

    async def take_back(
        self,
        request: RequestScope,
        access: AccessScope,
        document: Literal["soul", "bible"],
        number: int,
    ) -> bool:
        """Delete the newest version if it has this number and this person's turn wrote it within a
        day. Raises `BadInput` if the document cannot be written here."""
        _check_writable(access, document)
        newest = await self._store.read(access, document)
        if newest is None or self._clock.now() - newest.at > UNDO_FOR:
            return False
        gone = await self._store.take_back(access, document, number, access.person)
        if gone:
            await self._audit.note("brain_write", request, target=document, taken_back=number)
        return gone

    async def restore(
        self,
        request: RequestScope,
        access: AccessScope,
        document: Literal["soul", "bible"],
        number: int,
        *,
        based_on: int | None = None,
    ) -> DocumentResult:
        """Restore an earlier version. Raises `BadInput` for an unknown one."""
        _check_writable(access, document)
        for version in await self.versions(access, document):
            if version.number == number:
                return await self._write(
                    request,
                    access,
                    document,
                    version.content,
                    InputKind.EXPLICIT,
                    based_on=based_on,
                    may_be_empty=True,
                )
        raise NotFound(NO_VERSION[document].of(number=number), where="body.version")

    async def set_heartbeat(
        self, tenant: str, project: str, text: str, synced_at: datetime
    ) -> Version | None:
        """Write a project's HEARTBEAT, for the program."""
        content = redact_secrets(sanitize_brain_content(text)).text
        return await self._store.write(
            system_access_scope(tenant, project),
            "heartbeat",
            content,
            SYSTEM,
            self._clock.now(),
            synced_at=synced_at,
        )

    async def synced_at(self, tenant: str, project: str) -> datetime | None:
        """Return the time of the figures in a project's HEARTBEAT, None without one."""
        kept = await self._store.read(system_access_scope(tenant, project), "heartbeat")
        return kept.synced_at if kept else None

    async def _first_bible(self, access: AccessScope) -> Version | None:
        about = None if self._describe is None else await self._describe(access.project)
        written = await self._store.write(
            system_access_scope(access.tenant, access.project),
            "bible",
            first_bible(access.project, about),
            SYSTEM,
            self._clock.now(),
            based_on=0,
        )
        return written or await self._store.read(access, "bible")

    async def _propose(
        self,
        request: RequestScope,
        access: AccessScope,
        document: Literal["soul", "bible"],
        text: str,
        kind: InputKind,
        reason: Text,
        injected: bool,
        *,
        external: bool,
    ) -> str:
        now = self._clock.now()
        derived = derive_trust(kind, injection=injected)
        place = request.place
        record = Record(
            id=new_id(),
            tenant=access.tenant,
            scope=Scope.USER if document == "soul" else Scope.PROJECT,
            tier=Tier.SEMANTIC,
            kind=Kind.CONTEXT,
            content=text,
            provenance=Provenance(
                derived.source,
                derived.trust,
                access.person,
                now,
                session=request.session,
                room=access.room,
                channel=channel_of(place),
                audience=place.audience,
                external=external,
            ),
            evidence=Evidence(text[:200], now, CONFIDENCE[derived.trust]),
            project=access.project if document == "bible" else "",
        )
        earlier = await self._reviews.earlier(access, record, document, now)
        before = same_before(record, earlier, self._audit.hashed, least=1.0)
        if before is not None and before.state == "rejected":
            raise BadInput(REJECTED_LATELY)
        if before is not None:
            return before.id
        pending = ReviewItem(f"rev-{record.id[4:]}", record, reason, now, target=document)
        if not await self._reviews.add(access, pending):
            raise BadInput(
                QUEUE_FULL,
                code="queue_full",
            )
        return pending.id


def _kinds(redaction: Redaction, *, possible: bool) -> str:
    """Return the kinds of the removed secrets, or of the possible ones, which stay."""
    kinds = {
        finding.kind.name
        for finding in redaction.findings
        if (finding.kind.level is Level.POSSIBLE) is possible
    }
    return " ".join(sorted(kinds))


def first_bible(project: str, about: SpaceDescription | None = None) -> str:
    """Return the first BIBLE of a project, from what its platform tells. A description that reads
    like an instruction is left out."""
    platform = project.partition(":")[0].capitalize()
    known = about or SpaceDescription("")
    title = sanitize_brain_content(known.title)
    told = redact_secrets(sanitize_brain_content(known.description)).text
    sentences = [f"This project is {f'“{title}”' if title else 'a place'} on {platform}."]
    if told and not detect_injection(told):
        sentences.append(f"Its description there is: “{told}”")
    names = ", ".join(filter(None, map(sanitize_brain_content, known.administrators)))
    if names:
        sentences.append(f"It is administered by {names}.")
    sentences.append(NOT_DESCRIBED)
    return " ".join(sentences)


def heartbeat_text(version: Version, now: datetime) -> str:
    """Return the figures with their time, which shows their age."""
    if version.synced_at is None:
        return version.content
    at = version.synced_at.isoformat(timespec="minutes")
    text = f"{version.content}\n(last_synced_at: {at})"
    return f"{text}\n{OLD_FIGURES}" if now - version.synced_at > STALE_AFTER else text


def _check_place(access: AccessScope, document: Document) -> None:
    if document == "soul" and not access.private:
        raise BadInput(ASK_PRIVATELY)
    if document != "soul" and not access.project:
        raise BadInput(NO_PROJECT, code="no_project", where="query.project")


def _check_writable(access: AccessScope, document: Document) -> None:
    """Raise `BadInput` unless the document may be written here; a SOUL only in private, even if
    rooms may show it."""
    if document == "heartbeat":
        raise BadInput(NOT_EDITED)
    if document == "soul" and access.room:
        raise BadInput(CHANGE_PRIVATELY)
    _check_place(access, document)


def _prepared(given: str) -> tuple[Redaction, str]:
    """Return the findings in the whole text and the text to store. Secrets are redacted before the
    text is cut, so no part of one stays. Raises `BadInput` for a text that is too long."""
    if len(given) > MAX_GIVEN:
        raise BadInput(TOO_LONG.of(most=verbatim(str(MAX_GIVEN))))
    redaction = redact_secrets(sanitize(safe_unicode(given)))
    return redaction, sanitize_brain_content(redaction.text)


def _why_not(
    access: AccessScope,
    document: Document,
    kind: InputKind,
    *,
    injected: bool,
    levels: set[Level],
    external: bool,
) -> Text:
    """Return the reason for a review, empty for none."""
    if document == "bible" and not access.operates:
        return ONLY_OPERATORS
    if kind is InputKind.EXPLICIT:
        return NO_TEXT
    if injected:
        return INSTRUCTION
    if external:
        return AFTER_OTHERS
    return DOUBTFUL if Level.POSSIBLE in levels else NO_TEXT


def _notices(whole: str, kept: str, levels: set[Level]) -> tuple[Text, ...]:
    notices: tuple[Text, ...] = (REDACTED,) if levels & {Level.DEFINITE, Level.PROBABLE} else ()
    if Level.POSSIBLE in levels:
        notices = (*notices, DOUBTFUL)
    if len(whole.strip()) > MAX_DOCUMENT:
        return (*notices, SHORTENED.of(limit=verbatim(str(len(kept)))))
    warning = nearly_full(kept)
    return (*notices, warning) if warning else notices


def nearly_full(content: str) -> Text:
    """Return a warning if a document is close to its limit, else an empty text."""
    if len(content) < NEARLY_FULL:
        return NO_TEXT
    return NEARLY_FULL_WARNING.of(size=len(content), most=MAX_DOCUMENT)
