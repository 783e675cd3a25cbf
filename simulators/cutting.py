"""Lines that are cut in the middle of an answer."""

from aiohttp import web


async def cut_within(request: web.BaseRequest, answer: web.StreamResponse) -> web.StreamResponse:
    """Send the head of `answer` and half of its body, then close the line."""
    body = answer.body if isinstance(answer, web.Response) else b""
    whole = body if isinstance(body, bytes) else b""
    begun = web.StreamResponse(status=answer.status)
    begun.content_type = answer.content_type
    begun.content_length = max(1, len(whole))
    await begun.prepare(request)
    await begun.write(whole[: len(whole) // 2])
    if request.transport is not None:
        request.transport.close()
    return begun
