"""The formats of keys and tokens that their issuers can be told by, by subject."""

from typing import Final

from safety.vendors.clouds import CLOUDS, KEEPERS
from safety.vendors.code import CODE
from safety.vendors.format import kinds_of
from safety.vendors.models import MODELS
from safety.vendors.money import MONEY, WALLETS
from safety.vendors.people import CHAT, MAIL, WEBHOOKS
from safety.vendors.work import DATA, TEAMS

ISSUED: Final = tuple(
    kinds_of(
        (
            *(*MODELS, *CLOUDS, *KEEPERS, *CODE, *CHAT, *MAIL, *WEBHOOKS),
            *(*MONEY, *WALLETS, *TEAMS, *DATA),
        )
    )
)
"""Every kind in the tables."""
