"""`parley token`: a token with which one person reaches what is theirs over HTTP."""

import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from gateway.clock import SystemClock
from gateway.errors import BadInput
from parley.settings import Settings, load
from parley.token_key import token_key
from parley.tokens import Holder, issue, person_of


def run(person: str, days: int, tenant: str, config: Path | None, env: Mapping[str, str]) -> int:
    """Print a token for this person. Raises `BadInput` for somebody of no account of ours."""
    settings = load(config, env)
    known = person_of(person)
    _check_account(settings, known.platform, known.account)
    until = SystemClock().now() + timedelta(days=days)
    token = issue(token_key(settings).made(), Holder(known, tenant, until))
    sys.stdout.write(f"{token}\n")
    sys.stderr.write(f"For {known}, until {until:%Y-%m-%d %H:%M} UTC. Whoever has it is them.\n")
    return 0


def revoke_all(config: Path | None, env: Mapping[str, str]) -> int:
    """Make every token worthless, at once."""
    token_key(load(config, env)).revoke_all()
    sys.stdout.write("Every token is revoked.\n")
    return 0


def _check_account(settings: Settings, platform: str, account: str) -> None:
    ours = [f"{each.platform}:{each.name}" for each in settings.accounts()]
    if f"{platform}:{account}" not in ours:
        listed = ", ".join(ours) or "none"
        raise BadInput(f"There is no account {platform}:{account} here. There is: {listed}.")
