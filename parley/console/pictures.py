"""Serves pictures: those of messages to whoever may read the text of the message, and those of
people to whoever may see their names. The browser asks nobody but the console.

A picture that cannot be shown is answered with one that says so, so that a page has no broken
picture, with and without scripts. That is no refusal: the audit log has those of people without
the right to a picture alone.
"""

from collections.abc import Mapping
from typing import Final
from xml.sax.saxutils import escape

from starlette.responses import Response

from gateway.errors import NotFound
from gateway.message import Attachment
from gateway.outbound.pictures import Missing, Picture
from gateway.text import Language, Text, text
from parley.console.names import names_of
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.conversation import (
    account_of,
    exchange_of,
    pictures_of,
    readable_texts,
)

MAX_NUMBER: Final = 3
"""Digits of the number of a file."""
MAX_PERSON: Final = 300
"""Characters of the id of a person."""
MAX_SHOWN: Final = 40
"""Characters of the name of a file in a picture."""
ISOLATED: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
NO_PICTURE: Final = text("There is no such picture, or you may not see it.")
UNNAMED: Final = text("Picture")
WHY: Final[Mapping[Missing, Text]] = {
    "gone": text("No longer available"),
    "unfit": text("This picture cannot be shown"),
    "late": text("Not loaded. Reload the page."),
}
ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
NOTHING: Final = bytes.fromhex(
    "47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b"
)
"""A transparent GIF: the initials below it are seen."""
SENTENCES: Final = """<svg xmlns="http://www.w3.org/2000/svg" width="320" height="64" \
viewBox="0 0 320 64" font-family="system-ui, sans-serif" font-size="14" fill="#767676">\
<rect x=".5" y=".5" width="319" height="63" rx="8" fill="none" stroke="#767676"/>\
<text x="160" y="27" text-anchor="middle">{name}</text>\
<text x="160" y="47" text-anchor="middle">{why}</text></svg>"""


async def message_picture(
    viewer: Viewer, services: ConsoleServices, turn: str, number: str
) -> tuple[Attachment, Picture | Missing]:
    """Return a picture of a message by the id of its turn and its place among the files of the
    message. Raises `NotFound` if the viewer may not read the text of that message."""
    of = await exchange_of(viewer, services, turn)
    texts = await readable_texts(viewer, services, (of,))
    for stored in texts.get(of.trace.message_id, ()):
        file = pictures_of(stored).get(_number(number)) if stored.role == "user" else None
        if file is not None:
            account = account_of(of.trace.conversation)
            return file, await services.pictures.of_message(account, file, stored.person)
    raise NotFound(NO_PICTURE)


async def portrait(viewer: Viewer, services: ConsoleServices, person: str) -> Picture | Missing:
    """Return the picture of a person whose name the viewer may see; "gone" for anybody else."""
    pictures = services.pictures
    if not pictures.may_have_portrait(person) or len(person) > MAX_PERSON:
        return "gone"
    named = await names_of(viewer, services, [person])
    return await pictures.of_person(person) if person in named else "gone"


def answer_of(found: Picture | Missing, file: Attachment, language: Language) -> Response:
    """Return a picture of a message, or one that says why there is none."""
    if not isinstance(found, Picture):
        name = file.shown_name
        shown = name if len(name) <= MAX_SHOWN else f"{name[: MAX_SHOWN - 1]}…"
        body = SENTENCES.format(
            name=escape(shown or language.shown(UNNAMED)), why=escape(language.shown(WHY[found]))
        )
        return _response(body.encode(), "image/svg+xml", 0)
    answer = _response(found.data, found.mime, 300)
    ending = ENDINGS[found.mime]
    answer.headers["Content-Disposition"] = f'inline; filename="picture.{ending}"'
    return answer


def portrait_answer(found: Picture | Missing) -> Response:
    """Return the picture of a person, or an empty one."""
    if isinstance(found, Picture):
        return _response(found.data, found.mime, 3600)
    return _response(NOTHING, "image/gif", 300 if found == "gone" else 0)


def _response(body: bytes, mime: str, seconds: int) -> Response:
    kept = f"private, max-age={seconds}" if seconds else "no-store"
    return Response(body, headers={"Content-Type": mime, "Cache-Control": kept, **ISOLATED})


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER else -1
