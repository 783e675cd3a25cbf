"""All views and actions of the console, in the order of the navigation."""

from typing import Final

from parley.console.route import AnyRoute
from parley.console.views import account, conversations, overview
from parley.console.views.memory import documents

ROUTES: Final[tuple[AnyRoute, ...]] = (
    *overview.ROUTES,
    *conversations.ROUTES,
    *documents.ROUTES,
    *account.ROUTES,
)
