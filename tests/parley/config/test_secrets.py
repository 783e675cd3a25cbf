"""Every secret of a configuration is known to the logs."""

from parley.config import from_mapping
from parley.config.secrets import secret_values


def test_secrets_are_found_at_any_depth() -> None:
    settings = from_mapping(
        {
            "model": {
                "provider": "anthropic",
                "api_key": "secret-one",
                "fallbacks": [{"provider": "anthropic", "api_key": "secret-two"}],
            },
            "mcp": {
                "servers": {
                    "files": {"command": "x", "env": {"TOKEN": "secret-three"}},
                    "wiki": {"url": "https://x.test", "headers": {"Authorization": "secret-four"}},
                }
            },
            "server": {"token": "secret-five-secret-five"},
            "database": {"url": "postgresql://parley:secret-six@db/parley"},
            "platforms": {
                "telegram": {
                    "bot_token": "7000000001:secret-seven",
                    "accounts": {"second": {"bot_token": "7000000002:secret-eight"}},
                }
            },
        }
    )
    text = " ".join(secret_values(settings))
    for number in ("one", "two", "three", "four", "five", "six", "seven", "eight"):
        assert f"secret-{number}" in text
    assert "https://x.test" not in text
