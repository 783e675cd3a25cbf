"""From a draft to a text that may be stored: the steps of the write path that need nobody else.

In this order: bounds, Unicode, sanitise (uncut), secrets, injection, trust, markers of low-trust
text, cut to length, credential check. Each is a function of `safety/`; here they only follow each
other.
"""

from dataclasses import dataclass
from typing import Final

from gateway.ports.memory import REDACTION_NOTICE
from memory.model.record import (
    MAX_ARGUMENT,
    MAX_DOCUMENT,
    MAX_MEMORY,
    MAX_TAG,
    MAX_TAGS,
    Draft,
    Kind,
    Tier,
    Trust,
)
from memory.model.trust import Derived, InputKind, derive_trust
from safety.bounds import Bounds, OutOfBounds, snapshot
from safety.cut import REDACTED as MARKER
from safety.cut import cut
from safety.injection_detection.detect import Finding, detect_injection, neutralise_markers
from safety.sanitize import sanitize
from safety.secret_detection.credential_sentences import looks_like_credential
from safety.secret_detection.detect import redact_secrets
from safety.secret_detection.kinds import Finding as Secret
from safety.secret_detection.kinds import Level
from safety.unicode import safe_unicode

SHORTENED: Final = "I shortened it to {limit} characters."
MAX_PLACES: Final = 20
NOTHING_BESIDE: Final = (
    "This is a password or a key and nothing else. I do not keep those, so nothing was stored. "
    "Keep it in a password manager, and tell me where to find it instead."
)
REDACTED: Final = REDACTION_NOTICE


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a draft cannot be stored at all; `code` is stable."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text that may be stored, and what was found on the way.

    `secrets` and `injections` are codes of what was found, never the thing itself; `places` says
    where secrets stood, "12-32" or "tag". `doubtful` is set when it holds what may be a secret: its
    owner has to say.
    """

    content: str
    tags: tuple[str, ...]
    derived: Derived
    secrets: tuple[str, ...] = ()
    definite: bool = False
    doubtful: bool = False
    injections: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def redacted(self) -> dict[str, str]:
        """What the audit may say of the secrets: their kinds, how sure, and where they stood."""
        level = "definite" if self.definite else "probable"
        return {
            "kinds": " ".join(self.secrets),
            "level": level,
            "location": " ".join(self.places),
        }


def prepare(
    draft: Draft,
    way: InputKind,
    tier: Tier,
    *,
    fail_on_secret: bool = False,
    limit: int = MAX_MEMORY,
    longest: int = MAX_ARGUMENT,
    of_turn: bool = False,
    external: bool = False,
) -> Prepared | Refusal:
    """Run the steps. Pure, and the same for the same draft.

    A text of more than `longest` characters is refused, one of more than `limit` is shortened. A
    memory of which only secrets are left is refused; one side of a turn (`of_turn`) is not.
    `external` as in `Provenance`.
    """
    bounded = _bounded(draft, longest)
    if isinstance(bounded, Refusal):
        return bounded
    content, names = bounded
    clean = sanitize(safe_unicode(content))
    redaction = redact_secrets(clean)
    tags, in_tags = _without_secrets(names)
    secrets = (*redaction.findings, *in_tags)
    levels = {finding.kind.level for finding in secrets}
    sure = levels & {Level.DEFINITE, Level.PROBABLE}
    if sure and fail_on_secret:
        return Refusal("secret", "This holds a password or a key, which I do not keep.")
    if sure and not of_turn and not _tells(redaction.text):
        return Refusal("secret", NOTHING_BESIDE)
    injections = detect_injection(redaction.text)
    derived = derive_trust(way, injection=bool(injections), external=external)
    text = redaction.text
    if derived.trust is Trust.LOW:
        text = neutralise_markers(text)
    short = cut(text, limit)
    notices = (REDACTED,) if sure else ()
    if len(short) < len(text.strip()):
        notices = (*notices, SHORTENED.format(limit=limit))
    if not short.strip():
        return Refusal("empty", "Nothing is left of it that can be kept.")
    if tier is Tier.SEMANTIC and looks_like_credential(short):
        return Refusal("credential", "This looks like a password or a key, which I do not keep.")
    return Prepared(
        content=short,
        tags=tags,
        derived=derived,
        secrets=tuple(sorted({finding.kind.name for finding in secrets})),
        definite=Level.DEFINITE in levels,
        doubtful=Level.POSSIBLE in levels,
        injections=_codes(injections),
        places=_places(redaction.findings, in_tags),
        notices=notices,
    )


def prepare_turn(text: str, way: InputKind) -> Prepared | Refusal:
    """The same for one side of a turn, which is a context and may be as long as a document."""
    draft = Draft(text[:MAX_DOCUMENT], Kind.CONTEXT)
    return prepare(
        draft, way, Tier.EPISODIC, limit=MAX_DOCUMENT, longest=MAX_DOCUMENT, of_turn=True
    )


def _tells(redacted: str) -> bool:
    """True when a letter or a digit is left beside the markers of removed secrets."""
    return any(map(str.isalnum, redacted.replace(MARKER, "")))


def _bounded(draft: Draft, longest: int) -> tuple[str, tuple[str, ...]] | Refusal:
    """The draft's texts, copied and measured before anything looks at them."""
    try:
        frozen = snapshot([draft.content, list(draft.tags)], _bounds(longest))
    except OutOfBounds as error:
        return Refusal("out_of_bounds", f"This cannot be kept: {error}")
    content, tags = frozen if isinstance(frozen, tuple) else ("", ())
    if not isinstance(content, str) or not isinstance(tags, tuple):
        return Refusal("out_of_bounds", "This cannot be kept: it is no text")
    if len(content) > longest:
        return Refusal("too_long", f"This is longer than {longest} characters.")
    return content, tuple(sanitize(safe_unicode(str(tag))) for tag in tags)


def _without_secrets(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[Secret, ...]]:
    """Tags as they are kept, and the secrets that stood in them."""
    redactions = [redact_secrets(name) for name in names]
    short = [redaction.text.strip()[:MAX_TAG] for redaction in redactions]
    kept = tuple(dict.fromkeys(name for name in short if name))[:MAX_TAGS]
    return kept, tuple(finding for redaction in redactions for finding in redaction.findings)


def _places(findings: tuple[Secret, ...], in_tags: tuple[Secret, ...]) -> tuple[str, ...]:
    places = [f"{finding.start}-{finding.end}" for finding in findings[:MAX_PLACES]]
    return (*places, "tag") if in_tags else tuple(places)


def _bounds(longest: int) -> Bounds:
    """Room for the longest text and the most tags as JSON, where one character takes 6 bytes."""
    return Bounds(total_bytes=6 * (longest + MAX_TAGS * MAX_TAG) + 1_000)


def _codes(findings: list[Finding]) -> tuple[str, ...]:
    return tuple(sorted({f"{finding.kind}:{finding.name}" for finding in findings}))
