"""The formats of keys and tokens that their issuers can be told by, by subject."""

from typing import Final

from safety.secret_detection.vendors.business import (
    CHAT,
    DATA,
    MAIL,
    MONEY,
    TEAMS,
    WALLETS,
    WEBHOOKS,
)
from safety.secret_detection.vendors.developer_services import CLOUDS, CODE, MODELS, SECRET_MANAGERS
from safety.secret_detection.vendors.format import kinds_of

ISSUED: Final = tuple(
    kinds_of(
        (
            *(*MODELS, *CLOUDS, *SECRET_MANAGERS, *CODE, *CHAT, *MAIL, *WEBHOOKS),
            *(*MONEY, *WALLETS, *TEAMS, *DATA),
        )
    )
)
"""Every kind in the tables."""
