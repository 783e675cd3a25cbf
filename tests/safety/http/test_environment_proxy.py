"""The proxy of the environment."""

import pytest

from safety.http.environment_proxy import proxy_of


def test_the_environment_sets_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert proxy_of("https://api.example.com/v1") is None
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "local.example.com")
    assert proxy_of("https://api.example.com/v1") == "http://proxy:3128"
    assert proxy_of("http://api.example.com/v1") is None
    assert proxy_of("https://local.example.com/v1") is None
    monkeypatch.setenv("ALL_PROXY", "http://other:3128")
    assert proxy_of("http://api.example.com/v1") == "http://other:3128"
