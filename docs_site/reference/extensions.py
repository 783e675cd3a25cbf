"""The page of an extension's methods, written from the protocols of `gateway.extensions`."""

from typing import Final

from docs_site.reference.code_values import methods, modules, value
from docs_site.reference.tables import table
from gateway.extensions import (
    AccessController,
    AuditLogger,
    Extension,
    TenantProvider,
    UsageTracker,
)
from gateway.message import Place
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.usage import UsageRow

HEAD: Final = """\
# Extensions

Every method of an extension: when it is called, what it returns, and what follows from anything
else. [Write an extension](../how-to/write-an-extension.md) has the steps and an example.
"""
NOTES: Final = """
`get_tenant_id` and `get_tenant_filter` are not async and have no time limit: they hold up every
message. The log warns of a call of more than 0.1 seconds (`tenant_provider_slow`).

`check_access` does not return a bool: a bool has no reason. `allowed` is True or False. `stage` and
`reason` are codes of lower-case letters, digits and `_`, at most 64: `parley why` shows the reason,
and metrics count it, so have few of them and no ids. A method whose annotation names another result
than `Decision` stops the start.

`python -m docs_site.reference` writes this page from
[`gateway/extensions.py`](../../gateway/extensions.py).
"""
HOOKS: Final = (
    (
        "the function of the entry point",
        "once, at the start, with the options",
        "an `Extension` with at least one part",
        "the program does not start: the key, the package, the reason, the repair",
    ),
    (
        "`get_tenant_id`",
        "for every event, on the event loop",
        "a text: the name of the tenant",
        "no tenant: refused, not stored, counted as `tenant_unknown`; the log names the type",
    ),
    (
        "`get_tenant_filter`",
        "right after it",
        '`{"tenant_id": VALUE}` and nothing else',
        "as for `get_tenant_id`",
    ),
    (
        "`track`",
        "once for each turn with a cost, after it was settled",
        "nothing; a result is ignored",
        "logged as `tracking_failed`, with several trackers as `extension_failed`; no other effect",
    ),
    (
        "`audit`",
        (
            "for refusals (at most four a minute for each sender), withheld answers, and calls "
            "of tools with side effects"
        ),
        "nothing; a result is ignored",
        "logged as `audit_failed`, with several loggers as `extension_failed`; no other effect",
    ),
    (
        "`check_access`",
        (
            "after the lists and the approvals allowed, before the limits and the model; also "
            "for the console's page *Check what a person may do*"
        ),
        "a `Decision`",
        (
            "refused: `controller_invalid` for another result, `controller_failed` for an "
            "exception; both are logged"
        ),
    ),
)
"""Each method: when it is called, what it returns, and what follows from anything else."""
PARTS: Final = {
    "tenant_provider": TenantProvider,
    "usage_tracker": UsageTracker,
    "audit_logger": AuditLogger,
    "access_controller": AccessController,
}
VALUES: Final[tuple[type, ...]] = (Extension, Decision, Place, PersonId, UsageRow, Usage)
"""The values that the methods receive and return."""


def extensions() -> str:
    """The text of the page."""
    head = ("Method", "Called", "Returns", "Anything else, an exception, no result in 10 seconds")
    parts = [HEAD, *table(head, HOOKS), NOTES]
    for name, protocol in PARTS.items():
        parts += [f"## `{name}`\n", *methods(protocol)]
    parts += ["## Values\n", f"From {modules(VALUES)}.\n", *(value(one) for one in VALUES)]
    return "\n".join(parts).rstrip() + "\n"
