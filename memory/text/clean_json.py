"""Cleans JSON objects that clients give: bounded, with safe Unicode, sanitised, without secrets,
and with the markers of authority neutralised."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.errors import UsageError
from safety.bounds import Frozen, InputBounds, OutOfBounds, snapshot
from safety.injection_detection.detect import detect_injection, neutralise_markers
from safety.sanitize import sanitize
from safety.secret_detection.detect import redact_secrets
from safety.unicode import REDACTED, safe_unicode

MAX_FINDINGS: Final = 20
BOUNDS: Final = InputBounds()
"""5 deep, 100 keys of an object, 500 values, 10,000 bytes."""


@dataclass(slots=True)
class Cleaner:
    """Cleans texts and collects the codes of what looks like an instruction in them."""

    findings: dict[str, None] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """Return a text with safe Unicode, sanitised, without secrets and markers."""
        clean = redact_secrets(sanitize(safe_unicode(text))).text
        for found in detect_injection(clean):
            if len(self.findings) < MAX_FINDINGS:
                self.findings[f"{found.kind}:{found.name}"] = None
        return neutralise_markers(clean)

    def line(self, text: str) -> str:
        """Return a clean text in one line."""
        return " ".join(self.text(text).split())

    def value(self, value: Frozen, name: str = "") -> object:
        """Return a snapshot as plain JSON with clean texts. Its depth is bounded."""
        if isinstance(value, str):
            return self._named(name, self.text(value))
        if isinstance(value, tuple):
            return [self.value(one, name) for one in value]
        if isinstance(value, Mapping):
            return {self.line(key): self.value(one, key) for key, one in value.items()}
        return value

    def _named(self, name: str, text: str) -> str:
        """Return a text without a secret that only the key beside it reveals, as in
        `{"password": …}`."""
        label = f"{name}: "
        shown = redact_secrets(label + text).text
        if shown == label + text or not name:
            return text
        return shown.removeprefix(label) if shown.startswith(label) else REDACTED


def cleaned_object(raw: object, place: str, cleaner: Cleaner) -> dict[str, object]:
    """Return a clean copy of an object within `BOUNDS`. Raises `BadInput` that names `place`."""
    if not isinstance(raw, dict):
        raise UsageError(f"{place}: must be a JSON object")
    try:
        frozen = snapshot(raw, BOUNDS)
    except OutOfBounds as error:
        raise UsageError(f"{place}: {error}") from None
    value = cleaner.value(frozen)
    if not isinstance(value, dict):
        raise UsageError(f"{place}: must be a JSON object")
    return value
