"""The cost of a person's answers, over HTTP."""

from gateway.ports.rights import TOKEN_READS
from parley.http.api.models import BudgetOut, ModelUsageOut, Nothing, UsageOut, UsageQuery
from parley.http.api.operations import Answer, AnyOperation, Call, Operation


def usage_operations() -> tuple[AnyOperation, ...]:
    """Return the operation on usage."""
    return (
        Operation(
            "GET",
            "/usage",
            "usage",
            "Read the cost of your answers",
            TOKEN_READS,
            usage,
            UsageQuery,
            Nothing,
            {200: (UsageOut, "The cost by model, and your budgets.")},
            {404: "You do not belong to this project."},
        ),
    )


async def usage(call: Call, query: UsageQuery, _body: Nothing) -> Answer:
    """Return the cost for all linked identities together."""
    access, person = call.handle.access, call.handle.request.principal.person
    spent = await call.spending.of(access.tenant, person, access.persons, query.days)
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
    return Answer(200, UsageOut(micros=spent.micros, models=models, budgets=budgets))
