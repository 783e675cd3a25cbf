"""A value that its words call a hash or a transaction is not a possible secret."""

import pytest

from safety.secret_detection.detect import find_secrets
from safety.secret_detection.kinds import Level

HEX = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"


@pytest.mark.parametrize(
    "text",
    [
        f"sha256: {HEX}",
        f"image@sha256:{HEX}",
        f"the transaction 0x{HEX} went through",
        f"tx hash: 0x{HEX}",
        f"block 0x{HEX} was mined",
        f"checksum {HEX}{HEX}",
        'integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"',
    ],
)
def test_a_digest_is_not_a_possible_secret(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize("text", [f"look: {HEX}", "what is " + "Zm9vYmFyYmF6cXV4" * 5])
def test_a_long_unnamed_sequence_is_a_possible_secret(text: str) -> None:
    assert [one.kind.level for one in find_secrets(text)] == [Level.POSSIBLE]


@pytest.mark.parametrize("key", [f"0x{HEX}", f"0X{HEX.upper()}"])
def test_the_key_of_a_wallet_is_found_in_any_case(key: str) -> None:
    (result,) = find_secrets(f"my wallet: {key}")
    assert result.kind.name == "wallet_key"
