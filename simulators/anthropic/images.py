"""Checks pictures by the rules of Anthropic."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

MAX_IMAGE_BYTES: Final = 5 * 1024 * 1024
"""Of the base64 text, not of the file behind it."""

MEDIA_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")


def media_type_of(data: bytes) -> str:
    """Return the media type of the bytes; "" for a type that the service does not read."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


def check_image(block: Mapping[str, Any]) -> str:
    """Return the error of an image block; "" if there is none."""
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") != "base64":
        return "image.source.type: this simulator reads base64 only"
    declared = source.get("media_type")
    if declared not in MEDIA_TYPES:
        allowed = ", ".join(f"'{name}'" for name in MEDIA_TYPES)
        return f"image.source.base64.media_type: Input should be {allowed}"
    text = source.get("data")
    if not isinstance(text, str) or not text:
        return "image.source.base64.data: Field required"
    if len(text) > MAX_IMAGE_BYTES:
        return (
            f"image.source.base64: image exceeds 5 MB maximum: {len(text)} bytes > "
            f"{MAX_IMAGE_BYTES} bytes"
        )
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return "image.source.base64.data: Invalid base64 data"
    actual = media_type_of(data)
    if not actual:
        return "image.source.base64.data: Could not process image"
    if actual != declared:
        return (
            f"image.source.base64.data: The image was specified using the {declared} media type, "
            f"but the image appears to be a {actual} image"
        )
    return ""
