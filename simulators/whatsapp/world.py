"""The world of the simulated WhatsApp: people, chats, files, templates, and its own clock."""

import base64
import re
import secrets
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final

from simulators.base import NotSupported, Shown, ShownButton, SimFile, SimPerson
from simulators.whatsapp.checks import Draft
from simulators.whatsapp.errors import GraphError
from simulators.whatsapp.format import look
from simulators.whatsapp.payloads import Number, Sender

WINDOW_SECONDS: Final = 24 * 3600
MAX_LINES: Final = 20_000
MAX_PEOPLE: Final = 100_000
MAX_MEDIA: Final = 1_000
_VARIABLE: Final = re.compile(r"\{\{([a-z0-9_]{1,60})\}\}")

MEDIA_LIMITS: Final[dict[str, int]] = {
    "image/jpeg": 5,
    "image/png": 5,
    "image/webp": 1,
    "audio/aac": 16,
    "audio/amr": 16,
    "audio/mpeg": 16,
    "audio/mp4": 16,
    "audio/ogg": 16,
    "video/mp4": 16,
    "video/3gpp": 16,
    "text/plain": 100,
    "application/pdf": 100,
    "application/msword": 100,
    "application/vnd.ms-excel": 100,
    "application/vnd.ms-powerpoint": 100,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": 100,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": 100,
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": 100,
}
"""Types the media endpoint takes, with their limit in MB (Meta, "Supported media types")."""


@dataclass(slots=True)
class Human:
    """A person with a phone. `bsuid` empty: from before those ids; `hidden`: a username user."""

    key: str
    name: str
    phone: str
    bsuid: str
    hidden: bool = False
    wrote_at: float | None = None

    def sender(self) -> Sender:
        """The fields with which webhooks name this person."""
        return Sender(
            self.name,
            "" if self.hidden else self.phone,
            self.bsuid,
            f"@{self.name.lower().replace(' ', '.')}" if self.hidden else "",
        )


@dataclass(slots=True)
class Stored:
    """A file at the media endpoint."""

    file: SimFile
    id: str


@dataclass(slots=True)
class World:
    """Everything the server and the people share. `offset` moves its clock, seconds."""

    number: Number
    offset: float = 0.0
    people: dict[str, Human] = field(default_factory=dict)
    lines: deque[tuple[str, Shown]] = field(default_factory=lambda: deque(maxlen=MAX_LINES))
    media: dict[str, Stored] = field(default_factory=dict)
    templates: dict[tuple[str, str], str] = field(default_factory=dict)
    _count: int = 0

    # --- people ---------------------------------------------------------------------------------

    def human(self, name: str, *, with_bsuid: bool = True, hidden: bool = False) -> Human:
        """The person of that name; made on first use."""
        if name in self.people:
            return self.people[name]
        if len(self.people) >= MAX_PEOPLE:
            raise NotSupported("too many people")
        nth = len(self.people) + 1
        phone = f"4915550{nth:06d}"
        bsuid = f"DE.{130_000_000_000_000 + nth}" if with_bsuid else ""
        human = Human(bsuid or phone, name, phone, bsuid, hidden)
        self.people[name] = human
        return human

    def of(self, person: SimPerson) -> Human:
        """The human behind a `SimPerson`."""
        human = self.people.get(person.name)
        if human is None or human.key != person.id:
            raise NotSupported(f"{person.name!r} is not on this WhatsApp; ask person() first")
        return human

    def addressed(self, address: str) -> Human | None:
        """Return the owner of a phone number or BSUID."""
        return next((h for h in self.people.values() if address in (h.phone, h.bsuid)), None)

    # --- time -----------------------------------------------------------------------------------

    def now(self) -> float:
        """Seconds since 1970 on this WhatsApp's clock."""
        return time.time() + self.offset

    def window_open(self, human: Human) -> bool:
        """True when the person wrote in the last 24 hours."""
        return human.wrote_at is not None and self.now() - human.wrote_at < WINDOW_SECONDS

    # --- messages -------------------------------------------------------------------------------

    def wamid(self) -> str:
        """A new message id."""
        self._count += 1
        return (
            "wamid."
            + base64.b64encode(f"{self._count:08d}{secrets.token_hex(9)}".encode()).decode()
        )

    def show(self, key: str, shown: Shown) -> None:
        """Put a message into the chat with this person."""
        self.lines.append((key, shown))

    def chat(self, key: str) -> list[Shown]:
        """Return the messages of the chat with this person, oldest first."""
        return [shown for owner, shown in self.lines if owner == key]

    def find(self, key: str, wamid: str) -> Shown | None:
        """A message of this chat."""
        return next((s for owner, s in self.lines if owner == key and s.id == wamid), None)

    def change(self, key: str, wamid: str, text: str | None) -> None:
        """Edit a message, or delete it when `text` is None."""
        for index, (owner, shown) in enumerate(self.lines):
            if owner == key and shown.id == wamid:
                seen = look(text or "")
                changed = replace(
                    shown,
                    text=seen.plain,
                    html=seen.html,
                    edited=text is not None,
                    deleted=text is None,
                )
                self.lines[index] = (owner, changed)
                return
        raise NotSupported(f"no message {wamid} in this chat")

    # --- files ----------------------------------------------------------------------------------

    def store(self, file: SimFile) -> str:
        """Keep a file; returns its media id. Raises `GraphError` for what Meta does not take."""
        mime = file.mime.partition(";")[0].strip().lower()
        limit = MEDIA_LIMITS.get(mime.partition(";")[0].strip())
        if limit is None:
            raise GraphError(
                100, f"Param file must be a file with one of the following types: {mime} is not."
            )
        if len(file.data) > limit * 1024 * 1024:
            raise GraphError(131053, f"Media file size too big. Max file size: {limit} MB.")
        self._count += 1
        media_id = str(1_000_000_000_000_000 + self._count)
        if len(self.media) >= MAX_MEDIA:
            del self.media[next(iter(self.media))]
        self.media[media_id] = Stored(file, media_id)
        return media_id

    def file_of(self, draft: Draft) -> SimFile:
        """The uploaded file a draft names. Raises `GraphError`."""
        stored = self.media.get(draft.media_id)
        if stored is None:
            raise GraphError(131009, f"Media id {draft.media_id} does not exist.")
        file = stored.file
        kind = file.mime.partition("/")[0]
        fits = draft.kind in ("document", "sticker", kind)
        if not fits:
            raise GraphError(131053, f"Media of type {file.mime} cannot be sent as {draft.kind}.")
        return SimFile(draft.filename or file.name, file.mime, file.data)

    # --- what the business sends ----------------------------------------------------------------

    def text_of(self, draft: Draft) -> str:
        """Return the text of a draft, with templates filled in. Raises `GraphError`."""
        if draft.kind != "template":
            return draft.text
        body = self.templates.get(draft.template)
        if body is None:
            name, language = draft.template
            raise GraphError(132001, f"template name ({name}) does not exist in {language}")
        variables = list(dict.fromkeys(_VARIABLE.findall(body)))
        if len(variables) != len(draft.parameters):
            raise GraphError(
                132000,
                f"body: number of localizable_params ({len(draft.parameters)}) does not match the "
                f"expected number of params ({len(variables)})",
            )
        numbered = [name or str(index) for index, name in enumerate(draft.parameter_names, 1)]
        if sorted(numbered) != sorted(variables):
            raise GraphError(132012, f"body: parameters {numbered}, expected {variables}")
        values = dict(zip(numbered, draft.parameters, strict=True))
        body = _VARIABLE.sub(lambda variable: values[variable[1]], body)
        if len(body) > 1024:
            raise GraphError(132005, "the translated text is longer than 1024 characters")
        return body

    def receive(self, human: Human, draft: Draft, wamid: str, payload: dict[str, object]) -> None:
        """Show a message of the business to this person. Raises `GraphError`."""
        seen = look(self.text_of(draft))
        files = (self.file_of(draft),) if draft.media_id else ()
        self.show(
            human.key,
            Shown(
                id=wamid,
                room_id=human.key,
                thread_id="",
                author_id=self.number.phone_number_id,
                by_bot=True,
                text=seen.plain,
                html=seen.html,
                payload=payload,
                buttons=tuple(ShownButton(c.title, c.id) for c in draft.choices),
                files=files,
                reply_to_id=draft.reply_to,
            ),
        )
