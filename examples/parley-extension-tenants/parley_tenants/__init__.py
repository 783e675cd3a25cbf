"""Tells tenants apart by account and by person, as a JSON file says, and keeps an audit of its own.

Options: `file`, the tenants by "platform:account" and "platform:account:id"; `audit`, a file to
which every security event is appended, a JSON object a line (left out: none).
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.extensions import Extension
from gateway.message import Place
from gateway.people import PersonId
from gateway.policy.decision import Decision


@dataclass(frozen=True, slots=True)
class ByFile:
    """A `TenantProvider`. A person's own entry counts more than that of the account."""

    tenants: Mapping[str, str]

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        """Return the tenant. Raises `LookupError` for people without one, who are refused."""
        account = f"{place.platform}:{place.account}"
        named = self.tenants.get(str(person)) or self.tenants.get(account)
        if named is None:
            raise LookupError("not named in the file")
        return named

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        """Each tenant's rows carry its name."""
        return {"tenant_id": tenant_id}


@dataclass(frozen=True, slots=True)
class ToFile:
    """An `AuditLogger`."""

    path: Path

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Append an event."""
        line = {"event": event, "person": str(person), "reason": decision.reason}
        await asyncio.to_thread(self._append, json.dumps(line))

    def _append(self, line: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def extension(options: Mapping[str, str]) -> Extension:
    """Return the extension; the entry point names this function. An exception stops the start of
    Parley and is shown."""
    if "file" not in options:
        raise ValueError("set extensions.options.tenants.file")
    tenants = json.loads(Path(options["file"]).read_text(encoding="utf-8"))
    audit = ToFile(Path(options["audit"])) if "audit" in options else None
    return Extension(tenant_provider=ByFile(tenants), audit_logger=audit)
