"""The HTTP side of a call of a model."""

import json

import pytest

from gateway.llm.streamed_call import body_json, proxy_of


def test_a_request_is_json_also_with_unpaired_surrogates() -> None:
    assert json.loads(body_json({"a": [1, "ü"]})) == {"a": [1, "ü"]}
    assert json.loads(body_json({"a": ({"b": "x\ud800"},)})) == {"a": [{"b": "x?"}]}


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
