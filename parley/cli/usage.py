"""`parley usage`: the cost of answers, of a person or of everybody."""

from collections.abc import Iterator
from typing import Annotated, Final

import typer
from msgspec.structs import asdict

from gateway.errors import UsageError
from gateway.extensions import ExtensionRegistry
from gateway.llm.prices import AS_OF
from gateway.people import PersonId
from gateway.policy.budgets import MICRO
from gateway.ports.clock import SystemClock
from gateway.stores.usage import MAX_DAYS, SpendingReader, SpendingSummary
from parley.cli.memory_access import tenants_of_accounts
from parley.cli.options import AsJson, Config, OfPerson, Tenant
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import show
from parley.config import Settings
from parley.security.tokens import person_of
from parley.wiring.extensions import load_extensions
from parley.wiring.live_configuration import stored_configuration
from parley.wiring.memory import wire_memory
from parley.wiring.policies import policies_of
from parley.wiring.storage import Storage

PRICED: Final = f"by the prices of {AS_OF} and those of budgets.prices"
NOTHING: Final = "Nothing was spent in this time."


def usage(
    person: OfPerson = "",
    days: Annotated[
        int, typer.Option(min=1, max=MAX_DAYS, help="Number of days, the last one today.")
    ] = 30,
    tenant: Tenant = "",
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the sums by model, and what is left of a person's budgets. Raises `BadInput` where
    several tenants are served and none of them is named."""
    settings = settings_with_database(config)
    extensions = load_extensions(settings)
    one = person_of(person) if person else None
    chosen = tenant or _tenant_of(settings, extensions, one)
    spent = with_storage(settings, lambda storage: _spent(settings, storage, chosen, one, days))
    show([_as_values(spent)], _as_lines(spent), as_json=as_json)
    return 0


def _as_values(spent: SpendingSummary) -> dict[str, object]:
    """The summary for JSON; amounts in millionths of a dollar."""
    return {
        "micros": spent.micros,
        "models": [
            {"model": one.model, "calls": one.calls, **asdict(one.usage), "micros": one.micros}
            for one in spent.totals
        ],
        "budgets": [asdict(one) for one in spent.allowances],
    }


def _as_lines(spent: SpendingSummary) -> Iterator[str]:
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
        raise UsageError(f"Name one tenant with --tenant: {named}.")
    return tenants[0]


async def _spent(
    settings: Settings, storage: Storage, tenant: str, person: PersonId | None, days: int
) -> SpendingSummary:
    clock, stores = SystemClock(), storage.stores
    wired = wire_memory(settings, storage, clock)
    budgets = policies_of((await stored_configuration(settings, storage)).settings).budgets
    spending = SpendingReader(stores.usage, wired.identities, lambda: budgets, clock)
    if person is None:
        return await spending.of_everybody(tenant, days)
    persons = [str(person)]
    if wired.links is not None:
        linked = await wired.links.linked(tenant, str(person))
        persons += [one.side.person for one in linked]
    return await spending.of(tenant, person, persons, days)
