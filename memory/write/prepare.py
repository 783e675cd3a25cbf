"""Prepares a draft for storage: the steps of the write path without I/O; builds
its record from the request that stores it.

The order is: bounds, Unicode, sanitise (uncut), secrets, injection, trust, markers of low-trust
text, cut, credential check.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.ports.memory import REDACTION_NOTICE
from gateway.text import Text, text, verbatim
from memory.model.record import (
    CONFIDENCE,
    EPISODIC_MAX_TTL,
    EPISODIC_TTL,
    MAX_ARGUMENT,
    MAX_DOCUMENT,
    MAX_MEMORY,
    MAX_TAG,
    MAX_TAGS,
    SOURCE_TYPE,
    Derived,
    Draft,
    Evidence,
    InputKind,
    Kind,
    Provenance,
    Record,
    Scope,
    Tier,
    Trust,
    derive_trust,
    new_id,
)
from memory.model.scope import AccessScope, RequestScope, channel_of
from memory.text.clean_json import Cleaner, cleaned_object
from memory.text.similarity import JACCARD_THRESHOLD
from memory.write.only_secret import says_more
from safety.bounds import InputBounds, OutOfBounds, snapshot
from safety.injection_detection.detect import InjectionFinding, detect_injection, neutralise_markers
from safety.sanitize import sanitize
from safety.secret_detection.credential_sentences import (
    STATED_WORD,
    looks_like_credential,
    may_state_credential,
)
from safety.secret_detection.detect import redact_secrets
from safety.secret_detection.kinds import Level, SecretFinding
from safety.unicode import cut, safe_unicode

SHORTENED: Final = text("I shortened it to {limit} characters.")
MAX_PLACES: Final = 20
MAX_READ: Final = MAX_DOCUMENT + 4_000
"""Characters of a turn that are searched: a secret at the cut is removed whole."""
NOT_KEPT: Final = text("This holds a password or a key, which I do not keep.")
NOTHING_BESIDE: Final = text(
    "This is a password or a key and nothing else. I do not keep those, so nothing was stored. "
    "Keep it in a password manager, and tell me where to find it instead."
)
NOTHING_LEFT: Final = text(
    "I removed what I do not store, such as passwords, keys and invisible characters, and no text "
    "is left. Please write it in other words."
)
LOOKS_SECRET: Final = text("This looks like a password or a key, which I do not keep.")
NOT_STORABLE: Final = text("This cannot be stored: {problem}")
NO_TEXT_GIVEN: Final = text("This cannot be stored: it is not text")
TOO_LONG: Final = text("This is longer than {most} characters.")
REDACTED: Final = REDACTION_NOTICE


class DraftRefusal(Struct, frozen=True):
    """The reason why a draft cannot be stored; `code` is stable."""

    code: str
    reason: Text


class Prepared(Struct, frozen=True):
    """A text that may be stored, and the findings in it.

    `secrets` and `injections` are codes; `places` are positions of removed secrets, "12-32" or
    "tag". `possible` and `possible_places` are those of possible secrets, which are in the text.
    `doubtful`: it contains one, or states a word as if it were one, so its owner decides.
    """

    content: str
    """The text as it may be stored."""
    tags: tuple[str, ...]
    """The tags, cleaned and bounded."""
    derived: Derived
    """The source and the trust of the text."""
    secrets: tuple[str, ...] = ()
    definite: bool = False
    """True if a removed secret is certainly one."""
    doubtful: bool = False
    injections: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    possible_places: tuple[str, ...] = ()
    notices: tuple[Text, ...] = ()
    """Sentences for the person."""
    evidence: Mapping[str, Any] = {}
    """Further fields of the evidence, cleaned."""

    @property
    def redacted(self) -> dict[str, str]:
        """The removed secrets for the audit log: kinds, certainty and positions."""
        level = Level.DEFINITE if self.definite else Level.PROBABLE
        return _noted(self.secrets, level, self.places)

    @property
    def kept(self) -> dict[str, str]:
        """The possible secrets in the text for the audit log: kinds, certainty and positions."""
        return _noted(self.possible, Level.POSSIBLE, self.possible_places)


def _noted(kinds: tuple[str, ...], level: Level, places: tuple[str, ...]) -> dict[str, str]:
    return {"kinds": " ".join(kinds), "level": level.value, "location": " ".join(places)}


def prepare(
    draft: Draft,
    kind: InputKind,
    tier: Tier,
    *,
    fail_on_secret: bool = False,
    limit: int = MAX_MEMORY,
    longest: int = MAX_ARGUMENT,
    of_turn: bool = False,
    external: bool = False,
) -> Prepared | DraftRefusal:
    """Run the steps. Pure and deterministic.

    A text of more than `longest` characters is refused, one of more than `limit` is shortened. A
    memory that says nothing beside its secrets is refused, a side of a turn (`of_turn`) is not.
    `external` is as in `Provenance`.
    """
    bounded = _bounded(draft, longest)
    if isinstance(bounded, DraftRefusal):
        return bounded
    content, names, fields = bounded
    redaction = redact_secrets(sanitize(safe_unicode(content)))
    tags, in_tags = _without_secrets(names)
    secrets = (*redaction.findings, *in_tags)
    levels = {finding.kind.level for finding in secrets}
    sure = levels & {Level.DEFINITE, Level.PROBABLE}
    if sure and (fail_on_secret or not (of_turn or says_more(redaction.text))):
        return DraftRefusal("secret", NOT_KEPT if fail_on_secret else NOTHING_BESIDE)
    injections = detect_injection(redaction.text)
    derived = derive_trust(kind, injection=bool(injections), external=external)
    low = derived.trust is Trust.LOW
    text = neutralise_markers(redaction.text) if low else redaction.text
    short = cut(text, limit)
    notices = (REDACTED,) if sure else ()
    if len(short) < len(text.strip()):
        notices = (*notices, SHORTENED.of(limit=verbatim(str(limit))))
    refusal = _refusal(short, tier)
    if refusal is not None:
        return refusal
    stated = tier is Tier.SEMANTIC and may_state_credential(short)
    removed, removed_places = _told(redaction.findings, in_tags, sure=True)
    possible, possible_places = _told(redaction.findings, in_tags, sure=False)
    return Prepared(
        content=short,
        tags=tags,
        derived=derived,
        secrets=removed,
        definite=Level.DEFINITE in levels,
        doubtful=bool(possible) or stated,
        injections=_codes(injections),
        places=removed_places,
        possible=possible or ((STATED_WORD,) if stated else ()),
        possible_places=possible_places,
        notices=notices,
        evidence=fields,
    )


def prepare_turn(text: str, kind: InputKind) -> Prepared | DraftRefusal:
    """Prepare one side of a turn, which may be as long as a document."""
    draft = Draft(text[:MAX_READ], Kind.CONTEXT)
    return prepare(draft, kind, Tier.EPISODIC, limit=MAX_DOCUMENT, longest=MAX_READ, of_turn=True)


def _refusal(short: str, tier: Tier) -> DraftRefusal | None:
    """Return the reason why a prepared text cannot be stored, None for none."""
    if not short.strip():
        return DraftRefusal("empty", NOTHING_LEFT)
    if tier is Tier.SEMANTIC and looks_like_credential(short):
        return DraftRefusal("credential", LOOKS_SECRET)
    return None


def _bounded(
    draft: Draft, longest: int
) -> tuple[str, tuple[str, ...], dict[str, object]] | DraftRefusal:
    """Return the texts of a draft, copied and measured before any other step."""
    try:
        frozen = snapshot([draft.content, list(draft.tags)], _bounds(longest))
        fields = cleaned_object(dict(draft.evidence), "evidence", Cleaner())
    except (OutOfBounds, BadInput) as error:
        return DraftRefusal("out_of_bounds", NOT_STORABLE.of(problem=verbatim(str(error))))
    content, tags = frozen if isinstance(frozen, tuple) else ("", ())
    if not isinstance(content, str) or not isinstance(tags, tuple):
        return DraftRefusal("out_of_bounds", NO_TEXT_GIVEN)
    if len(content) > longest:
        return DraftRefusal("too_long", TOO_LONG.of(most=verbatim(str(longest))))
    given = {name: value for name, value in fields.items() if name != SOURCE_TYPE}
    return content, tuple(sanitize(safe_unicode(str(tag))) for tag in tags), given


def _without_secrets(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[SecretFinding, ...]]:
    """Return the tags to store, and the secrets in them."""
    redactions = [redact_secrets(name) for name in names]
    short = [redaction.text.strip()[:MAX_TAG] for redaction in redactions]
    kept = tuple(dict.fromkeys(name for name in short if name))[:MAX_TAGS]
    return kept, tuple(finding for redaction in redactions for finding in redaction.findings)


def _told(
    in_text: tuple[SecretFinding, ...], in_tags: tuple[SecretFinding, ...], *, sure: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the kinds and the places of the secrets that are `sure`, or of the others."""
    text = [one for one in in_text if (one.kind.level is not Level.POSSIBLE) is sure]
    tags = [one for one in in_tags if (one.kind.level is not Level.POSSIBLE) is sure]
    places = [f"{one.start}-{one.end}" for one in text[:MAX_PLACES]]
    kinds = tuple(sorted({one.kind.name for one in (*text, *tags)}))
    return kinds, (*places, "tag") if tags else tuple(places)


def _bounds(longest: int) -> InputBounds:
    """Return bounds for the longest text and most tags as JSON, with 6 bytes a character."""
    return InputBounds(total_bytes=6 * (longest + MAX_TAGS * MAX_TAG) + 1_000)


def _codes(findings: list[InjectionFinding]) -> tuple[str, ...]:
    return tuple(sorted({f"{finding.kind}:{finding.name}" for finding in findings}))


MAX_LENGTH: Final = 10_000
"""Characters of a SOUL or BIBLE; memories are shorter."""
_MAX_PASSES: Final = 4


def sanitize_brain_content(text: str, max_length: int = MAX_LENGTH) -> str:
    """The text with safe Unicode, sanitised as a whole, then cut to `max_length` and stripped.

    Never longer than `max_length` characters; it is idempotent. May be empty. Markup that the cut
    creates is sanitised too; if the result does not become stable, it is empty. Raises `ValueError`
    for a negative length.
    """
    for _ in range(_MAX_PASSES):
        before = text
        text = sanitize(safe_unicode(text)).strip()
        text = cut(text, max_length).strip()
        if text == before:
            return text
    return text if _at_rest(text, max_length) == text else ""


def _at_rest(text: str, max_length: int) -> str:
    return cut(sanitize(safe_unicode(text)).strip(), max_length).strip()


class WriteRules(Struct, frozen=True):
    """The `memory.*` settings for writing."""

    fail_on_secret: bool = False
    episodic_ttl: timedelta = EPISODIC_TTL
    episodic_max_ttl: timedelta = EPISODIC_MAX_TTL
    dedup_threshold: float | None = JACCARD_THRESHOLD
    """The share of common words from which two memories count as the same; None for no check."""

    @property
    def lives(self) -> timedelta:
        """The lifetime of an episodic memory."""
        return min(self.episodic_ttl, self.episodic_max_ttl)


def new_record(
    request: RequestScope,
    access: AccessScope,
    draft: Draft,
    prepared: Prepared,
    *,
    external: bool,
    at: datetime,
    lives: timedelta,
) -> Record:
    """Return the record of a prepared draft."""
    tier, place = draft.kind.tier, request.place
    derived = prepared.derived
    provenance = Provenance(
        source=derived.source,
        trust=derived.trust,
        person=access.person,
        at=at,
        session=request.session,
        message_id=request.message_ids[-1] if request.message_ids else "",
        conversation=request.conversation,
        room=access.room,
        channel=channel_of(place),
        audience=place.audience,
        external=external,
        agent=request.agent,
        from_repository=request.from_repository,
    )
    return Record(
        id=new_id(),
        tenant=access.tenant,
        scope=draft.scope,
        tier=tier,
        kind=draft.kind,
        content=prepared.content,
        provenance=provenance,
        evidence=Evidence(
            prepared.content, at, CONFIDENCE[derived.trust], fields=prepared.evidence
        ),
        project=access.project if draft.scope is Scope.PROJECT else "",
        tags=prepared.tags,
        true_from=draft.true_from,
        true_until=draft.true_until,
        expires_at=at + lives if tier is Tier.EPISODIC else None,
        supersedes=draft.supersedes,
        derived_from=request.message_ids,
        agent_private=draft.agent_private and bool(request.agent) and draft.scope is Scope.USER,
    )
