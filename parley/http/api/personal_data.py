"""Export and import of a person's data, and the cost of the answers, over HTTP."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import BadInput
from gateway.ports.action import PROGRAMS, Effect, Input, Nothing, Output, action
from memory.actions.call import Digits
from memory.commands.privacy import taken_in
from memory.transfer.exporter import personal_file
from memory.transfer.importer import LineReport
from parley.http.api.operations import ApiCall

MAX_FILE: Final = 1024 * 1024
MAX_IMPORT: Final = 2 * MAX_FILE
"""Bytes of the body: the file as a JSON string, where a quotation mark takes two."""
MAX_DAYS: Final = 400


class ImportBody(Input):
    """The file of an export, unchanged."""

    file: Annotated[str, StringConstraints(min_length=1, max_length=MAX_FILE)]


class ExportOut(Output):
    """Everything that is stored about the person: a header and JSON lines."""

    file: str
    """The whole file, which an import takes unchanged."""


class ImportedEntryOut(Output):
    """The outcome of an entry of an import. `line` counts from 1; the header is line 1. `id` is the
    id of the memory, or of its review."""

    line: int
    outcome: Literal["stored", "known", "waiting", "refused", "left", "unreadable"]
    """The decision about the entry."""
    reason: str
    """The reason of the decision, for people; empty for none."""
    id: str | None


class ImportOut(Output):
    """The outcome of each entry, in order."""

    entries: list[ImportedEntryOut]
    """One outcome for each entry of the file."""


@action("Export everything that is stored about you", by=PROGRAMS, effect=Effect.READS)
async def give_out(call: ApiCall, given: Nothing) -> ExportOut:
    """The same as `/privacy export`."""
    data, _ = await personal_file(call.handle)
    return ExportOut(file=data.decode())


@action("Import the memories of an export", by=PROGRAMS, effect=Effect.WRITES)
async def bring_in(call: ApiCall, given: ImportBody) -> ImportOut:
    """The same as `/privacy import`."""
    data = given.file.encode("utf-8", "replace")
    try:
        reports = [one async for one in taken_in(call.handle, data, turns=call.turns)]
    except BadInput as error:
        code = "no_export" if error.code == BadInput.code else error.code
        raise BadInput(error.text, code=code, where="body.file") from None
    return ImportOut(entries=[_entry(one) for one in reports])


def _entry(report: LineReport) -> ImportedEntryOut:
    return ImportedEntryOut(
        line=report.line,
        outcome=report.outcome.value,
        reason=report.reason.english,
        id=report.id or None,
    )


class UsagePeriod(Input):
    """The days to return."""

    days: Annotated[
        int, Field(ge=1, le=MAX_DAYS, description="Number of days, the last one today."), Digits
    ] = 30


class ModelUsageOut(Output):
    """The cost of one model's answers, in millionths of a dollar."""

    model: str
    """The name of the model."""
    answers: int
    """The number of calls."""
    input_tokens: int
    """Tokens of prompts, without those of the cache."""
    output_tokens: int
    """Tokens of answers."""
    cache_read_tokens: int
    """Tokens that were read from the provider's cache."""
    cache_write_tokens: int
    """Tokens that were written to the provider's cache."""
    micros: int
    """The cost in millionths of a dollar."""


class BudgetOut(Output):
    """A budget of the person, in millionths of a dollar."""

    name: str
    """The name of the budget, with its period."""
    spent: int
    """The part that is spent in the present period."""
    limit: int
    """The amount of one period."""


class UsageOut(Output):
    """The cost of the person's answers, the most expensive model first, and their budgets."""

    micros: int
    """The cost of all models in millionths of a dollar."""
    models: list[ModelUsageOut]
    """The cost of each model, the most expensive one first."""
    budgets: list[BudgetOut]
    """The budgets that are set."""


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
