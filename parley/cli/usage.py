"""`parley usage`: what answers cost, of a person or of everybody."""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from gateway.errors import BadInput
from gateway.extensions import ExtensionRegistry
from gateway.llm.prices import AS_OF
from gateway.observe.spending import SpendingReader, SpendingSummary
from gateway.people import PersonId
from gateway.policy.budgets import MICRO
from gateway.ports.clock import SystemClock
from parley.cli.memory_access import person_of, readable, tenants_of_accounts
from parley.cli.memory_table import print_json
from parley.config import Settings
from parley.extensions import load_extensions
from parley.wiring.memory import wire_memory
from parley.wiring.policies import policies_of
from parley.wiring.storage import Storage

PRICED: Final = f"by the prices of {AS_OF} and those of budgets.prices"
NOTHING: Final = "Nothing was spent in this time."


def run(
    config: Path | None,
    env: Mapping[str, str],
    person: str,
    days: int,
    *,
    tenant: str = "",
    as_json: bool,
) -> int:
    """Print the sums by model, and what is left of a person's budgets. Raises `BadInput` where
    several tenants are served and none of them is named."""
    settings = readable(config, env)
    extensions = load_extensions(settings)
    whom = person_of(person) if person else None
    whose = tenant or _tenant_of(settings, extensions, whom)
    spent = asyncio.run(_spent(settings, whose, whom, days))
    if as_json:
        print_json([lines_of(spent)])
    else:
        sys.stdout.writelines(f"{line}\n" for line in told(spent))
    return 0


def lines_of(spent: SpendingSummary) -> dict[str, object]:
    """It as a JSON object; amounts in millionths of a dollar."""
    return {
        "micros": spent.micros,
        "models": [
            {"model": one.model, "calls": one.calls, **asdict(one.usage), "micros": one.micros}
            for one in spent.totals
        ],
        "budgets": [asdict(one) for one in spent.allowances],
    }


def told(spent: SpendingSummary) -> Iterator[str]:
    """It in words, line by line."""
    for one in spent.totals:
        usage = one.usage
        read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        answers = f"{one.calls:,} answer{'s' * (one.calls != 1)}"
        yield (
            f"{_dollars(one.micros)}  {one.model}: {answers}, {read:,} tokens read, "
            f"{usage.output_tokens:,} written"
        )
    yield f"{_dollars(spent.micros)}  in all, {PRICED}" if spent.totals else NOTHING
    for budget in spent.allowances:
        yield f"{budget.name}: {_dollars(budget.spent)} of {_dollars(budget.limit)} used"


def _dollars(micros: int) -> str:
    return f"${micros / MICRO:,.4f}"


def _tenant_of(settings: Settings, extensions: ExtensionRegistry, person: PersonId | None) -> str:
    if person is not None:
        return extensions.tenant_of_person(person)
    tenants = tenants_of_accounts(settings, extensions)
    if len(tenants) != 1:
        named = ", ".join(tenants) or "none is known from the configured accounts"
        raise BadInput(f"Name one tenant with --tenant: {named}.")
    return tenants[0]


async def _spent(
    settings: Settings, tenant: str, person: PersonId | None, days: int
) -> SpendingSummary:
    clock = SystemClock()
    storage = Storage(settings, clock)
    stores = storage.stores
    wired = wire_memory(settings, storage.memory, (), stores.states, storage.history, clock)
    spending = SpendingReader(stores.usage, wired.humans, policies_of(settings).budgets, clock)
    try:
        await storage.start(exclusive=False)
        if person is None:
            return await spending.of_everybody(tenant, days)
        persons = [str(person)]
        if wired.links is not None:
            linked = await wired.links.linked(tenant, str(person))
            persons += [one.side.person for one in linked]
        return await spending.of(tenant, person, persons, days)
    finally:
        await storage.stop()
