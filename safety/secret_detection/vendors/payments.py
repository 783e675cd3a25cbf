"""Keys of payment and trade, and of wallets."""

from typing import Final

from safety.secret_detection.vendors.alphabets import (
    ALNUM,
    ANY_HEX,
    BASE32,
    BASE64,
    DASHED_HEX,
    DIGITS,
    DOTTED,
    HEX,
    KEY,
    LETTERS,
    LOWER,
    WORD,
)
from safety.secret_detection.vendors.format import alone, anywhere, exactly

MONEY: Final = (
    anywhere(
        "stripe_key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", (ALNUM, 10, 250)
    ),
    anywhere("stripe_key", "sk_org_", (WORD, 20, 250)),
    alone("webhook_secret", "whsec_", (BASE64, 24, 120)),
    alone("square_token", "EAAA", (KEY, 22, 64)),
    anywhere("square_token", "sq0atp-", (KEY, 20, 60)),
    anywhere("square_token", "sq0csp-", (KEY, 30, 60)),
    anywhere(
        "shopify_token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shprt_", (ANY_HEX, 32, 40)
    ),
    alone("paypal_token", "A21AA", (KEY, 60, 120)),
    anywhere(
        "braintree_token", "access_token$", (LETTERS, 7, 10), "$", (LOWER, 16), "$", (HEX, 32)
    ),
    alone("plaid_token", "access-", (LETTERS, 7, 11), "-", (DASHED_HEX, 36)),
    anywhere("razorpay_key", "rzp_live_ rzp_test_", (ALNUM, 14, 24)),
    anywhere("paddle_key", "pdl_", (LETTERS, 4), "_apikey_", (WORD, 30, 80)),
    anywhere("flutterwave_key", "FLWSECK", (KEY, 12, 60)),
    alone("easypost_key", "EZAK EZTK", (ALNUM, 54)),
    anywhere("shippo_token", "shippo_live_ shippo_test_", (HEX, 40)),
    anywhere("duffel_token", "duffel_live_ duffel_test_", (KEY, 40, 50)),
    alone("payment_key", "live_", (KEY, 30, 64)),
    alone("payment_key", "test_", (ALNUM, 30, 64)),
    alone("checkout_key", "sk_sbox_", ("[a-z0-9*#$=]", 26, 28)),
    alone("checkout_key", "sk_", (BASE32, 26, 27)),
    alone("polar_token", "polar_oat_ polar_pat_", (ALNUM, 32, 60)),
    alone("midtrans_key", "Mid-server-", (KEY, 20, 40)),
    alone("asaas_key", "aact_", ("[A-Za-z0-9_:=]", 60, 250)),
    alone("pangea_token", "pts_", (BASE32, 32, 40)),
    alone("onfido_token", "api_live. api_sandbox.", (DOTTED, 20, 100)),
    alone("amazon_token", "amzn.mws.", (DASHED_HEX, 36)),
    alone("amazon_token", "amzn1.oa2-cs.v1.", (HEX, 60, 64)),
    alone("amazon_token", "Atzr| Atza|", ("[A-Za-z0-9+/=_-]", 60, 1000)),
    anywhere("xendit_key", "xnd_", (LETTERS, 4, 12), "_", (ALNUM, 30, 90)),
    alone(
        "adyen_key",
        "AQE",
        (LETTERS, 1),
        ("[A-Za-z0-9+/=-]", 60, 160),
        "=-",
        ("[A-Za-z0-9+/=<>(){}_!^~,.-]", 16, 90),
    ),
    anywhere("mercado_pago_token", "APP_USR-", (DIGITS, 13, 20), "-", (DIGITS, 6), "-", (HEX, 32)),
    exactly("woocommerce_key", "ck_ cs_", (HEX, 40)),
    alone("ebay_key", "PRD- SBX-", (HEX, 12), "-", (DASHED_HEX, 19)),
)
"""Payment and trade."""

WALLETS: Final = (
    anywhere("age_key", "AGE-SECRET-KEY-", ("[A-Z0-9-]", 50, 100)),
    alone("nostr_key", "nsec1", (LOWER, 58)),
    alone("bitcoin_key", "xprv", (ALNUM, 100, 110)),
)
"""Wallets."""
