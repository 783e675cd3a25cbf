"""All views and actions of the console, in the order of the navigation."""

from typing import Final

from parley.console.route import AnyRoute
from parley.console.views import (
    account,
    audit,
    break_glass,
    conversation,
    conversations,
    health,
    outbox,
    overview,
    person,
    playground,
    renderings,
    takeover,
    usage,
)
from parley.console.views.access import admissions, question
from parley.console.views.configuration import changes, page, trials, versions
from parley.console.views.memory import (
    accounts,
    agents,
    data,
    documents,
    entry,
    memories,
    pools,
    reviews,
    tokens,
    visibility,
)

ROUTES: Final[tuple[AnyRoute, ...]] = (
    *overview.ROUTES,
    *conversations.ROUTES,
    *conversation.ROUTES,
    *renderings.ROUTES,
    *takeover.ROUTES,
    *break_glass.ROUTES,
    *person.ROUTES,
    *outbox.ROUTES,
    *playground.ROUTES,
    *documents.ROUTES,
    *memories.ROUTES,
    *entry.ROUTES,
    *reviews.ROUTES,
    *visibility.ROUTES,
    *accounts.ROUTES,
    *agents.ROUTES,
    *pools.ROUTES,
    *tokens.ROUTES,
    *data.ROUTES,
    *usage.ROUTES,
    *admissions.ROUTES,
    *question.ROUTES,
    *page.ROUTES,
    *changes.ROUTES,
    *versions.ROUTES,
    *trials.ROUTES,
    *audit.ROUTES,
    *health.ROUTES,
    *account.ROUTES,
)
