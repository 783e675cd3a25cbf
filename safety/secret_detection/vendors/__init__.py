"""The formats of keys and tokens that their issuers can be told by, by subject."""

from typing import Final

from safety.secret_detection.vendors.business import DATA, TEAMS
from safety.secret_detection.vendors.clouds import CLOUDS, SECRET_MANAGERS
from safety.secret_detection.vendors.code import CODE
from safety.secret_detection.vendors.format import kinds_of
from safety.secret_detection.vendors.language_models import MODELS
from safety.secret_detection.vendors.messaging import CHAT, MAIL, WEBHOOKS
from safety.secret_detection.vendors.payments import MONEY, WALLETS

ISSUED: Final = tuple(
    kinds_of(
        (
            *(*MODELS, *CLOUDS, *SECRET_MANAGERS, *CODE, *CHAT, *MAIL, *WEBHOOKS),
            *(*MONEY, *WALLETS, *TEAMS, *DATA),
        )
    )
)
"""Every kind in the tables."""
