"""Tokens that stand for one person, or for one agent of a person: signed, expiring, without rights
of their own.

`parley_PAYLOAD.SIGNATURE`: base64url of a small JSON object, and of the HMAC-SHA256 over it. The
rights of the person are looked up in the configuration at each request, and the agent with its
capabilities in the database. The scopes of a token only narrow them.
"""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, Self

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gateway.errors import BadInput, UsageError
from gateway.people import PersonId
from gateway.ports.rights import EVERY_SCOPE, TokenScope

PREFIX: Final = "parley_"
MAX_TOKEN: Final = 2_000
MAX_PERSON: Final = 300
MAX_ID: Final = 32
_PURPOSE: Final = b"parley person token v1\0"

TokenProblem = Literal["token_wrong", "token_expired"]


class TokenClaims(Struct, frozen=True):
    """The person of a token, its expiry, and what it is for. It is revoked by its `id`; without one
    it is valid until it expires, or all tokens are revoked. `agent` is the id of the agent of this
    person for which it stands; empty: it stands for the person."""

    person: PersonId
    tenant: str
    """The tenant of the person."""
    until: datetime
    id: str = ""
    scopes: frozenset[TokenScope] = EVERY_SCOPE
    """The kinds of actions that it allows; the default allows all of them."""
    agent: str = ""


class BadToken(UsageError):
    """An invalid token; `problem` is the reason as far as the client may know it."""

    def __init__(self, problem: TokenProblem) -> None:
        super().__init__(problem)
        self.problem = problem


class _Payload(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    person: Annotated[str, Field(max_length=MAX_PERSON)]
    tenant: Annotated[str, Field(min_length=1, max_length=MAX_PERSON)]
    until: Annotated[int, Field(ge=0, lt=2**33)]
    key: str
    id: Annotated[str, Field(max_length=MAX_ID)] = ""
    scopes: Annotated[list[str], Field(min_length=1, max_length=len(TokenScope))] | None = None
    """None: a token for everything, as those that were issued before there were scopes."""
    kind: Literal["agent"] | None = None
    """None: a token of the person, as those that were issued before agents had tokens."""
    agent: Annotated[str, Field(min_length=1, max_length=MAX_ID)] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.kind is None) != (self.agent is None):
            raise ValueError("a token of an agent names its kind and the agent")
        return self


def issue(key: bytes, claims: TokenClaims) -> str:
    """A signed token with these claims. Raises `ValueError` without a key or a scope."""
    if not key or not claims.scopes:
        raise ValueError("a token needs a key and a scope")
    payload: dict[str, object] = {
        "person": str(claims.person),
        "tenant": claims.tenant,
        "until": int(claims.until.timestamp()),
        "key": key_id(key),
    }
    if claims.id:
        payload["id"] = claims.id
    if claims.scopes != EVERY_SCOPE:
        payload["scopes"] = sorted(claims.scopes)
    if claims.agent:
        payload |= {"kind": "agent", "agent": claims.agent}
    body = _text(json.dumps(payload, separators=(",", ":")).encode())
    return f"{PREFIX}{body}.{_signature(key, body)}"


def read(key: bytes, token: str, now: datetime) -> TokenClaims:
    """The claims of a token. Raises `BadToken` for an invalid or expired one.

    The signature is compared first, in constant time.
    """
    if not key or not token.startswith(PREFIX) or len(token) > MAX_TOKEN or not token.isascii():
        raise BadToken("token_wrong")
    body, _, signature = token.removeprefix(PREFIX).partition(".")
    if not hmac.compare_digest(signature, _signature(key, body)):
        raise BadToken("token_wrong")
    try:
        payload = _Payload.model_validate_json(_bytes(body))
        person = person_of(payload.person)
        scopes = (
            EVERY_SCOPE if payload.scopes is None else frozenset(map(TokenScope, payload.scopes))
        )
    except (ValidationError, ValueError, BadInput):
        raise BadToken("token_wrong") from None
    if payload.key != key_id(key):
        raise BadToken("token_wrong")
    until = datetime.fromtimestamp(payload.until, UTC)
    if now >= until:
        raise BadToken("token_expired")
    agent = payload.agent or ""
    return TokenClaims(person, payload.tenant, until, payload.id, scopes, agent)


def person_of(text: str) -> PersonId:
    """The person in the form of `str(PersonId)`. Raises `BadInput` for anything else."""
    platform, _, rest = text.partition(":")
    account, _, inside = rest.partition(":")
    if not (platform and account and inside) or len(text) > MAX_PERSON or not text.isprintable():
        raise UsageError("A person is written PLATFORM:ACCOUNT:ID, such as telegram:main:123.")
    return PersonId(platform, account, inside)


def key_id(key: bytes) -> str:
    """A name of a key that reveals nothing of it."""
    return hashlib.sha256(b"parley person token key\0" + key).hexdigest()[:8]


def _signature(key: bytes, body: str) -> str:
    return _text(hmac.new(key, _PURPOSE + body.encode(), hashlib.sha256).digest())


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
