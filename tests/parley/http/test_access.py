"""Access to the local listener."""

from hypothesis import given
from hypothesis import strategies as st

from parley.http.access import AccessDecision, RequestFacts, authorize, same_secret, session_value
from tests.support.for_each import for_each

TOKEN = "a-token-of-decent-length"
HERE = {"host": "127.0.0.1:8080"}
BEARER = {"authorization": f"Bearer {TOKEN}"}


def facts_of(method: str = "GET", cookie: str = "", **headers: str) -> RequestFacts:
    """A request to this machine; underscores in header names become dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RequestFacts(method, {**HERE, **named}, cookie)


@for_each(
    ("facts", "token", "reason"),
    [
        (facts_of(), "", "local"),
        (facts_of(host="localhost:1"), "", "local"),
        (facts_of(host="LOCALHOST"), "", "local"),
        (facts_of(host="[::1]:8080"), "", "local"),
        (facts_of("POST"), "", "local"),
        (facts_of("POST", origin="http://127.0.0.1:8080"), "", "local"),
        (facts_of(upgrade="websocket", origin="http://127.0.0.1:8080"), "", "local"),
        (facts_of(**BEARER), TOKEN, "token"),
        (facts_of(authorization=f"bearer   {TOKEN}"), TOKEN, "token"),
        (facts_of(cookie=session_value(TOKEN)), TOKEN, "cookie"),
        (facts_of(host="parley.example", **BEARER), TOKEN, "token"),
        (facts_of(x_forwarded_for="9.9.9.9", host="parley.example", **BEARER), TOKEN, "token"),
        (facts_of("POST", cookie=session_value(TOKEN), host="p.example", origin="https://p.example"),
         TOKEN, "cookie"),
    ],
)  # fmt: skip
def test_valid_requests_are_admitted(facts: RequestFacts, token: str, reason: str) -> None:
    assert authorize(facts, token) == AccessDecision(True, reason)  # type: ignore[arg-type] # parametrised


@for_each(
    ("facts", "token", "reason", "status"),
    [
        (facts_of(host="evil.example"), "", "strange_host", 403),
        (facts_of(host="127.0.0.1.evil.example"), "", "strange_host", 403),
        (facts_of(host=""), "", "strange_host", 403),
        (facts_of(host="[::1"), "", "strange_host", 403),
        (facts_of(host="evil@127.0.0.1"), "", "strange_host", 403),
        (facts_of(host="localhost."), "", "strange_host", 403),
        (facts_of(x_forwarded_for="127.0.0.1"), "", "forwarded_without_token", 401),
        (facts_of(x_forwarded_proto="https"), "", "forwarded_without_token", 401),
        (facts_of(forwarded="for=127.0.0.1"), "", "forwarded_without_token", 401),
        (facts_of(via="1.1 proxy"), "", "forwarded_without_token", 401),
        (facts_of(x_real_ip="127.0.0.1"), "", "forwarded_without_token", 401),
        (facts_of(x_forwarded_for="1.1.1.1", **BEARER), "", "forwarded_without_token", 401),
        (facts_of(), TOKEN, "token_missing", 401),
        (facts_of(x_forwarded_for="1.1.1.1"), TOKEN, "forwarded_without_token", 401),
        (facts_of(authorization="Bearer nope"), TOKEN, "token_wrong", 401),
        (facts_of(authorization="Bearer "), TOKEN, "token_wrong", 401),
        (facts_of(authorization=f"Basic {TOKEN}"), TOKEN, "token_missing", 401),
        (facts_of(cookie=TOKEN), TOKEN, "token_wrong", 401),
        (facts_of(authorization="Bearer nope", cookie=session_value(TOKEN)),
         TOKEN, "token_wrong", 401),
        (facts_of("POST", origin="https://evil.example"), "", "strange_origin", 403),
        (facts_of("POST", origin="null"), "", "strange_origin", 403),
        (facts_of("POST", origin="http://127.0.0.1:9999"), "", "strange_origin", 403),
        (facts_of("POST", sec_fetch_site="cross-site"), "", "strange_origin", 403),
        (facts_of("DELETE", origin="http://[bad"), "", "strange_origin", 403),
        (facts_of(upgrade="WebSocket", origin="https://evil.example"), "", "strange_origin", 403),
        (facts_of("POST", cookie=session_value(TOKEN), origin="https://evil.example"),
         TOKEN, "strange_origin", 403),
    ],
)  # fmt: skip
def test_invalid_requests_are_refused(
    facts: RequestFacts, token: str, reason: str, status: int
) -> None:
    assert authorize(facts, token) == AccessDecision(False, reason, status)  # type: ignore[arg-type] # parametrised


@given(
    st.sampled_from(["GET", "POST", "OPTIONS", "TRACE"]),
    st.dictionaries(
        st.sampled_from(["host", "origin", "authorization", "upgrade", "sec-fetch-site"]),
        st.text(max_size=40),
    ),
    st.text(max_size=40),
)
def test_no_request_is_admitted_without_the_token(
    method: str, headers: dict[str, str], cookie: str
) -> None:
    entry = authorize(RequestFacts(method, headers, cookie), TOKEN)
    assert not entry.allowed
    assert entry.status in (401, 403)


def test_an_empty_secret_never_matches() -> None:
    assert not same_secret("", "")
    assert same_secret("ä", "ä")
    assert TOKEN not in session_value(TOKEN)
