"""The cost of a person's answers, over HTTP."""

from typing import Annotated, Final

from pydantic import Field

from gateway.ports.action import PROGRAMS, Effect, Input, Output, action
from memory.actions.call import Digits
from parley.http.api.operations import ApiCall

MAX_DAYS: Final = 400


class UsagePeriod(Input):
    """The days to return."""

    days: Annotated[
        int, Field(ge=1, le=MAX_DAYS, description="Number of days, the last one today."), Digits
    ] = 30


class ModelUsageOut(Output):
    """The cost of one model's answers, in millionths of a dollar."""

    model: str
    answers: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    micros: int


class BudgetOut(Output):
    """A budget of the person, in millionths of a dollar."""

    name: str
    spent: int
    limit: int


class UsageOut(Output):
    """The cost of the person's answers, the most expensive model first, and their budgets."""

    micros: int
    models: list[ModelUsageOut]
    budgets: list[BudgetOut]


@action("Read the cost of your answers", by=PROGRAMS, effect=Effect.READS)
async def usage(call: ApiCall, given: UsagePeriod) -> UsageOut:
    """Return the cost for all linked identities together."""
    access, person = call.handle.access, call.handle.request.principal.person
    spent = await call.spending.of(access.tenant, person, access.persons, given.days)
    models = [
        ModelUsageOut(
            model=one.model,
            answers=one.calls,
            input_tokens=one.usage.input_tokens,
            output_tokens=one.usage.output_tokens,
            cache_read_tokens=one.usage.cache_read_tokens,
            cache_write_tokens=one.usage.cache_write_tokens,
            micros=one.micros,
        )
        for one in spent.totals
    ]
    budgets = [
        BudgetOut(name=one.name, spent=one.spent, limit=one.limit) for one in spent.allowances
    ]
    return UsageOut(micros=spent.micros, models=models, budgets=budgets)
