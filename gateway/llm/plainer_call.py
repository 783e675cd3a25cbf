"""A call that is repeated without what its service refused in the request.

That is reasoning that it does not take back, and pictures and PDFs that it cannot read. Nothing is
kept from it: all of them concern the content of one conversation.
"""

import re
from typing import Final

from gateway.errors import ContextTooLong
from gateway.immutable import replace
from gateway.llm.chat_completions.refusal import ServerRefusal, refusal_of
from gateway.llm.streamed_call import ServiceError, StreamedCall
from gateway.ports import (
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
)

LEFT_OUT: Final = TextBlock("(A picture was left out here: the model's server does not take it.)")
_STATUSES: Final = frozenset((200, 400, 404, 413, 415, 422))
_REASONING: Final = re.compile(
    r"reason|thinking|signature|encrypted|\brs_|\bmsg_|items? .{0,100}(?:not found|without)"
    r"|not persisted|server_tool_use|web_(?:search|fetch)|citation|missing required field"
    r"|unknown parameter.{0,10}input\["
)
_PDF: Final = re.compile(r"pdf|document|file|page|media_type|base64")
_PICTURE: Final = re.compile(r"image|picture|media_type|base64")


class PlainerCall(StreamedCall):
    """A call of a service that has no dialects."""

    def adapts(self, error: Exception) -> bool:
        if not isinstance(error, ServiceError) or error.status not in _STATUSES:
            return False
        if isinstance(self.provider.translate(error), ContextTooLong):
            return False
        plainer = plainer_request(self.request, refusal_of(error.status, error.body))
        self.request = plainer or self.request
        return plainer is not None


def plainer_request(request: ModelRequest, refusal: ServerRefusal) -> ModelRequest | None:
    """Return the request without what a refusal speaks of; None if it has nothing of it."""
    kinds: tuple[tuple[type[ContentBlock], re.Pattern[str]], ...] = (
        (OpaqueBlock, _REASONING),
        (DocumentBlock, _PDF),
        (ImageBlock, _PICTURE),
    )
    for kind, words in kinds:
        about = " ".join((refusal.words, *refusal.places)).lower()
        if _has(request, kind) and words.search(about):
            return _without(request, kind)
    return None


def _has(request: ModelRequest, kind: type[ContentBlock]) -> bool:
    return any(isinstance(block, kind) for message in request.messages for block in message.content)


def without_pdfs(request: ModelRequest) -> ModelRequest:
    """Return the request for a model that takes no PDF."""
    return _without(request, DocumentBlock) if _has(request, DocumentBlock) else request


def _without(request: ModelRequest, kind: type[ContentBlock]) -> ModelRequest:
    """Leave out reasoning; a sentence takes the place of a picture and of a PDF."""
    messages = []
    for message in request.messages:
        content: list[ContentBlock] = []
        for block in message.content:
            content.extend(_instead(block) if isinstance(block, kind) else (block,))
        messages.append(replace(message, content=tuple(content)))
    return replace(request, messages=tuple(messages))


def _instead(block: ContentBlock) -> tuple[ContentBlock, ...]:
    match block:
        case ImageBlock():
            return (LEFT_OUT,)
        case DocumentBlock(instead=instead):
            return (TextBlock(instead),)
    return ()
