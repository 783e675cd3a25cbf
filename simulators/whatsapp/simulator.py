"""A WhatsApp with one business number: the Graph API, the webhooks, and the people.

Drive it through the methods of `simulators.base.PlatformSimulator`; what only WhatsApp has (several
messages in one POST, people without a phone number, the clock of the 24-hour window) is added here.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from simulators.base import (
    ApiCall,
    Faults,
    NotSupported,
    RoomKind,
    Shown,
    SimFile,
    SimPerson,
    SimRoom,
)
from simulators.whatsapp import payloads
from simulators.whatsapp.errors import GraphError
from simulators.whatsapp.format import look
from simulators.whatsapp.graph import GraphServer
from simulators.whatsapp.payloads import Json, Number
from simulators.whatsapp.webhooks import PAUSES, Unsigned, WebhookCaller
from simulators.whatsapp.world import Human, World

TEMPLATE: Final = "conversation_followup"
"""A template that every simulator knows, in `en_US`, with one parameter."""

ACCESS_TOKEN: Final = "EAAsimulatedaccesstoken0123456789"
APP_SECRET: Final = "51a0a99b5ec2e7000123456789abcdef"
VERIFY_TOKEN: Final = "sim-verify-token"


class WhatsAppSimulator:
    """Implements `PlatformSimulator`. WhatsApp's bots live in direct chats only.

    `webhook_path` is where the gateway listens; `pauses` are the seconds before each repetition of
    a webhook that was not answered with 200; `statuses` are reported for each message delivered.
    """

    def __init__(
        self,
        *,
        webhook_path: str = "/webhook/whatsapp",
        pauses: Sequence[float] = PAUSES,
        statuses: Sequence[Literal["sent", "delivered", "read"]] = ("sent", "delivered"),
        phone_number_id: str = "106540352242922",
        display_phone_number: str = "15550783881",
        app_secret: str = APP_SECRET,
        verify_token: str = VERIFY_TOKEN,
        access_token: str = ACCESS_TOKEN,
    ) -> None:
        number = Number("102290129340398", phone_number_id, display_phone_number)
        self._secrets = {
            "access_token": access_token,
            "app_secret": app_secret,
            "verify_token": verify_token,
        }
        self._statuses = tuple(statuses)
        self._faults = Faults()
        self._again = 0
        self.world = World(number)
        self.world.templates[TEMPLATE, "en_US"] = "We have an update on your question: {{1}}"
        self.graph = GraphServer(
            self.world, (access_token, app_secret), self._faults, self._on_sent
        )
        self.webhooks = WebhookCaller(app_secret, verify_token, webhook_path, pauses)

    # --- the contract ---------------------------------------------------------------------------

    @property
    def platform(self) -> str:
        """Always "whatsapp"."""
        return "whatsapp"

    @property
    def faults(self) -> Faults:
        """Faults for the methods messages, read (marks and typing), media, media_url, download and
        phone_number.
        """
        return self._faults

    @property
    def calls(self) -> deque[ApiCall]:
        """Every request, under the method names that faults use."""
        return self.graph.state.calls

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        await self.graph.start()

    async def stop(self) -> None:
        """Stop delivering and listening."""
        await self.webhooks.stop()
        await self.graph.stop()

    def settings(self) -> dict[str, object]:
        """The section `platforms.whatsapp` that points a gateway here."""
        return {
            **self._secrets,
            "phone_number_id": self.world.number.phone_number_id,
            "base_url": self.graph.url,
        }

    def attach(self, base_url: str) -> None:
        """The address of the gateway's public listener."""
        self.webhooks.attach(base_url)

    async def wait_connected(self, timeout: float = 30.0) -> None:
        """Return once `attach` was called and the callback URL answered Meta's handshake."""
        async with asyncio.timeout(timeout):
            await self.webhooks.changed.wait_until(lambda: self.webhooks.attached, timeout)
            await self.webhooks.answering()

    def person(self, name: str) -> SimPerson:
        """The person of that name, with a phone number and a BSUID; the id is the BSUID."""
        return SimPerson(self.world.human(name).key, name)

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        """Not on WhatsApp."""
        raise NotSupported("WhatsApp's Cloud API talks to single people")

    def direct(self, person: SimPerson) -> SimRoom:
        """The chat between this person and the business."""
        return SimRoom(self.world.of(person).key, "direct", person.name)

    async def say(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        mention: bool = False,
        reply_to: str = "",
        files: tuple[SimFile, ...] = (),
    ) -> str:
        """Write; each file is a message of its own, the first one with the text as its caption.

        WhatsApp has no mention of a business in a chat with it: `mention` changes nothing. Raises
        `NotSupported` for a type of file or a size that WhatsApp does not take.
        """
        human = self._in_chat(person, room)
        try:
            items = [self._file(human, f, text if not i else "") for i, f in enumerate(files)]
        except GraphError as refused:
            raise NotSupported(f"WhatsApp takes no such file: {refused.details}") from refused
        if not items:
            items = [self._text(human, text)]
        if reply_to:
            author = self._author_of(human, reply_to)
            items = [payloads.quoting(item, author, reply_to) for item in items]
        for item in items:
            self._post(human, [item], wrote=True)
        return str(items[0]["id"])

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        """Not on WhatsApp."""
        raise NotSupported("WhatsApp has no threads")

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        """Edit; reported as for a number that is also in the WhatsApp Business app."""
        human = self._in_chat(person, room)
        self.world.change(human.key, message_id, text)
        new = {"type": "text", "text": {"body": text}}
        content = {"original_message_id": message_id, "message": new}
        self._post(human, [self._item(human, "edit", content)], wrote=False)

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        """Delete; reported as for a number that is also in the WhatsApp Business app."""
        human = self._in_chat(person, room)
        self.world.change(human.key, message_id, None)
        item = self._item(human, "revoke", {"original_message_id": message_id})
        self._post(human, [item], wrote=False)

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        """Write "/name arguments": WhatsApp has no commands of its own."""
        await self.say(person, room, f"/{name} {arguments}".strip())

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        """Press a reply button or choose a row."""
        human = self._in_chat(person, room)
        shown = self.world.find(human.key, message_id)
        button = next((b for b in shown.buttons if b.label == label), None) if shown else None
        if shown is None or button is None:
            raise NotSupported(f"no button {label!r} under {message_id}")
        interactive = shown.payload.get("interactive")
        listed = isinstance(interactive, Mapping) and interactive.get("type") == "list"
        kind = "list_reply" if listed else "button_reply"
        content = {"type": kind, kind: {"id": button.value, "title": button.label}}
        item = self._item(human, "interactive", content)
        self.world.show(human.key, self._own(human, str(item["id"]), button.label, message_id))
        quoted = payloads.quoting(item, self.world.number.display, message_id)
        self._post(human, [quoted], wrote=True)

    async def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        """React; an empty emoji takes the reaction back."""
        human = self._in_chat(person, room)
        content = {"message_id": message_id, "emoji": emoji}
        self._post(human, [self._item(human, "reaction", content)], wrote=False)

    def duplicate_next(self, times: int = 1) -> None:
        """Deliver the next event `times` more often."""
        self._again += times

    async def drop_connections(self) -> None:
        """Cut every socket, in both directions."""
        self.graph.cut()
        await self.webhooks.cut()

    def shown(self, room: SimRoom) -> list[Shown]:
        """Return the messages of the chat, oldest first."""
        return self.world.chat(room.id)

    async def wait_for(
        self, room: SimRoom, condition: Callable[[list[Shown]], bool], timeout: float = 30.0
    ) -> list[Shown]:
        """`shown(room)` as soon as `condition` is true. Raises TimeoutError with what was shown."""
        if not await self.graph.changed.wait_until(lambda: condition(self.shown(room)), timeout):
            lines = [(shown.by_bot, shown.text[:80]) for shown in self.shown(room)]
            raise TimeoutError(f"not shown within {timeout} s; shown: {lines}")
        return self.shown(room)

    # --- what only WhatsApp has -----------------------------------------------------------------

    def person_without_bsuid(self, name: str) -> SimPerson:
        """Somebody from before BSUIDs: known by the phone number; see `gain_bsuid`."""
        return SimPerson(self.world.human(name, with_bsuid=False).key, name)

    def person_without_phone(self, name: str) -> SimPerson:
        """Somebody with a username: webhooks name the BSUID only."""
        return SimPerson(self.world.human(name, hidden=True).key, name)

    def gain_bsuid(self, person: SimPerson, bsuid: str) -> None:
        """From now on webhooks name this BSUID beside the phone number."""
        self.world.of(person).bsuid = bsuid

    def change_number(self, person: SimPerson, phone: str, bsuid: str) -> None:
        """The person moves to a new number, which also makes a new BSUID; Meta says so."""
        human = self.world.of(person)
        system = {
            "type": "user_changed_number",
            "body": f"User {human.name} changed from {human.phone} to {phone}",
            "wa_id": phone,
            "user_id": bsuid,
            "previous_user_id": human.bsuid,
        }
        item = payloads.message(
            human.sender(), self.world.wamid(), int(self.world.now()), "system", system
        )
        human.phone, human.bsuid = phone, bsuid
        self._send(payloads.envelope(self.world.number, {"messages": [item]}))

    async def say_together(self, person: SimPerson, room: SimRoom, *texts: str) -> list[str]:
        """Several messages in one POST, as Meta batches them."""
        human = self._in_chat(person, room)
        items = [self._text(human, text) for text in texts]
        self._post(human, items, wrote=True)
        return [str(item["id"]) for item in items]

    async def send_raw(self, person: SimPerson, kind: str, content: object) -> str:
        """A message of any kind: location, contacts, order, unsupported ..."""
        human = self.world.of(person)
        item = self._item(human, kind, content)
        self._post(human, [item], wrote=True)
        return str(item["id"])

    async def forward(
        self, person: SimPerson, room: SimRoom, text: str, *, files: tuple[SimFile, ...] = ()
    ) -> str:
        """Forward a message of another chat; a file has the text as its caption. WhatsApp does not
        say who wrote it."""
        human = self._in_chat(person, room)
        items = [self._file(human, f, text if not i else "") for i, f in enumerate(files)]
        for item in items or [self._text(human, text)]:
            self._post(human, [{**item, "context": {"forwarded": True}}], wrote=True)
        return self.world.chat(human.key)[-1].id

    async def share_contact(
        self, person: SimPerson, room: SimRoom, name: str, phone: str = "+49 1555 000001"
    ) -> str:
        """Share a contact card."""
        card = {"name": {"formatted_name": name}, "phones": [{"phone": phone}]}
        return await self.send_raw(person, "contacts", [card])

    def advance(self, seconds: float) -> None:
        """Move this WhatsApp's clock forward."""
        self.world.offset += seconds

    def fail_next(self, method: str, error: GraphError) -> None:
        """Answer the next request of this method with an error."""
        self.graph.state.failing.setdefault(method, []).append(error)

    async def deliver(
        self, payload: Mapping[str, object], signature: str | Unsigned | None = None
    ) -> int:
        """Post any payload once; returns the status. `signature` as in `WebhookCaller.deliver`."""
        return await self.webhooks.deliver(payload, signature)

    async def settled(self, timeout: float = 30.0) -> bool:
        """True once every webhook was answered with 200 or given up."""
        return await self.webhooks.changed.wait_until(lambda: self.webhooks.idle, timeout)

    # --- inside ---------------------------------------------------------------------------------

    def _in_chat(self, person: SimPerson, room: SimRoom) -> Human:
        human = self.world.of(person)
        if room.id != human.key:
            raise NotSupported("on WhatsApp people write in their own chat only")
        return human

    def _author_of(self, human: Human, message_id: str) -> str:
        """The number that a message in the chat came from."""
        shown = self.world.find(human.key, message_id)
        own = shown is not None and not shown.by_bot
        return (human.phone or human.key) if own else self.world.number.display

    def _item(self, human: Human, kind: str, content: object) -> Json:
        at = int(self.world.now())
        return payloads.message(human.sender(), self.world.wamid(), at, kind, content)

    def _text(self, human: Human, text: str) -> Json:
        item = self._item(human, "text", {"body": text})
        self.world.show(human.key, self._own(human, str(item["id"]), text))
        return item

    def _file(self, human: Human, file: SimFile, caption: str) -> Json:
        kind = file.mime.partition("/")[0]
        if kind not in ("image", "video", "audio"):
            kind = "document"
        content: dict[str, object] = {"id": self.world.store(file), "mime_type": file.mime}
        if kind == "audio" and file.mime.startswith("audio/ogg"):
            content["voice"] = True  # as the app's microphone sends it
        if caption:
            content["caption"] = caption
        if kind == "document":
            content["filename"] = file.name
        item = self._item(human, kind, content)
        self.world.show(human.key, self._own(human, str(item["id"]), caption, files=(file,)))
        return item

    def _own(
        self,
        human: Human,
        wamid: str,
        text: str,
        reply_to: str = "",
        files: tuple[SimFile, ...] = (),
    ) -> Shown:
        seen = look(text)
        return Shown(
            id=wamid,
            room_id=human.key,
            thread_id="",
            author_id=human.key,
            by_bot=False,
            text=seen.plain,
            html=seen.html,
            files=files,
            reply_to_id=reply_to,
        )

    def _post(self, human: Human, items: Sequence[Json], *, wrote: bool) -> None:
        if wrote:
            human.wrote_at = self.world.now()
        self._send(payloads.messages(self.world.number, human.sender(), items))
        self.graph.changed.notify()

    def _send(self, payload: Json) -> None:
        for _ in range(1 + self._again):
            self.webhooks.enqueue(payload)
        self._again = 0

    def _on_sent(self, human: Human, wamid: str, error: GraphError | None) -> None:
        number, at, sender = self.world.number, int(self.world.now()), human.sender()
        if error is not None:
            failed = payloads.status(number, sender, wamid, "failed", at, [error.in_status()])
            self.webhooks.enqueue(failed)
            return
        for name in self._statuses:
            self.webhooks.enqueue(payloads.status(number, sender, wamid, name, at))
