"""The sends of one reply. Pure."""

from gateway.message import Button, Outbound, OutboundFile, Part, Place, Reply, send_key


def address(
    reply_id: str,
    place: Place,
    parts: list[Part],
    reply: Reply,
    *,
    reply_to_id: str = "",
    reply_handle: str = "",
    person: str = "",
) -> tuple[Outbound, ...]:
    """The sends of one reply, in order: the parts, the last one with the buttons, then the files.

    Keys are "<reply>:<index>", the same whenever the same reply is addressed again.
    """
    pieces: list[tuple[Part | None, OutboundFile | None]] = [(part, None) for part in parts]
    pieces += [(None, file) for file in reply.files]
    buttons: tuple[Button, ...] = reply.buttons
    return tuple(
        Outbound(
            key=send_key(reply_id, index),
            place=place,
            part=part,
            file=file,
            buttons=buttons if index == len(parts) - 1 else (),
            buttons_until=reply.buttons_until if index == len(parts) - 1 else None,
            reply_to_id=reply_to_id if index == 0 else "",
            private_to=reply.private_to,
            reply_handle=reply_handle,
            person=person,
        )
        for index, (part, file) in enumerate(pieces)
    )
