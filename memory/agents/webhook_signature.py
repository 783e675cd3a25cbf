"""Signs the requests to event webhooks, with the headers of Standard Webhooks:

- `webhook-id`: the same for every attempt of an event, so that a receiver recognises a repetition.
- `webhook-timestamp`: the time of the attempt in seconds since 1970.
- `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`.
"""

import base64
import hashlib
import hmac
import json
from datetime import datetime
from typing import Final

from memory.agents.model import AgentEvent

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the beginning of a secret, not one


def key_of(secret: str) -> bytes:
    """Return the key of a secret: its bytes, or those that base64 after `whsec_` stands for. Raises
    ValueError for invalid base64."""
    if not secret.startswith(SECRET_PREFIX):
        return secret.encode()
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)


def body_of(event: AgentEvent) -> bytes:
    """Return the body of an event: its kind, time and ids, without people and content."""
    data = {
        "number": event.number,
        "agent": event.agent,
        "pool": event.pool,
        "handoff": event.handoff,
        "memory": event.memory,
    }
    whole = {"type": event.kind.value, "timestamp": event.at.isoformat(), "data": data}
    return json.dumps(whole, separators=(",", ":")).encode()


def signed_headers(key: bytes, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a request."""
    seconds = str(int(at.timestamp()))
    text = b".".join((message_id.encode(), seconds.encode(), body))
    signature = base64.b64encode(hmac.digest(key, text, hashlib.sha256)).decode()
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{signature}",
    }
